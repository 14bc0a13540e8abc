"""What a check asks Kafka."""

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
        """Return what Kafka has at runs of offsets."""
