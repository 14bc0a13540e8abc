"""Missing offsets: what explains them, and what is left."""

from __future__ import annotations

import pytest

from penstock.extensions.quality import Gap, Partition
from penstock.extensions.quality._offsets import (
    Missing,
    explain,
    find_dead_letters,
    read_gaps,
    subtract,
)
from penstock.kafka import FoundOffsets
from penstock.sinks import ErrorTable


def test_dead_letters_of_the_function_and_of_a_job_explain_their_offsets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = ["a-b/0/5/1795234015788", "a-b/0/5/1795234015788/spark", "a-b/2/7/-1/spark"]
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setattr(ErrorTable, "find", lambda self, selection: iter([ids]))

    assert find_dead_letters(["errors"]) == {("a-b", 0): {5}, ("a-b", 2): {7}}


@pytest.mark.parametrize(
    ("offsets", "left"),
    [
        ([], [range(3, 6), range(9, 10)]),
        ([3], [range(4, 6), range(9, 10)]),
        ([4, 4, 7], [range(3, 4), range(5, 6), range(9, 10)]),
        ([5, 9], [range(3, 5)]),
        ([3, 4, 5, 9], []),
    ],
)
def test_known_offsets_are_taken_out_of_runs(offsets: list[int], left: list[range]) -> None:
    assert list(subtract([range(3, 6), range(9, 10)], offsets)) == left


def test_offsets_that_the_answer_leaves_out_stay_unexplained() -> None:
    row = {"topic": "t", "part": "0", "missing": "20000"}
    rows = [{**row, "first_offset": str(2 * at), "last_offset": str(2 * at)} for at in range(100)]
    missing = read_gaps(rows)

    partitions = [
        Partition("t", 0, 1, 0, 50_000, missing_offsets=20_000),
        # Tables beside have all of these.
        Partition("t", 1, 1, 0, 9_000, missing_offsets=8_000),
    ]
    (found, beside), gaps = explain(partitions, missing, {("t", 0): {0, 2}}, None)

    assert (found.dead_letters, found.tombstones, found.unexplained) == (2, None, 19_998)
    assert (found.unread, beside.unread, beside.unexplained) == (19_900, 0, 0)
    assert len(gaps) == 98


class Kafka:
    """Has a tombstone at 4 and nothing at 5."""

    def read_ends(self, topics: object) -> dict[tuple[str, int], int]:
        return {}

    def look_up(self, runs: object) -> dict[tuple[str, int], FoundOffsets]:
        assert runs == {("t", 0): (range(4, 7),)}
        return {("t", 0): FoundOffsets(1, 1, (range(6, 7),), unread=1)}


def test_kafka_is_asked_for_what_has_no_dead_letter() -> None:
    partitions = [Partition("t", 0, 1, 0, 9, missing_offsets=4), Partition("t", 1, 1, 0, 9)]
    missing = Missing({("t", 0): (range(3, 7),)}, {("t", 0): 4})

    found, gaps = explain(partitions, missing, {("t", 0): {3}}, Kafka())

    assert [
        (each.dead_letters, each.tombstones, each.unexplained, each.unread) for each in found
    ] == [(1, 1, 1, 1), (0, None, 0, 0)]
    assert gaps == (Gap("t", 0, 6, 6),)
