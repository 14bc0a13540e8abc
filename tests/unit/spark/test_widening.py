"""The comment of a column that was widened is one that Glue takes, and is found again."""

from __future__ import annotations

import pytest
from pyspark.sql.types import DoubleType, StructField, StructType

from penstock.schemas import check_schema
from penstock.tables import Column, Struct, cut_comment, mark_replaced, merge_columns
from penstock.tables.glue_columns import write_glue_column

_GLUE = 255
_LONGEST = "_" + "X" * 219


@pytest.mark.parametrize("name", ["x", _LONGEST])
@pytest.mark.parametrize("fields", [1, 20])
def test_names_and_comments_of_columns_fit(name: str, fields: int) -> None:
    check_schema({"type": "record", "name": "R", "fields": [{"name": name, "type": "int"}]})
    types = StructType([StructField(f"measurement_{n}", DoubleType()) for n in range(fields)])
    taken = Struct((Column(f"event{name}", "int"),))
    column = merge_columns(taken, Struct((Column(name, "int"),))).columns[-1]
    begin = mark_replaced(column.name)

    comment = cut_comment(f"{begin}{types.simpleString()}")

    assert len(comment) <= _GLUE
    assert comment.startswith(begin)
    assert len(f"_before_999_{column.name}") <= _GLUE
    written = write_glue_column(column)
    assert max(len(written["Name"]), len(written.get("Comment", ""))) <= _GLUE


def test_a_comment_is_cut_between_two_letters() -> None:
    assert cut_comment("a" * 255) == "a" * 255
    assert cut_comment("a" * 256) == f"{'a' * 252}..."
    assert cut_comment("a" + "ü" * 130) == f"a{'ü' * 125}..."
