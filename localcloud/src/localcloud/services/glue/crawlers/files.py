"""The files below a crawler's target: their folders, and the columns that each file has."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from localcloud.errors import LocalcloudError

_HIDDEN: Final = ("_", ".")
_LEAVES: Final = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_integer, "bigint"),
    (pa.types.is_float32, "float"),
    (pa.types.is_floating, "double"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "timestamp"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_fixed_size_binary, "binary"),
    (pa.types.is_null, "string"),
    (pa.types.is_string, "string"),
)
_GLOB: Final = re.compile(r"\*\*|\*|\?|\{[^}]*\}|[^*?{]+|\{")
# In this order, a type holds the values of those before it.
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")

Columns = dict[str, str]


class CrawlError(LocalcloudError):
    """A crawl that ends as FAILED."""


@dataclass(slots=True)
class Folder:
    """A folder with files: their columns, and what a crawler counts."""

    levels: tuple[str, ...]
    classification: str
    columns: Columns = field(default_factory=dict)
    objects: int = 0
    records: int = 0
    size: int = 0

    def add(self, columns: Columns, records: int, size: int) -> None:
        """Count one file."""
        self.columns = merge(self.columns, columns)
        self.objects += 1
        self.records += records
        self.size += size


def merge(one: Columns, other: Columns) -> Columns:
    """Return the columns of both, each with a type that holds either."""
    return {**one, **{name: _wider(one.get(name, kind), kind) for name, kind in other.items()}}


def _wider(one: str, other: str) -> str:
    if one == other:
        return one
    if one in _NUMBERS and other in _NUMBERS:
        # Neither int nor bigint fits into a float.
        wider = max(one, other, key=_NUMBERS.index)
        whole = min(one, other, key=_NUMBERS.index) in _NUMBERS[:4]
        return "double" if wider == "float" and whole else wider
    return "string"


def read_folders(s3: Any, target: dict[str, Any]) -> list[Folder]:
    """Return the folders below a target that have files, by the levels of their path.

    Raises:
        CrawlError: a file has a format that localcloud does not read.
    """
    place = urlsplit(target["Path"])
    prefix = place.path.strip("/")
    base = f"{prefix}/" if prefix else ""
    excluded = [_compile(each) for each in target.get("Exclusions") or ()]
    folders: dict[tuple[str, ...], Folder] = {}
    for entry in _list_objects(s3, place.netloc, base):
        path = entry["Key"].removeprefix(base)
        levels = tuple(path.split("/"))
        if any(each.startswith(_HIDDEN) for each in levels) or not entry["Size"]:
            continue
        if any(pattern.fullmatch(path) for pattern in excluded):
            continue
        body = s3.get_object(Bucket=place.netloc, Key=entry["Key"])["Body"].read()
        classification, columns, records = _read_file(body, entry["Key"])
        folder = folders.setdefault(levels[:-1], Folder(levels[:-1], classification))
        if folder.classification != classification:
            raise CrawlError(f"localcloud's crawlers read one format per folder: {entry['Key']}")
        folder.add(columns, records, len(body))
    return [folders[levels] for levels in sorted(folders)]


def _list_objects(s3: Any, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        yield from page.get("Contents", [])


def _compile(glob: str) -> re.Pattern[str]:
    """Return the expression of an exclude pattern, whose `*` ends at a slash."""
    words = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = []
    for token in _GLOB.findall(glob):
        if token.startswith("{") and token.endswith("}"):
            parts.append(f"({'|'.join(map(re.escape, token[1:-1].split(',')))})")
        else:
            parts.append(words.get(token) or re.escape(token))
    return re.compile("".join(parts))


def _read_file(body: bytes, key: str) -> tuple[str, Columns, int]:
    """Return the classification, the columns and the number of records of a file."""
    if body[:4] == b"PAR1":
        found = pq.ParquetFile(io.BytesIO(body))
        columns = {each.name.lower(): name_type(each.type) for each in found.schema_arrow}
        return "parquet", columns, found.metadata.num_rows
    try:
        rows = [json.loads(line) for line in body.decode().splitlines() if line.strip()]
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError(key)
    except ValueError as error:
        raise CrawlError(f"localcloud's crawlers read Parquet and lines of JSON, not {key}") from (
            error
        )
    table = pa.Table.from_pylist(rows)
    names = dict.fromkeys(name for row in rows for name in row)
    found_columns = pa.Table.from_pylist([{n: row.get(n) for n in names} for row in rows]).schema
    columns = {each.name.lower(): name_type(each.type) for each in found_columns}
    return "json", columns, len(table)


def name_type(kind: pa.DataType) -> str:
    """Return the catalog's name of an Arrow type.

    Raises:
        CrawlError: the catalog has no such type.
    """
    if pa.types.is_struct(kind):
        fields = (f"{each.name.lower()}:{name_type(each.type)}" for each in kind)
        return f"struct<{','.join(fields)}>"
    if pa.types.is_map(kind):
        return f"map<{name_type(kind.key_type)},{name_type(kind.item_type)}>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array<{name_type(kind.value_type)}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    found = next((name for fits, name in _LEAVES if fits(kind)), None)
    if found is None:
        raise CrawlError(f"localcloud's crawlers know no type of the catalog for {kind}")
    return found
