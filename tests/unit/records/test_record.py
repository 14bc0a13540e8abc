"""A record that several stages give up has a dead letter of each."""

from __future__ import annotations

import pytest

from penstock.errors import Failure, Reason
from penstock.records import FailedRecord, Record, Source, read_letter_id

_FAILURE = Failure(Reason.TRUNCATED, "cut")


@pytest.mark.parametrize(
    ("stage", "letter_id"),
    [("lambda", "a-b/3/41/7"), ("spark", "a-b/3/41/7/spark"), ("join", "a-b/3/41/7/join")],
)
def test_the_id_of_a_dead_letter_names_its_record_and_its_stage(stage: str, letter_id: str) -> None:
    failed = FailedRecord.of(Record(Source("a-b", 3, 41), None, b"", (), 7), _FAILURE, None, stage)

    assert (failed.id, failed.record_id) == (letter_id, "a-b/3/41/7")
    assert read_letter_id(letter_id) == (failed.record.source, failed.record_id)


@pytest.mark.parametrize("letter_id", ["lease/replay", "t/0/1", "t/0/x/7", "t/0/1/7/2spark"])
def test_another_id_is_refused(letter_id: str) -> None:
    with pytest.raises(ValueError, match="expected topic/partition/offset/timestamp") as refused:
        read_letter_id(letter_id)
    assert str(refused.value).startswith(f"found the id '{letter_id}'")
