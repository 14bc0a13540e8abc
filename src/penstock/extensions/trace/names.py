"""The names by which an event is known: its record, a row, a dead letter, a rejected event.

| name                                         | where it is shown                          |
| -------------------------------------------- | ------------------------------------------ |
| `topic/partition/offset`                     | `penstock read`, the `_source` of a row    |
| `topic/partition/offset/timestamp[/stage]`   | `penstock errors list`                     |
| `time-topic-partition-offset`                | the sort key of a row that is appended     |
| `function/yyyy/mm/dd/request-number.json`    | `penstock rejected list`                   |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from penstock.errors import OperationError
from penstock.records import Source, read_letter_id

_PLACE: Final = re.compile(r"([^/]+)/(\d+)/(\d+)")
_SORT_KEY: Final = re.compile(r"-?\d{12,}(?:\.\d+)?-([^/]+)-(\d+)-(\d+)")
_EVENT: Final = ".json"


@dataclass(frozen=True, slots=True)
class EventName:
    """The record of an event, or the key of a rejected event, which has none.

    `record_id` is the id of the record in dead letters, if the name has its timestamp.
    """

    text: str
    source: Source | None = None
    record_id: str = ""

    @classmethod
    def read(cls, text: str) -> EventName:
        """Return what a name stands for.

        Raises:
            OperationError: it is no name of an event.
        """
        if text.endswith(_EVENT):
            return cls(text)
        if found := _PLACE.fullmatch(text) or _SORT_KEY.fullmatch(text):
            topic, partition, offset = found.groups()
            return cls(text, Source(topic, int(partition), int(offset)))
        try:
            source, record_id = read_letter_id(text)
        except ValueError as error:
            raise OperationError(
                f"found {text!r}, expected topic/partition/offset, the id of a dead letter, the "
                "sort key of a row, or the key of a rejected event"
            ) from error
        return cls(text, source, record_id)
