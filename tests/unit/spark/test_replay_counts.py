"""What a replay comes to, and how it is told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from unittest.mock import Mock

import pytest

from penstock.sinks import DeadLetter, Selection
from penstock.spark.query.replay import Replay, ReplayCounts


def _open_rows() -> Mock:
    """Open a dead-letter table whose rows are found at once."""
    return Mock(find=Mock(return_value=[[]]))


def test_counts_by_reason_are_json():
    counts = ReplayCounts(selected=2, failed=2, errors=Counter({"unknown-schema": 2}))
    assert json.loads(json.dumps(counts.to_values())) == {
        "selected": 2,
        "waiting": 0,
        "unread": 0,
        "lost": 0,
        "done": 0,
        "failed": 2,
        "parked": 0,
        "errors": {"unknown-schema": 2},
    }


def test_records_without_bytes_are_logged_once_and_others_are_retried(caplog):
    row = {"kafkaTimestamp": 7, "reason": "truncated", "attempts": 3}
    gone, spent = (DeadLetter.describe({**row, "id": f"t/0/{at}/7"}) for at in range(2))
    rows, parked = _open_rows(), Mock()
    rows.read.return_value = [replace(gone, lost="s3://b/k is not there"), spent]
    parked.park.return_value = ["s3://b/records/1"]
    rows.mark_all_parked.return_value = [True]

    counts = Replay(None, "r", rows, None, parked).run(Selection())

    assert (counts.lost, counts.selected, counts.parked) == (1, 1, 1)
    parked.park.assert_called_once_with([spent], "r-0")
    rows.mark_all_parked.assert_called_once_with([spent], ["s3://b/records/1"], "r")
    (said,) = caplog.messages
    assert said == (
        "the row t/0/0/7 cannot be tried again: s3://b/k is not there, expected what the row has "
        "no room for; bring the object back, or delete the row"
    )


def test_records_of_topics_that_the_job_does_not_read_are_told_from_those_that_wait(caplog):
    row = {"kafkaTimestamp": 7, "reason": "truncated"}
    ids = ("here/0/4/7", "here/0/5/7", "here/1/0/7", "gone/0/0/7", "gone/1/9/7", "other/0/1/7")
    records = [DeadLetter.describe({**row, "id": each, "attempts": 3}) for each in ids]
    rows, parked = _open_rows(), Mock()
    rows.read.side_effect = lambda _, matches: filter(matches, records)
    rows.mark_all_parked.return_value = [True]
    parked.park.side_effect = lambda found, _: ["s3://b/k" for _ in found]

    def run(ends):
        return Replay(None, "r", rows, None, parked).run(Selection(), ends)

    counts = run({("here", 0): 5})
    assert (counts.selected, counts.waiting, counts.unread) == (1, 2, 3)
    assert caplog.messages == [
        f"{told} cannot be tried again: the checkpoint of the job has no partition of it; if the "
        "job reads it, wait for its next batch, else add it to the topics of the job, or delete "
        "the rows"
        for told in ("2 dead letters of the topic gone", "1 dead letters of the topic other")
    ]
    caplog.clear()
    assert (run({}).waiting, run(None).selected, caplog.messages) == (6, 6, [])


def test_a_row_that_was_deleted_meanwhile_is_not_counted():
    row = {"kafkaTimestamp": 7, "reason": "truncated"}
    records = [DeadLetter.describe({**row, "id": f"t/0/{at}/7"}) for at in range(5)]
    records[4] = replace(records[4], attempts=3)
    failed = replace(records[1], attempts=1, replay="r")
    told_twice = replace(records[2], replay="r", settled=True)
    rows, parked = _open_rows(), Mock()
    rows.read.side_effect = [records, [failed, told_twice]]
    rows.mark_all_done.return_value = [True, False, False, False]
    rows.mark_all_parked.return_value = [False]
    parked.park.return_value = ["s3://b/records/4"]

    counts = Replay(Mock(), "r", rows, Mock(), parked).run(Selection())

    assert (counts.selected, counts.done, counts.failed, counts.parked) == (5, 2, 1, 0)
    assert rows.read.call_args.args == (["t/0/1/7", "t/0/2/7", "t/0/3/7"],)


def test_a_record_that_two_stages_gave_up_is_written_once_and_both_rows_are_marked():
    row = {"kafkaTimestamp": 7, "reason": "truncated"}
    records = [
        DeadLetter.describe({**row, "id": f"t/0/1/7{stage}", "attempts": attempts})
        for attempts, stage in enumerate(("", "/spark"))
    ]
    spark, rows, parked = Mock(), _open_rows(), Mock()
    rows.read.side_effect = [records, []]
    rows.mark_all_done.return_value = [True, True]
    rows.mark_all_parked.return_value = []
    parked.park.return_value = []

    counts = Replay(spark, "r", rows, Mock(), parked).run(Selection())

    assert (counts.selected, counts.done) == (2, 2)
    assert spark.createDataFrame.call_args.args[0] == [(None, None, "t", 0, 1, 7, [])]
    rows.mark_all_done.assert_called_once_with(records, "r")


@pytest.mark.parametrize("deletes", [True, False])
def test_a_tombstone_fails_only_if_no_table_deletes_its_row(deletes):
    row = {"id": "t/0/1/7", "kafkaTimestamp": 7, "reason": "unknown-schema"}
    rows, parked = _open_rows(), Mock()
    rows.read.side_effect = [[DeadLetter.describe(row)], []]
    rows.mark_all_done.return_value = [deletes]  # a row that has a failure is not marked as done
    rows.mark_all_parked.return_value = []
    parked.park.return_value = []

    counts = Replay(Mock(), "r", rows, Mock(deletes=deletes), parked).run(Selection())

    assert (counts.done, rows.count_failures.called) == (int(deletes), not deletes)
