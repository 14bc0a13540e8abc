"""One column holds what every version has under a name, and names stay what they were."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
)

from penstock.errors import SchemaConflictError
from penstock.spark.columns import (
    COMMENT,
    compare_columns,
    match_columns,
    merge_columns,
    read_columns,
)
from penstock.spark.lake.conversion import EventTime, convert
from penstock.tables import Growth, mark_field

_INT, _LONG, _FLOAT, _DOUBLE, _TEXT = (
    IntegerType(),
    LongType(),
    FloatType(),
    DoubleType(),
    StringType(),
)


def _struct(**types: Any) -> StructType:
    return StructType([StructField(name, type_) for name, type_ in types.items()])


def _merge(table: Any, event: Any) -> str:
    return merge_columns(_struct(x=table), _struct(x=event))["x"].dataType.simpleString()


@pytest.mark.parametrize(
    ("table", "event", "merged", "in_place"),
    [
        (_INT, _LONG, "bigint", True),
        (_LONG, _INT, "bigint", True),
        (_FLOAT, _DOUBLE, "double", True),
        (DecimalType(5, 2), DecimalType(9, 2), "decimal(9,2)", True),
        (DecimalType(9, 2), DecimalType(5, 2), "decimal(9,2)", True),
        (_INT, _DOUBLE, "double", False),
        (_LONG, _DOUBLE, "double", False),
        (_INT, _FLOAT, "double", False),
        (_FLOAT, _LONG, "double", True),
        (_DOUBLE, _LONG, "double", True),
        (ArrayType(_INT), ArrayType(_LONG), "array<bigint>", True),
        (ArrayType(_LONG), ArrayType(_DOUBLE), "array<double>", False),
        (ArrayType(_LONG), ArrayType(NullType()), "array<bigint>", True),
        (MapType(_TEXT, _INT), MapType(_TEXT, _DOUBLE), "map<string,double>", False),
        (_struct(a=_INT), _struct(b=_TEXT), "struct<a:int,b:string>", True),
        (_struct(a=_LONG), _struct(a=_DOUBLE, b=_TEXT), "struct<a:double,b:string>", False),
    ],
)
def test_types_that_one_column_can_hold(table, event, merged, in_place) -> None:
    columns = _struct(x=table)

    growth = compare_columns(columns, merge_columns(columns, _struct(x=event)))

    assert _merge(table, event) == merged
    assert (growth.rewritten == ()) is in_place


@pytest.mark.parametrize(
    ("table", "event", "said"),
    [
        (_LONG, _TEXT, "x: the column is bigint and the records have string, expected types that"),
        (_LONG, _struct(a=_INT), "x: the column is bigint and the records have struct<a:int>"),
        (_struct(a=_INT), _struct(a=BooleanType()), "x.a: the column is int and the records have"),
        (ArrayType(_INT), ArrayType(_TEXT), r"x\[\]: the column is int"),
        (MapType(_TEXT, _INT), MapType(_TEXT, _TEXT), "x{}: the column is int"),
        (DecimalType(5, 2), DecimalType(5, 3), r"x: the column is decimal\(5,2\)"),
    ],
)
def test_types_that_no_column_can_hold(table, event, said) -> None:
    with pytest.raises(SchemaConflictError, match=said):
        _merge(table, event)


def test_fields_with_each_others_names_keep_their_values() -> None:
    def named(a: str, b: str) -> StructType:
        marks = {"a": a, "b": b}
        fields = (
            StructField(n, _LONG, True, {"comment": f'field "{m}"'}) for n, m in marks.items()
        )
        return StructType(list(fields))

    swapped = convert("v", named(a="b", b="a"), named(a="a", b="b"))

    assert swapped == "IF(v IS NULL, NULL, NAMED_STRUCT('a', v.`b`, 'b', v.`a`))"
    assert convert("v", named(a="b", b="a"), named(a="b", b="a")) == "v"


def test_fields_that_are_always_null_have_no_column() -> None:
    event = _struct(
        a=NullType(), b=_struct(), c=ArrayType(_struct(d=NullType())), e=MapType(_TEXT, NullType())
    )

    assert merge_columns(StructType(), event) == StructType()


def test_taken_and_reserved_names_are_changed_once() -> None:
    first = _struct(Temp=_INT, temp_2=_INT)
    second = _struct(_topic=_TEXT, TEMP_2=_INT, temp=_INT, event_topic=_INT)
    table = merge_columns(_struct(_topic=_TEXT), first)
    table = merge_columns(table, second)

    held = {column.name: column.field for column in read_columns(table).columns[1:]}
    assert held == {
        "Temp": "Temp",
        "temp_2": "temp_2",
        "event_topic": "_topic",
        "TEMP_2_2": "TEMP_2",
        "temp_3": "temp",
        "event_topic_2": "event_topic",
    }
    assert merge_columns(merge_columns(table, first), second) == table


def test_other_comments_are_ignored() -> None:
    table = StructType([StructField("a", _INT, True, {"comment": "degrees, not a field"})])

    assert merge_columns(table, _struct(a=_INT)) == table


_LEAVES = st.sampled_from([_INT, _LONG, _DOUBLE])


def _events(depth: int) -> st.SearchStrategy[StructType]:
    """Structs whose fields have one kind each, whatever the version, so that all of them merge."""
    leaves = {f"{case}{kind}": kind for kind in "nam" for case in ("x", "X", "_x")}
    kinds = {
        "n": _LEAVES,
        "a": _LEAVES.map(ArrayType),
        "m": _LEAVES.map(lambda type_: MapType(_TEXT, type_)),
    }
    fields = {name: kinds[kind] for name, kind in leaves.items()}
    if depth:
        fields["s"] = _events(depth - 1)
        fields["S"] = _events(depth - 1).map(ArrayType)
    return st.fixed_dictionaries({}, optional=fields).map(lambda types: _struct(**types))


def _check(table: StructType, event: StructType) -> None:
    """Every field has a column, and no two columns of a struct have one name to Athena."""
    lowered = [name.lower() for name in table.names]
    assert len(set(lowered)) == len(lowered)
    held = match_columns(table, event)
    columns = {field.name: table[name].dataType for name, field in held.items()}
    for field in event.fields:
        type_, column = field.dataType, columns.get(field.name)
        while isinstance(type_, ArrayType):
            type_, column = type_.elementType, column and column.elementType
        if isinstance(type_, StructType) and column is not None:
            _check(column, type_)


@given(st.lists(_events(2), min_size=1, max_size=4))
def test_columns_of_any_versions(versions) -> None:
    table = StructType()
    for version in versions:
        table = merge_columns(table, version)
    for version in versions:
        _check(table, version)
        # What a table has grown to it need not grow to again, and no name moves.
        assert merge_columns(table, version) == table
        assert compare_columns(table, merge_columns(table, version)) == Growth()


def test_a_value_of_the_same_type_is_not_converted() -> None:
    type_ = _struct(a=_INT, b=ArrayType(_TEXT))

    assert convert("v", type_, type_) == "v"


def test_the_time_of_an_event_is_found_by_its_name_in_json() -> None:
    name = "event_x002d_time"
    comment = {COMMENT: mark_field(name, "event-time")}
    event, bare = (
        StructType([StructField(name, LongType(), metadata=metadata)]) for metadata in (comment, {})
    )

    for each in (event, bare):
        assert f"`{name}`" in EventTime("event-time").write(each)
    assert EventTime(name).write(event) == "_kafka_timestamp"
