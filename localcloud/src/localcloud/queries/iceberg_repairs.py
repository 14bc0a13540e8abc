"""A repair of pyiceberg, which reads a null list or map of structs as an empty one.

pyiceberg builds these arrays from their offsets, which are the same for null and for empty, because
of https://github.com/apache/arrow/issues/38809.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.io import pyarrow as reader
from pyiceberg.io.pyarrow import ArrowProjectionVisitor
from pyiceberg.types import ListType, MapType


def repair_pyiceberg() -> None:
    """Let pyiceberg keep the nulls of lists and maps."""
    reader.ArrowProjectionVisitor = _NullKeeper  # type: ignore[misc]


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
