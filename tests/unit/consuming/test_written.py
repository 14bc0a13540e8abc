"""Counts of a batch stay small, whatever its records claim."""

from __future__ import annotations

from penstock.consuming import Written
from penstock.consuming.writing import MAX_WAITING
from penstock.framing import FrameKind, SchemaKey


def _key(number: int) -> SchemaKey:
    return SchemaKey(FrameKind.GLUE, number.to_bytes(16))


def test_of_random_schema_keys_the_most_frequent_are_kept() -> None:
    done, other = Written(), Written()
    for number in range(5 * MAX_WAITING):
        done.note_waiting(_key(0))
        done.note_waiting(_key(number + 1))
        other.note_waiting(_key(number + 10**6))

    done.add(other)

    assert done.unknown == 15 * MAX_WAITING
    assert len(done.waiting) <= 2 * MAX_WAITING
    assert done.waiting.most_common(1) == [(_key(0), 5 * MAX_WAITING)]
