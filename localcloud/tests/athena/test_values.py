"""Types and values as Athena writes them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from localcloud.queries.types import read_type
from localcloud.queries.values import name_type, write_value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, "true"),
        (7, "7"),
        (30.5, "30.5"),
        (0.0, "0.0"),
        (1e7, "1.0E7"),
        (-123456789.5, "-1.234567895E8"),
        (0.0001, "1.0E-4"),
        (0.001, "0.001"),
        (float("inf"), "Infinity"),
        (float("nan"), "NaN"),
        (Decimal("1.50"), "1.50"),
        (b"hi", "68 69"),
        (date(2026, 11, 21), "2026-11-21"),
        (datetime(2026, 11, 21, 1, 2, 3, 4000), "2026-11-21 01:02:03.004"),
        (datetime(2026, 11, 21, tzinfo=UTC), "2026-11-21 00:00:00.000 UTC"),
        ([1, None], "[1, null]"),
        ([], "[]"),
        ({"a": 1, "b": "x"}, "{a=1, b=x}"),
        ([("k", 1.5)], "{k=1.5}"),
    ],
)
def test_values_are_written(value, written):
    assert write_value(value) == written


@pytest.mark.parametrize(
    ("duckdb", "athena"),
    [
        ("BIGINT", "bigint"),
        ("HUGEINT", "bigint"),
        ("DECIMAL(5,2)", "decimal"),
        ("INTEGER[]", "array"),
        ("STRUCT(a INTEGER)", "row"),
        ("MAP(VARCHAR, INTEGER)", "map"),
        ("TIMESTAMP_NS", "timestamp"),
        ("TIMESTAMP WITH TIME ZONE", "timestamp with time zone"),
        ("UUID", "varchar"),
    ],
)
def test_types_are_named(duckdb, athena):
    assert name_type(duckdb) == athena


def test_types_of_the_catalog_are_read():
    nested = pa.struct([("a", pa.list_(pa.int32())), ("b", pa.map_(pa.string(), pa.float32()))])
    assert read_type("struct<a:array<int>,b:map<string,float>>") == nested
    assert read_type("decimal(10, 2)") == pa.decimal128(10, 2)
    assert read_type("varchar(20)") == pa.string()
    with pytest.raises(ValueError, match=r"the catalog type 'uniontype<int>' is not supported"):
        read_type("uniontype<int>")
