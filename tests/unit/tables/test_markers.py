"""Whether a batch is in a table, from what its history has left."""

from __future__ import annotations

import json
import re

import pytest

from penstock.errors import LakeHistoryError
from penstock.tables import (
    BatchId,
    Commit,
    Marker,
    WriterRecord,
    is_written,
    list_writers,
    refresh_record,
)

_DIGEST = BatchId("q", 3, "to 7").digest


def _commits(*markers: tuple[int, int] | str | None, until: int = 0) -> list[Commit]:
    """Commits from the newest to the first one, or to that of sequence number `until` + 1.

    A tuple is a batch and part of query q, a text another query's, and None nobody's.
    """
    made = []
    for sequence, marker in zip(range(len(markers) + until, until, -1), markers, strict=True):
        found = None
        if isinstance(marker, str):
            found = Marker(marker, 99, 0)
        elif marker is not None:
            found = Marker("q", *marker)
        made.append(Commit(sequence, sequence == 1, found))
    return made


def _ask(commits, number, part=0, record=None, offsets=""):
    return is_written("lake.db.t", commits, record, BatchId("q", number, offsets), part)


@pytest.mark.parametrize(
    ("commits", "number", "part", "found"),
    [
        pytest.param([], 0, 0, False, id="no commit at all"),
        pytest.param(_commits((3, 0), (2, 0)), 3, 0, True, id="the last one"),
        pytest.param(_commits((3, 0), (2, 0)), 4, 0, False, id="the next one"),
        pytest.param(_commits(None, "other", (3, 0)), 3, 0, True, id="others on top"),
        pytest.param(_commits(None, "other", (3, 0)), 4, 0, False, id="next, others on top"),
        pytest.param(_commits((3, 0), (2, 0)), 3, 1, False, id="the other part"),
        pytest.param(_commits((3, 1), (3, 0), (2, 0)), 3, 0, True, id="the first of two parts"),
        pytest.param(_commits((3, 1), (3, 0), (2, 0)), 3, 1, True, id="the second of two parts"),
        pytest.param(_commits((3, 2), (2, 0)), 3, 0, True, id="one without rows, before another"),
        pytest.param(_commits((3, 0), until=7), 3, 1, False, id="parts come in their order"),
        pytest.param(_commits((3, 0), until=7), 4, 0, False, id="a lower one says it"),
        pytest.param(_commits("other", None), 0, 0, False, id="whole history without it"),
    ],
)
def test_snapshots_decide_whether_a_part_is_written(commits, number, part, found) -> None:
    record = WriterRecord(0, 0, 0) if commits else None

    assert _ask(commits, number, part, record) is found


def test_a_query_without_a_record_never_wrote() -> None:
    assert not _ask(_commits("other", until=7), 5)


@pytest.mark.parametrize(
    ("record", "number", "part", "found"),
    [
        pytest.param(WriterRecord(5, 1, 7), 5, 0, True, id="there when it was settled"),
        pytest.param(WriterRecord(5, 1, 7), 5, 1, False, id="this part was not"),
        pytest.param(WriterRecord(5, 2, 7), 5, 1, True, id="both parts were"),
        pytest.param(WriterRecord(5, 1, 7), 6, 0, False, id="the next batch was not"),
        pytest.param(WriterRecord(5, 1, 3), 5, 0, True, id="there, whatever came later"),
    ],
)
def test_the_record_decides_if_snapshots_have_expired(record, number, part, found) -> None:
    assert _ask(_commits("other", until=7), number, part, record) is found


def test_an_undecidable_history_is_an_error_with_instructions() -> None:
    with pytest.raises(LakeHistoryError) as caught:
        _ask(_commits("other", until=7), 5, 1, WriterRecord(5, 1, 6), '{"t":{"0":9}}')

    assert str(caught.value) == (
        "cannot determine whether lake.db.t has part 1 of batch 5 of query q: its snapshots "
        "between 6 and 8 were not expired by jobs/maintain_lake.py. Look for rows of the batch's "
        'offsets {"t":{"0":9}}. If the table has later ones, start again with an empty checkpoint '
        "and the offsets that follow what the table has. If it has some of them and not all, "
        "DELETE them, as a batch may have several parts. Record what it has then, and start again: "
        "if none, ALTER TABLE lake.db.t SET TBLPROPERTIES ('penstock.writer.q' = "
        '\'{"batch": 5, "parts": 0, "sequence": 8, "digest": "ce849bdac2854595"}\'); if all, '
        "ALTER TABLE lake.db.t SET TBLPROPERTIES ('penstock.writer.q' = "
        '\'{"batch": 5, "parts": 1000000, "sequence": 8, "digest": "ce849bdac2854595"}\')'
    )


def test_the_answer_to_an_undecidable_history_holds_for_all_parts_of_the_batch() -> None:
    commits = _commits("other", until=7)
    with pytest.raises(LakeHistoryError) as caught:
        _ask(commits, 5, 0, WriterRecord(4, 1, 6))

    answers = re.findall(r"'penstock.writer.q' = '(.+?)'", str(caught.value))

    for answer, is_there in zip(
        map(WriterRecord.from_property, answers), (False, True), strict=True
    ):
        assert [_ask(commits, 5, part, answer) for part in range(4)] == [is_there] * 4
        assert not _ask(commits, 6, 0, answer)
        with pytest.raises(LakeHistoryError, match="expected a checkpoint that is as new"):
            _ask(commits, 4, 0, answer)


@pytest.mark.parametrize(
    ("commits", "record"),
    [
        (_commits((7, 0), (6, 0), (4, 0)), None),
        (_commits((7, 0), until=7), None),
        (_commits("other", until=7), WriterRecord(7, 1, 7)),
    ],
)
def test_a_checkpoint_that_is_older_than_the_table_is_refused(commits, record) -> None:
    with pytest.raises(
        LakeHistoryError,
        match=r"lake.db.t has batch 7 of query q and not part 0 of batch 5, expected a checkpoint "
        r"that is as new as the table: start again with an empty checkpoint",
    ):
        _ask(commits, 5, record=record)


def test_a_batch_of_other_offsets_is_refused() -> None:
    commits = [Commit(1, True, Marker.of(BatchId("q", 3, "to 7"), 0))]

    assert _ask(commits, 3, offsets="to 7")
    assert _ask(commits, 3)
    with pytest.raises(
        LakeHistoryError,
        match="has batch 3 of query q with offsets of the digest 6a56e6c45952e3de, and the "
        "checkpoint says to 9, of the digest 07339d7631916667, expected the same",
    ):
        _ask(commits, 3, offsets="to 9")


@pytest.mark.parametrize(
    ("commits", "record"),
    [
        pytest.param(
            [Commit(1, True, Marker.of(BatchId("q", 3, "to 7"), 0))], None, id="of an earlier part"
        ),
        pytest.param(_commits("other", until=7), WriterRecord(3, 2, 8, _DIGEST), id="of a record"),
        pytest.param(
            _commits("other", until=7),
            WriterRecord(3, 1, 8, _DIGEST),
            id="of an earlier part in a record",
        ),
    ],
)
def test_other_offsets_of_a_batch_are_refused_wherever_they_are_known(commits, record) -> None:
    with pytest.raises(LakeHistoryError, match=r"has batch 3 .* to 9, of the digest 07339d76"):
        _ask(commits, 3, 1, record, "to 9")


def test_a_record_of_no_part_refuses_no_offsets() -> None:
    record = WriterRecord(3, 0, 8, _DIGEST)

    assert not _ask(_commits("other", until=7), 3, 0, record, "to 9")


def test_a_marker_is_read_from_the_summary_it_is_written_to() -> None:
    marker = Marker.of(BatchId("q", 3, "to 7"), 1)

    assert Marker.from_summary({**marker.to_summary(), "added-records": "5"}) == marker
    assert Marker.from_summary({"added-records": "5"}) is None


def test_a_summary_does_not_grow_with_partitions() -> None:
    few, many = (
        Marker.of(BatchId("q", 3, json.dumps([("t", at, 10**6) for at in range(count)])), 1)
        for count in (1, 500)
    )

    assert few.digest != many.digest
    assert len(str(few.to_summary())) == len(str(many.to_summary())) < 150


def test_records_are_found_among_properties() -> None:
    record = WriterRecord(3, 1, 9, _DIGEST)
    name = WriterRecord.property_of("q")

    assert list_writers({name: record.to_property(), "format": "2"}) == {"q": record}


@pytest.mark.parametrize(
    ("commits", "refreshed"),
    [
        pytest.param(_commits("other", (7, 1), (7, 0)), WriterRecord(7, 2, 20), id="markers"),
        pytest.param(
            [Commit(9, False, Marker.of(BatchId("q", 3, "to 7"), 0))],
            WriterRecord(3, 1, 20, _DIGEST),
            id="a marker with a digest",
        ),
        pytest.param(
            _commits("other", until=4), WriterRecord(5, 1, 20, "d"), id="none, and none gone"
        ),
        pytest.param(
            _commits("other", until=5), WriterRecord(5, 1, 4, "d"), id="none, and some gone"
        ),
    ],
)
def test_a_record_is_refreshed_as_far_as_the_history_reaches(commits, refreshed) -> None:
    assert refresh_record(commits, "q", WriterRecord(5, 1, 4, "d"), 20) == refreshed
