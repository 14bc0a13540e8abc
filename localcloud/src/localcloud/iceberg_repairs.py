"""Repairs of pyiceberg.

It reads a null list or map of structs as an empty one: it builds these arrays from their offsets,
which are the same for null and for empty, because of https://github.com/apache/arrow/issues/38809.

It writes partitions of an hour by another package of 30 MB.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import pyarrow as reader
from pyiceberg.io.pyarrow import ArrowProjectionVisitor
from pyiceberg.transforms import HourTransform
from pyiceberg.types import IcebergType, ListType, MapType


def repair_pyiceberg() -> None:
    """Let pyiceberg keep the nulls of lists and maps, and write partitions of an hour."""
    reader.ArrowProjectionVisitor = _NullKeeper  # type: ignore[misc]
    HourTransform.pyarrow_transform = _count_hours  # type: ignore[assignment,method-assign]


def _count_hours(_self: HourTransform[Any], _source: IcebergType) -> Callable[[Any], Any]:
    """Return what makes an array of timestamps one of hours since 1970."""
    return lambda times: pc.hours_between(pa.scalar(0).cast(times.type), times).cast(pa.int32())


class _NullKeeper(ArrowProjectionVisitor):
    def list(self, list_type: ListType, list_array: Any, value_array: Any) -> Any:
        return _keep_nulls(super().list(list_type, list_array, value_array), list_array)

    def map(self, map_type: MapType, map_array: Any, key_result: Any, value_result: Any) -> Any:
        return _keep_nulls(super().map(map_type, map_array, key_result, value_result), map_array)


def _keep_nulls(built: Any, read: Any) -> Any:
    if built is None or not read.null_count:
        return built
    kept = pc.if_else(read.is_valid(), built, pa.scalar(None, built.type))
    return kept.cast(built.type)  # with the metadata of its fields
