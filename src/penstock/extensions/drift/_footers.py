"""The columns of Parquet files, read from their footers by ranges."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.errors import OperationError
from penstock.extensions.drift._clients import Clients
from penstock.extensions.drift._comparison import Footer
from penstock.tables import Array, Column, ColumnType, Map, Struct

_FIRST_READ: Final = 64 * 1024  # holds the footer of some hundred columns
_MAGIC: Final = b"PAR1"
_LEAVES: Final = {
    pa.bool_(): "boolean",
    pa.int8(): "int",
    pa.int16(): "int",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.date32(): "date",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
}


def read_footer(clients: Clients, location: str) -> Footer:
    """Read the footer of a file: one range, or two if it is large.

    Raises:
        OperationError: the object is no Parquet file.
        SinkAccessDeniedError, SinkUnavailableError: S3 denies it, or does not answer.
    """
    end = clients.read_end(location, _FIRST_READ)
    size = int.from_bytes(end[-8:-4], "little") + 8
    if end[-4:] != _MAGIC:
        raise OperationError(f"{location} is no Parquet file, expected it to end with PAR1")
    if size > len(end):
        end = clients.read_end(location, size)
    try:
        # A reader of footers only looks at the end, but checks the first bytes of a whole file.
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + end[-size:]))
    except (pa.ArrowException, OSError) as error:
        raise OperationError(f"the footer of {location} cannot be read: {error}") from error
    schema = metadata.schema.to_arrow_schema()
    leaves: dict[int, ColumnType] = {}
    columns = Struct(tuple(_read_field(each, leaves) for each in schema))
    return Footer(columns, leaves)


def _read_field(field: Any, leaves: dict[int, ColumnType]) -> Column:
    type_ = _read_type(field.type, leaves)
    number = (field.metadata or {}).get(b"PARQUET:field_id")
    if number is not None and isinstance(type_, str):
        leaves[int(number)] = type_
    return Column(field.name, type_, required=not field.nullable)


def _read_type(type_: Any, leaves: dict[int, ColumnType]) -> ColumnType:
    if pa.types.is_struct(type_):
        return Struct(tuple(_read_field(each, leaves) for each in type_))
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return Array(_read_field(type_.value_field, leaves).type)
    if pa.types.is_map(type_):
        key, item = (_read_field(each, leaves) for each in (type_.key_field, type_.item_field))
        return Map(key.type, item.type)
    return _read_leaf(type_)


def _read_leaf(type_: Any) -> str:
    if pa.types.is_decimal(type_):
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_):
        return "timestamp"
    if pa.types.is_fixed_size_binary(type_):
        return "binary"
    return _LEAVES.get(type_, str(type_))
