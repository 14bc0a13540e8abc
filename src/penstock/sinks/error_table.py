"""The writer of the dead-letter table, idempotent per record."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from penstock.errors import RowExistsError, SinkRefusedError
from penstock.records import FailedRecord, Record
from penstock.sinks._json import write_item
from penstock.sinks.dynamodb_client import DynamoDbClient
from penstock.sinks.parking import Parking
from penstock.sinks.rows import make_error

# A row holds 400 KB; the rest is for its other attributes, of which `detail` may take 8 KB.
_MAX_RAW_BYTES = 390_000


class ErrorTable:
    """The dead-letter table and the bucket for bytes that its rows cannot hold; for one thread."""

    def __init__(self, client: DynamoDbClient, table: str, parking: Parking) -> None:
        self._client = client
        self._table = table
        self._parking = parking

    def keep(self, failed: Sequence[FailedRecord]) -> None:
        """Write a row for each record; an existing row keeps its `firstSeen` and `attempts`.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some rows may be written; writing all of
                them again is safe.
            SinkRefusedError: DynamoDB rejects the row of a record.
        """
        for each in failed:
            try:
                self._keep(each)
            except RowExistsError:
                continue
            except SinkRefusedError as error:
                raise type(error)(
                    f"{each.record.source} is no reading and cannot be kept as an error: {error}"
                ) from error

    def _keep(self, failed: FailedRecord) -> None:
        row = write_item(self._fit(failed))
        request = b'{"TableName":%b,"Item":%b,"ConditionExpression":"attribute_not_exists(id)"}'
        self._client.call("PutItem", request % (json.dumps(self._table).encode(), row))

    def _fit(self, failed: FailedRecord) -> dict[str, Any]:
        """Return the row of a record; bytes that do not fit go to the bucket, longest first."""
        row, record = make_error(failed), failed.record
        raw = {
            "value": record.value or b"",
            "headers": _write_headers(record),
            "key": record.key or b"",
        }
        left = sum(map(len, raw.values()))  # an upper bound: headers are longer as JSON
        for name in sorted(raw, key=lambda name: -len(raw[name])):
            if left <= _MAX_RAW_BYTES:
                break
            del row[name]
            row[f"{name}At"] = self._parking.put(f"errors/{failed.id}/{name}", raw[name])
            left -= len(raw[name])
        return row


def _write_headers(record: Record) -> bytes:
    return json.dumps(
        [
            {"name": name, "value": None if value is None else b64encode(value).decode()}
            for name, value in record.headers
        ]
    ).encode()
