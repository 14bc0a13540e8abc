"""Each branch of a union has its column, whichever versions are known and in whichever order."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg.types import NestedField, StringType, StructType

from penstock.errors import SchemaConflictError
from penstock.extensions.drift.inspection import TableTarget, sync_tables
from penstock.schemas import Schema, decode, merge_schemas
from penstock.tables import (
    Array,
    Column,
    Struct,
    compare_columns,
    merge_columns,
    name_member,
    read_event,
)
from tests.fixtures.lakes import Lake, lake
from tests.stubs.unions import (
    BRANCHES,
    VALUES,
    encode_branch,
    make_event,
    make_named,
    unite,
)

__all__ = ["lake"]


def _columns(*versions: Schema) -> Struct:
    return read_event(merge_schemas(list(versions)))


def _members(columns: Struct, name: str = "u") -> dict[str, Any]:
    found = columns.find(name)
    assert found is not None
    assert isinstance(found.type, Struct)
    return {each.name: each.type for each in found.type.columns}


@pytest.mark.parametrize(
    ("branches", "members"),
    [
        (["int", "string"], ["member_number", "member_string"]),
        (["long", "boolean", "bytes"], ["member_boolean", "member_bytes", "member_number"]),
        (["float", {"type": "map", "values": "int"}], ["member_map", "member_number"]),
        ([{"type": "array", "items": "int"}, "double"], ["member_array", "member_number"]),
        ([make_named("R"), make_named("acme.meters.R")], ["member_R", "member_acme_meters_R"]),
        ([make_named("S", "enum"), make_named("a.S"), make_named("b.S", "fixed")],
         ["member_S", "member_a_S", "member_b_S"]),
        ([make_named("New", aliases=["Old"]), "string"],
         ["member_New", "member_Old", "member_string"]),
        # The values of that name are the other type's.
        ([make_named("New", aliases=["Old"]), make_named("Old")], ["member_New", "member_Old"]),
        ([make_named("A", aliases=["O"]), make_named("B", aliases=["O"])],
         ["member_A", "member_B"]),
    ],
)  # fmt: skip
def test_members_have_the_names_of_their_types(branches: list[Any], members: list[str]) -> None:
    found = _members(_columns(make_event(unite(*branches))))

    assert list(found) == members
    assert all(len(name) <= 255 and name.replace("_", "").isalnum() for name in found)


def test_a_type_of_two_places_has_its_name_in_both() -> None:
    event = make_event(unite(make_named("a.R"), "string"), ["a.R", "int"])

    assert _members(_columns(event), "u2") == {
        "member_a_R": _members(_columns(event))["member_a_R"],
        "member_number": "int",
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([make_named("Reading"), make_named("Status")], [make_named("Alarm")]),
        (["long", "string"], ["boolean"]),
        ([make_named("b.R"), "string"], [make_named("a.R")]),
    ],
)
def test_a_new_branch_is_a_new_member(before: list[Any], after: list[Any]) -> None:
    first, second = make_event(unite(*before)), make_event(unite(*before, *after))
    table = merge_columns(Struct(), _columns(first))

    grown = merge_columns(table, _columns(first, second))

    added = [each.column.name for each in compare_columns(table, grown).added]
    assert added == [name_member(each) for each in after]
    assert compare_columns(table, grown).widened == ()
    assert _members(table).items() <= _members(grown).items()


def test_numbers_widen_in_their_member() -> None:
    first, second = make_event(unite("int", "string")), make_event(unite("string", "long"))
    table = merge_columns(Struct(), _columns(first))

    (wider,) = compare_columns(table, merge_columns(table, _columns(first, second))).widened

    assert (wider.path, wider.old, wider.new) == ("u.member_number", "int", "bigint")


@pytest.mark.parametrize(
    "branches",
    [
        [make_named("a_b.C"), make_named("a.b_C")],
        [make_named("a_b.C"), make_named("a.b.C")],
        ["int", make_named("number")],
    ],
)
def test_two_types_of_one_column_are_refused(branches: list[Any]) -> None:
    with pytest.raises(SchemaConflictError) as caught:
        _columns(make_event({"type": "array", "items": unite(*branches)}))

    first, second = sorted(each if isinstance(each, str) else each["name"] for each in branches)
    column = name_member(branches[0])
    assert f"{caught.value}".startswith("u[]: the types ")
    assert {first, second, column} <= set(f"{caught.value}".replace(",", "").split())
    assert caught.value.path == "u[]"


_NUMBERED = Struct((Column("member0", Struct((Column("x", "string"),))), Column("member1", "int")))


def test_numbered_members_are_refused_until_their_column_is_renamed() -> None:
    event = _columns(make_event(unite(make_named("R"), "int")))
    for type_ in (_NUMBERED, Struct((*_NUMBERED.columns, Column("member_R", "int")))):
        with pytest.raises(SchemaConflictError) as caught:
            merge_columns(Struct((Column("u", type_),)), event)
        assert str(caught.value) == (
            f"u: the column is {type_}, whose members an earlier release numbered, and the records "
            "have struct<member_R:struct<of_R:bigint>,member_number:int>, expected members with "
            "the names of their types: rename the column of an Iceberg table, which keeps it for "
            "the rows that are there, or write these records to a table of their own"
        )

    renamed = Struct((Column("u_numbered", _NUMBERED),))

    assert merge_columns(renamed, event) == Struct((*renamed.columns, *event.columns))


def test_numbered_members_inside_of_a_list_are_refused_too() -> None:
    event = _columns(make_event({"type": "array", "items": unite("string", "int")}))

    with pytest.raises(SchemaConflictError, match=r"^u\[\]: the column is struct<member0:"):
        merge_columns(Struct((Column("u", Array(_NUMBERED)),)), event)


def test_a_sync_leaves_numbered_members_until_their_column_is_renamed(lake: Lake) -> None:
    text = StringType()
    members = [NestedField(90 + at, f"member{at}", text) for at in range(2)]
    lake.create("t", ("u", StructType(*members)))
    event = _columns(make_event(unite("string", "long"), "string"))
    target = TableTarget(event, (lake.name("t"),))

    (synced,) = sync_tables([target], apply=True)
    with lake.load("t").update_schema() as update:
        update.rename_column("u", "u_numbered")
    (again,) = sync_tables([target], apply=True)

    assert [each.column for each in synced.changes if each.place.startswith("iceberg")] == ["u2"]
    (left,) = synced.left
    assert (left.column, left.found) == ("u", "struct<member0:string,member1:string>")
    assert left.expected == "struct<member_number:bigint,member_string:string>"
    assert left.advice.startswith("an earlier release numbered these members: rename the column")
    assert {each.column for each in again.changes} == {"u"}
    assert [(each.column, each.expected) for each in again.left] == [("u_numbered", "no column")]


def test_a_record_that_becomes_a_union_is_refused_either_way() -> None:
    record, union = (
        _columns(make_event(unite(*each)))
        for each in ([make_named("R")], [make_named("R"), make_named("S")])
    )
    for table, event in ((record, union), (union, record)):
        with pytest.raises(SchemaConflictError, match=r"^u: the column is struct<.*their own$"):
            merge_columns(table, event)


def test_a_record_whose_fields_look_like_members_is_a_record() -> None:
    fields = [{"name": name, "type": "int"} for name in ("member_id", "name")]
    few, all_ = (
        _columns(make_event({"type": "record", "name": "R", "fields": each}))
        for each in (fields[:1], fields)
    )

    assert merge_columns(few, all_) == merge_columns(all_, few) == all_


@st.composite
def _named_versions(draw: st.DrawFn) -> list[list[str]]:
    """Choose the branches of versions; the last one has all of them."""
    some = st.lists(st.sampled_from(sorted(BRANCHES)), min_size=2, unique=True)
    chosen = [draw(some) for _ in range(draw(st.integers(1, 2)))]
    return [*chosen, sorted({name for names in chosen for name in names})]


def _version(names: list[str]) -> Any:
    return make_event(unite(*(BRANCHES[name] for name in names)))


@given(_named_versions())
def test_any_order_of_versions_gives_the_same_columns(chosen: list[list[str]]) -> None:
    versions = [_version(names) for names in chosen]
    columns = _columns(*versions)
    assert set(_members(columns)) == {name_member(BRANCHES[name]) for name in chosen[-1]}
    for order in itertools.permutations(versions):
        assert _columns(*order) == columns
        table = Struct()
        for known in range(1, len(order) + 1):
            try:
                table = merge_columns(table, _columns(*order[:known]))
            except SchemaConflictError:  # until the last version says that both are meant
                continue
        assert _members(table) == _members(columns)


@given(_named_versions())
def test_values_are_read_through_the_merge_as_they_were_written(chosen: list[list[str]]) -> None:
    versions = [_version(names) for names in chosen]
    merged = merge_schemas(versions)
    for names, version in zip(chosen, versions, strict=True):
        for at, name in enumerate(names, 1):
            payload = encode_branch(version, at, VALUES[name])
            assert decode(payload, version, merged) == {"u": VALUES[name]}
