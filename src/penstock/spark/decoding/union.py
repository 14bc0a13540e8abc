"""Read records of all versions by one expression of Spark's SQL.

Avro reads a union of writer schemas into a reader schema that is not a union. It encodes a union's
value as the number of the branch, then the value. So the known versions form one union, and the
number of its version is put in front of each payload (docs/adr/20261121-union-decode.md). Eight
random bytes are appended, which nobody can guess; they are read as the last field:

| the last field         | the record                                             |
| ---------------------- | ------------------------------------------------------ |
| is these eight bytes   | is a value of its schema                               |
| is other bytes         | has bytes after its value                              |
| is null                | is not a value of its schema: Spark returns only nulls |
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from penstock.errors import Reason
from penstock.registry import SchemaVersion
from penstock.schemas import Schema, encode
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.frames import STAYS_HERE, RowStatus
from penstock.spark.decoding.reader_schema import Place, Reader, write_reader
from penstock.spark.decoding.reader_sql import (
    find_invalid_text,
    find_lossy,
    measure_width,
    write_value,
)

_END_SIZE: Final = 8
_BODY: Final = "record.body"
INVALID_TEXT: Final = "_invalid_text"


class UnionReading:
    """The columns and conditions by which a union of the versions is read.

    Raises (when built):
        InvalidSchemaError: Spark cannot tell two types of a version apart.
    """

    inflates = False

    def __init__(
        self,
        versions: Sequence[SchemaVersion],
        merged: Schema,
        columns: EventColumns | None,
    ) -> None:
        self._root, writers, reader = _write(merged, [each.schema for each in versions])
        self._end = secrets.token_bytes(_END_SIZE).hex()
        payload = F.expr(f"concat(version.prefix, payload, X'{self._end}')")
        # Outside the status, where it would only be evaluated under a condition and inline.
        invalid_text = find_invalid_text(self._root, _BODY) or "FALSE"
        self.helpers: dict[str, Column] = {
            "version": F.expr(f"try_element_at({_write_versions(versions)}, schema)"),
            "record": from_avro(payload, writers, {"mode": "PERMISSIVE", "avroSchema": reader}),
            INVALID_TEXT: F.expr(f"{STAYS_HERE} OR {invalid_text}"),
        }
        self.width = measure_width(self._root)
        self.cases = self._write_cases(columns)
        self.event = (
            columns.write_event(self._root, _BODY) if columns else write_value(self._root, _BODY)
        )

    def _write_cases(self, columns: EventColumns | None) -> str:
        """Return the cases of the status of a framed record that is no row."""
        cases = [
            f"WHEN version IS NULL THEN '{RowStatus.UNKNOWN}'",
            f"WHEN record.end IS NULL THEN '{Reason.UNDECODABLE}'",
            f"WHEN record.end <> X'{self._end}' THEN '{Reason.TRAILING_BYTES}'",
            f"WHEN {INVALID_TEXT} THEN '{Reason.INVALID_TEXT}'",
        ]
        if lossy := find_lossy(self._root, _BODY):
            cases.append(f"WHEN {lossy} THEN '{Reason.LOSSY_WIDENING}'")
        if columns and (empty := columns.find_empty(self._root, _BODY)):
            cases.append(f"WHEN {empty} THEN '{RowStatus.EMPTY}'")
        return " ".join(cases)


def _write_versions(versions: Sequence[SchemaVersion]) -> str:
    entries = [
        f"X'{each.key.pack().hex()}', named_struct('prefix', X'{encode(at, 'int').hex()}', "
        f"'number', {each.number}, 'id', '{each.key}')"
        for at, each in enumerate(versions)
    ]
    return f"map({', '.join(entries)})"


def write_schemas(merged: Schema, versions: Sequence[Schema]) -> tuple[str, str]:
    """Return the schemas that Avro needs: the union of the versions, and the reader schema.

    Raises:
        InvalidSchemaError: a union of a version holds two types that become one in the merge.
    """
    _, writers, reader = _write(merged, versions)
    return writers, reader


def _write(merged: Schema, versions: Sequence[Schema]) -> tuple[Place, str, str]:
    reader = Reader(merged)
    writers = [reader.add(at, each) for at, each in enumerate(versions)]
    return reader.root, _with_end(writers), _with_end(write_reader(reader.root))


def _with_end(body: object) -> str:
    """Return a record schema that holds a body and the random bytes at its end."""
    end = {"type": "fixed", "name": "End", "size": _END_SIZE}
    fields = [{"name": "body", "type": body}, {"name": "end", "type": end}]
    return json.dumps({"type": "record", "name": "Ended", "fields": fields})
