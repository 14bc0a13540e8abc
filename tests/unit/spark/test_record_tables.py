"""Records of several schemas, mixed in one topic, are written in few requests."""

from __future__ import annotations

import json
from collections.abc import Iterable

from penstock.consuming import KnownSchemas
from penstock.errors import SinkRefusedError
from penstock.framing import FrameKind, Framing, SchemaKey, encode_glue_frame
from penstock.records import Mode, RowShape
from penstock.schemas import encode
from penstock.spark.sinks.records import RecordTables, WriteRecords
from tests.stubs.consuming import FakeErrors

_SCHEMA = {"type": "record", "name": "event", "fields": [{"name": "id", "type": "string"}]}
_KEYS = {name: SchemaKey(FrameKind.GLUE, name.encode() * 16) for name in "ab"}
_SCHEMAS = KnownSchemas({key: (json.dumps(_SCHEMA), name, 1) for name, key in _KEYS.items()})


class _Table:
    """A sink that notes the offsets of each write."""

    shape = RowShape(("id",), sort_name=None, event_time=None, mode=Mode.UPSERT)
    columns, errors, after_write, rows_per_second = None, FakeErrors(), None, None

    def __init__(self) -> None:
        self.writes: list[list[int]] = []

    def load_keys(self) -> None:
        """There are no keys."""

    def open_writer(self) -> _Table:
        return self

    def write(self, rows: Iterable[dict[str, str]]) -> dict[int, SinkRefusedError]:
        self.writes.append([int(row["id"]) for row in rows])
        return {}


def _make_row(offset: int, schema: str) -> dict[str, object]:
    value = encode_glue_frame(_KEYS[schema], encode({"id": str(offset)}, _SCHEMA))
    return {
        "topic": "t", "partition": 0, "offset": offset, "key": None, "timestamp_ms": 0,
        "value": value,
    }  # fmt: skip


def test_records_of_alternating_schemas_are_written_together_and_in_their_order() -> None:
    tables = {"a": _Table(), "b": _Table()}
    write = WriteRecords({"": RecordTables(tables, _SCHEMAS, Framing())}, {}, 1)

    (counts,) = write(_make_row(offset, "ab"[offset % 2]) for offset in range(200))

    assert {place: each.rows for place, each in counts.items()} == {("", "a"): 100, ("", "b"): 100}
    assert tables["a"].writes == [[*range(0, 100, 2)], [*range(100, 200, 2)]]
    assert tables["b"].writes == [[*range(1, 100, 2)], [*range(101, 200, 2)]]
