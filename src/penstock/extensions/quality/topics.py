"""The offsets and records of topics that a check reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from penstock.kafka import FoundOffsets


class TopicReader(Protocol):
    """Topics that can be read; a place is a topic and a partition."""

    def read_ends(self, topics: Iterable[str]) -> Mapping[tuple[str, int], int]:
        """Return the end offset of each partition."""

    def look_up(
        self, runs: Mapping[tuple[str, int], Sequence[range]]
    ) -> Mapping[tuple[str, int], FoundOffsets]:
        """Return the records of Kafka at runs of offsets."""
