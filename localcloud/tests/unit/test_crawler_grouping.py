"""What a crawler makes of folders: types, tables and partitions."""

from __future__ import annotations

import pyarrow as pa
import pytest

from localcloud.services.glue.crawlers.files import CrawlError, Folder, merge, name_type
from localcloud.services.glue.crawlers.grouping import group_folders


def _folder(path, columns="a b", classification="parquet"):
    return Folder(tuple(path.split("/")), classification, dict.fromkeys(columns.split(), "int"))


def _found(*folders, combine=False):
    return {
        each.name("plain", "x_"): (each.keys, [each.values(one) for one in each.folders])
        for each in group_folders(folders, combine=combine)
    }


def test_similar_folders_of_one_depth_are_partitions_of_one_table():
    assert _found(_folder("year=2026/7"), _folder("year=2027/8")) == {
        "x_plain": (["year", "partition_1"], [["2026", "7"], ["2027", "8"]])
    }


def test_folders_of_other_columns_are_tables_of_their_own():
    """The example of Glue's guide, "How to create a single schema"."""
    folders = (_folder("year=2017", "a b"), _folder("year=2018", "c d"))

    assert list(_found(*folders)) == ["x_year_2017", "x_year_2018"]
    assert list(_found(*folders, combine=True)) == ["x_plain"]
    (one,) = group_folders(folders, combine=True)
    assert list(one.columns) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "other", [_folder("day=1/deeper"), _folder("day=2", classification="json")]
)
def test_folders_of_another_depth_or_format_are_never_one_table(other):
    assert len(_found(_folder("day=1"), other, combine=True)) == 2


def test_files_of_the_target_itself_are_a_table_without_partitions():
    (found,) = group_folders([Folder((), "parquet")], combine=False)

    assert (found.name("Plain-Files", ""), found.keys) == ("plain_files", [])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("int", "bigint", "bigint"),
        ("bigint", "float", "double"),
        ("float", "double", "double"),
        ("bigint", "string", "string"),
    ],
)
def test_a_column_of_two_types_gets_one_that_holds_either(one, other, expected):
    assert merge({"a": one}, {"a": other}) == {"a": expected} == merge({"a": other}, {"a": one})


def test_types_have_the_names_of_the_catalog():
    inner = pa.struct([("Id", pa.int32()), ("at", pa.timestamp("us"))])
    kind = pa.struct([("m", pa.map_(pa.string(), pa.decimal128(9, 2))), ("l", pa.list_(inner))])

    assert name_type(kind) == (
        "struct<m:map<string,decimal(9,2)>,l:array<struct<id:int,at:timestamp>>>"
    )
    with pytest.raises(CrawlError, match="know no type of the catalog for duration"):
        name_type(pa.duration("s"))
