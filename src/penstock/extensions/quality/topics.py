"""The interface by which a check reads Kafka: end offsets, and records at given offsets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from penstock.kafka import FoundOffsets


class TopicReader(Protocol):
    """Reads topics; the keys of all mappings are a topic and the number of a partition."""

    def read_ends(self, topics: Iterable[str]) -> Mapping[tuple[str, int], int]:
        """Return the end offset of each partition of the topics."""

    def look_up(
        self, ranges: Mapping[tuple[str, int], Sequence[range]]
    ) -> Mapping[tuple[str, int], FoundOffsets]:
        """Return the tombstones and records of each partition at ranges of offsets."""
