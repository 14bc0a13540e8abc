"""Parked records: dead letters that are not retried any more, on S3.

| prefix     | objects                                                                |
| ---------- | ---------------------------------------------------------------------- |
| `records/` | one for each record, a line of JSON; Athena reads them as a table      |
| `notices/` | one for each time records were parked; S3 notifies an SNS topic of it  |
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence

from penstock.sinks.dead_letter import DeadLetter
from penstock.sinks.object_store import ObjectStore


class ParkedRecords:
    """The bucket of parked records; for one thread."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def park(self, records: Sequence[DeadLetter], notice: str) -> list[str]:
        """Write records, then a notice with the name `notice`; writing them again is idempotent.

        Returns:
            The URL of each record.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some records may be written; the notice
                may be missing.
        """
        places = self._store.put_each((_name(each), _write_line(each)) for each in records)
        if places:
            self.announce(places, Counter(record.reason for record in records), notice)
        return places

    def put(self, record: DeadLetter) -> str:
        """Write a record and return its URL; the caller sends the notice."""
        return self._store.put(_name(record), _write_line(record))

    def announce(self, places: Sequence[str], reasons: Mapping[str, int], notice: str) -> None:
        """Write the notice of records that were put."""
        content = {"parked": len(places), "reasons": reasons, "records": places}
        name = f"notices/{len(places)}-records-of-{notice}.json"
        self._store.put(name, json.dumps(content).encode())


def _name(record: DeadLetter) -> str:
    return f"records/{record.id}.json"


def _write_line(record: DeadLetter) -> bytes:
    row = {
        **record.to_values(),
        "key": _encode(record.key),
        "value": _encode(record.value),
        "headers": [{"name": name, "value": _encode(value)} for name, value in record.headers],
        "attempts": record.attempts,
    }
    return f"{json.dumps(row)}\n".encode()


def _encode(raw: bytes | None) -> str | None:
    return None if raw is None else b64encode(raw).decode()
