"""The oracle of faults: counts records of a topic that a table lacks, or has more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """A record as the topic has it."""

    id: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Count:
    """The numbers of records: in the topic, in dead letters alone, nowhere, and rows too many."""

    sent: int
    letters: int
    lost: int
    twice: int
    strange: int


def count(topic: Sequence[Record], rows: Sequence[str], letters: Sequence[bytes]) -> Count:
    """Compare a topic with the ids of a table's rows, and with the bytes of dead letters.

    A record that the producer wrote twice may be two rows.
    """
    sent, found, dead = Counter(each.id for each in topic), Counter(rows), set(letters)
    missing = [each for each in topic if each.id not in found]
    more = found - sent
    lost = {each.id for each in missing if each.value not in dead}
    return Count(
        sent=len(sent),
        letters=len({each.id for each in missing} - lost),
        lost=len(lost),
        twice=sum(more[each] for each in sent),
        strange=sum(more[each] for each in found.keys() - sent.keys()),
    )
