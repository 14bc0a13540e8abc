"""The messages of services, counted by the lines of their logs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_WRITTEN = re.compile(r"writing 1 messages to \S+ \(partition: \d+\)")
_RECEIVED = re.compile(r"\S+ received message: (This is message \d+ from host \S+)")


def text(number: int, host: str) -> str:
    """Return the text of a message."""
    return f"This is message {number} from host {host}"


@dataclass(frozen=True, slots=True)
class Messages:
    """How many messages each host has written, and how often each message was received."""

    written: Counter[str]
    received: Counter[str]

    @classmethod
    def count(cls, logs: Mapping[str, Iterable[str]]) -> Messages:
        """Count the messages in the lines of logs by host."""
        written: Counter[str] = Counter()
        received: Counter[str] = Counter()
        for host, lines in logs.items():
            for line in lines:
                if match := _RECEIVED.fullmatch(line):
                    received[match[1]] += 1
                elif _WRITTEN.fullmatch(line):
                    written[host] += 1
        return cls(written, received)

    def find_lost(self) -> set[str]:
        """Return the messages that were written and not received."""
        sent = {
            text(number, host)
            for host, count in self.written.items()
            for number in range(1, count + 1)
        }
        return sent - self.received.keys()

    def count_duplicates(self) -> int:
        """Return how often messages were received that had been received before."""
        return self.received.total() - len(self.received)

    def describe(self) -> Iterator[dict[str, object]]:
        """Yield a row for each host that wrote messages."""
        for host, written in sorted(self.written.items()):
            counts = [n for message, n in self.received.items() if message.endswith(f" {host}")]
            twice = sum(counts) - len(counts)
            yield {"host": host, "written": written, "received": len(counts), "twice": twice}
