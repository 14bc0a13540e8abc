"""What merges, into what, and what contradicts."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from penstock.errors import SchemaConflictError
from penstock.schemas import (
    check_compatibility,
    check_schema,
    decode,
    diff_schemas,
    encode,
    merge_schemas,
)


def _record(*fields: dict[str, Any], name: str = "R", **attributes: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **attributes}


def _field(name: str, type_: Any, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **attributes}


def _merged_type(*types: Any) -> Any:
    merged = merge_schemas([_record(_field("f", type_)) for type_ in types])
    check_schema(merged)
    assert isinstance(merged, dict)
    return merged["fields"][0]["type"]


_AB = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
_BC = {"type": "enum", "name": "E", "symbols": ["B", "C"]}
_FIXED = {"type": "fixed", "name": "X", "size": 4}
_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
_FIFTY = {"type": "bytes", "logicalType": "decimal", "precision": 50, "scale": 2}
_UUID = {"type": "string", "logicalType": "uuid"}
_WHOLE = {"type": "bytes", "logicalType": "decimal", "precision": 9}


@pytest.mark.parametrize(
    ("types", "merged"),
    [
        (["int", "long"], "long"),
        (["long", "double"], "double"),
        (["int", "double"], "double"),
        (["float", "double"], "double"),
        (["float", "int"], "double"),
        (["int", "long", "float"], "double"),
        (["string", "null"], ["null", "string"]),
        (["null", "null"], "null"),
        ([["null", "long"], ["double", "null"]], ["null", "double"]),
        ([["int", "long"]], "long"),
        (["string", ["string", "long"]], ["long", "string"]),
        (["string", "long", ["string", "long"]], ["long", "string"]),
        ([{"type": "array", "items": "int"}, {"type": "array", "items": "long"}],
         {"type": "array", "items": "long"}),
        ([{"type": "map", "values": "int"}, {"type": "map", "values": ["null", "int"]}],
         {"type": "map", "values": ["null", "int"]}),
        ([_AB, _BC], {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}),
        ([_FIXED, _FIXED], _FIXED),
        ([_MILLIS, _MILLIS], _MILLIS),
        ([_MONEY, _MONEY], _MONEY),
        ([_WHOLE, _WHOLE | {"scale": 0}], _WHOLE),
        ([_WHOLE | {"scale": 0}, _WHOLE], _WHOLE),
        # Text is text, and Avro ignores a logical type that is not valid.
        (["string", _UUID], "string"),
        ([_UUID, _UUID], _UUID),
        (["int", {"type": "int", "logicalType": "timestamp-millis"}], "int"),
        (["bytes", {"type": "bytes", "logicalType": "decimal"}], "bytes"),
        (["long", {"type": "long", "logicalType": ["a"]}], "long"),
        ([_MILLIS, _MILLIS | {"precision": 3}], _MILLIS),
        ([_WHOLE | {"scale": 10}, _WHOLE | {"scale": 11}], "bytes"),
        ([{"type": "string", "doc": "x", "a": 1}, {"type": "string", "doc": "y", "a": 1}],
         {"type": "string", "a": 1}),
    ],
)  # fmt: skip
def test_types_that_merge(types: list[Any], merged: Any) -> None:
    assert _merged_type(*types) == merged


@pytest.mark.parametrize(
    ("types", "one", "other"),
    [
        (["string", "double"], "string", "double"),
        (["string", "bytes"], "string", "bytes"),
        (["boolean", "int"], "boolean", "int"),
        ([["null", "string"], ["null", "long"]], "string (optional)", "long (optional)"),
        (["string", ["long", "double"]], "string", "long or double"),
        (
            [["string", "long"], ["string", "boolean"], "string"],
            "string or long",
            "string or boolean",
        ),
        (["long", _MILLIS], "long", "timestamp-millis"),
        ([_MONEY, _MONEY | {"scale": 3}], "decimal(9, 2)", "decimal(9, 3)"),
        ([_WHOLE, _WHOLE | {"scale": 1}], "decimal(9, 0)", "decimal(9, 1)"),
        (["bytes", _WHOLE], "bytes", "decimal(9, 0)"),
        ([_WHOLE | {"scale": 10}, _WHOLE], "bytes", "decimal(9, 0)"),
        ([_FIFTY, _FIFTY | {"scale": 3}], "decimal(50, 2)", "decimal(50, 3)"),
        (["long", {"type": "long", "logicalType": "my-own"}], "long", "my-own"),
        ([_FIXED, _FIXED | {"size": 5}], "fixed X(4)", "fixed X(5)"),
        ([_AB, "string"], "enum E [A, B]", "string"),
        ([_AB, _BC | {"name": "F"}], "enum E [A, B]", "enum F [B, C]"),
        ([{"type": "array", "items": "int"}, {"type": "map", "values": "int"}],
         "array of int", "map of int"),
        ([_record(name="A"), _record(name="B")], "record A", "record B"),
    ],
)  # fmt: skip
def test_types_that_contradict(types: list[Any], one: str, other: str) -> None:
    with pytest.raises(SchemaConflictError) as caught:
        _merged_type(*types)
    assert caught.value.path == "f"
    assert str(caught.value) == (
        f"f: {one} in one version and {other} in another, "
        "expected types that one can hold without changing a value"
    )


def test_a_conflict_deep_inside_names_its_path() -> None:
    def nested(item: str) -> Any:
        array = {"type": "array", "items": {"type": "map", "values": item}}
        return _record(_field("a", _record(_field("b", array), name="A")))

    with pytest.raises(SchemaConflictError, match=r"^a\.b\[\]\{\}: long in one version and string"):
        merge_schemas([nested("long"), nested("string")])


def test_root_types_that_contradict() -> None:
    with pytest.raises(SchemaConflictError, match=r"^the schema: record R in one version and long"):
        merge_schemas([_record(), "long"])


@pytest.mark.parametrize("order", [(0, 1, 1), (1, 0, 0), (1, 1, 0)])
def test_a_flattened_record_of_debezium_merges_with_its_envelope(order: tuple[int, ...]) -> None:
    row = _field("id", "int")
    value = _record(row, name="Value", namespace="t")
    after = [_field("after", ["null", value]), _field("op", "string")]
    envelope = _record(*after, name="Envelope", namespace="t")
    flattened = _record(row, _field("__op", "string"), name="Value", namespace="t")
    merged: Any = None
    for at in order:
        version = (envelope, flattened)[at]
        merged = merge_schemas([version] if merged is None else [merged, version])
    check_schema(merged)
    assert merged["name"].rpartition(".")[2] == "Envelope"
    found = {each["name"]: each["type"] for each in merged["fields"]}
    assert {name: found[name] for name in ("id", "op", "__op")} == {
        "id": ["null", "int"],
        "op": ["null", "string"],
        "__op": ["null", "string"],
    }
    assert [each["name"] for each in found["after"][1]["fields"]] == ["id"]


def test_a_record_that_another_has_inside_is_not_merged_with_it() -> None:
    inner = _record(_field("id", "int"), name="Item")
    outer = _record(_field("after", ["null", inner]), name="Order")
    with pytest.raises(SchemaConflictError, match="record Order in one version and record Item"):
        merge_schemas([outer, inner])


def test_nothing_to_merge() -> None:
    with pytest.raises(ValueError, match=r"^no versions to merge, expected at least one$"):
        merge_schemas([])


def test_a_field_that_one_version_lacks_becomes_optional_and_optional_ones_are_sorted() -> None:
    merged = merge_schemas(
        [
            _record(_field("z", "string"), _field("y", "long"), _field("x", "int", default=7)),
            _record(_field("b", ["null", "int"]), _field("z", "string"), _field("x", "int")),
        ]
    )
    assert merged == _record(
        _field("z", "string"),
        _field("x", "int"),
        _field("b", ["null", "int"], default=None),
        _field("y", ["null", "long"], default=None),
    )


def test_aliases_of_fields_are_left_out_so_that_no_value_is_read_twice() -> None:
    merged = merge_schemas(
        [_record(_field("a", "int")), _record(_field("b", "int", aliases=["a"]))]
    )
    assert merged == _record(
        _field("a", ["null", "int"], default=None), _field("b", ["null", "int"], default=None)
    )


def test_attributes_that_all_versions_share_are_kept() -> None:
    merged = merge_schemas(
        [
            _record(_field("t_c", "int", jsonName="t-c", doc="one", unit="C"), doc="same"),
            _record(_field("t_c", "int", jsonName="t-c", doc="two", unit="C"), doc="same"),
        ]
    )
    assert merged == _record(_field("t_c", "int", jsonName="t-c", unit="C"), doc="same")


def test_one_field_for_two_json_names_is_a_conflict() -> None:
    with pytest.raises(SchemaConflictError) as caught:
        merge_schemas(
            [_record(_field("t_c", "int", jsonName="t-c")), _record(_field("t_c", "int"))]
        )
    assert str(caught.value) == (
        "t_c: it stands for the JSON name 't-c' in one version and for 't_c' in another, "
        "expected one name"
    )


def test_two_fields_for_one_json_name_are_a_conflict() -> None:
    versions = [_record(_field("a", "int", jsonName="t")), _record(_field("t", "int"))]
    with pytest.raises(SchemaConflictError) as caught:
        merge_schemas(versions)
    assert str(caught.value) == (
        "the schema: a and t of two versions both stand for the JSON name 't', expected one field"
    )


def test_a_renamed_type_merges_by_its_alias_and_reads_both() -> None:
    old, new = _record(name="a.Old"), _record(name="a.New", aliases=["Old"])
    merged = merge_schemas([old, new])
    assert merged == merge_schemas([new, old]) == _record(name="a.New", aliases=["a.Old"])
    assert check_compatibility(merged, old) == check_compatibility(merged, new) == ()


def test_types_of_two_namespaces_merge_by_their_short_name() -> None:
    assert merge_schemas([_record(name="b.R"), _record(name="a.R")]) == _record(
        name="a.R", aliases=["b.R"]
    )


def _twins(*namespaces: str) -> Any:
    """Make a union of records `R`, one for each namespace."""
    return [_record(_field(f"of_{each}", "int"), name=f"{each}.R") for each in namespaces]


def test_types_that_one_version_tells_apart_stay_apart() -> None:
    both = _record(_field("u", _twins("a", "b")))
    one = _record(_field("u", _record(_field("more", "int"), name="b.R")))
    other = _record(_field("u", _record(_field("of_a", "string"), name="b.R")))

    (first, second) = merge_schemas([both, one])["fields"][0]["type"]

    assert [(each["name"], [field["name"] for field in each["fields"]]) for each in (
        first, second)] == [("a.R", ["of_a"]), ("b.R", ["more", "of_b"])]  # fmt: skip
    assert merge_schemas([one, both]) == merge_schemas([both, one])
    # What contradicts the one does not matter to the other.
    assert len(merge_schemas([both, other])["fields"][0]["type"]) == 2


def test_a_type_that_may_be_either_of_two_is_a_conflict() -> None:
    both = _record(_field("u", _twins("a", "b")))

    with pytest.raises(SchemaConflictError, match=r"^u: record R or record R in one version"):
        merge_schemas([both, _record(_field("u", _twins("c")[0]))])


def test_an_alias_beside_the_type_that_it_names_does_not_join_them() -> None:
    renamed = _record(_field("y", "int"), name="S", aliases=["R"])
    version = _record(_field("u", [_record(_field("x", "int")), renamed]), name="e")

    assert [each["name"] for each in merge_schemas([version])["fields"][0]["type"]] == ["R", "S"]


@pytest.mark.parametrize(
    "versions",
    [
        [_record(name="r"), _record(name="a.r")],
        [_record(name="r"), _record(name="a.s", aliases=["r"])],
    ],
)
def test_the_merge_of_a_merge_has_all_names(versions: list[Any]) -> None:
    merged = merge_schemas(versions)

    assert (merged["name"], merged["aliases"][-1]) == ("r", versions[1]["name"])
    assert merge_schemas([merged]) == merged


def test_a_type_that_two_fields_share_is_merged_across_both() -> None:
    address = _record(_field("street", "string"), name="Address")
    grown = _record(_field("street", "string"), _field("zip", "string"), name="Address")
    versions = [
        _record(_field("home", ["null", address]), _field("work", ["null", "Address"])),
        _record(_field("work", ["null", grown])),
    ]
    merged = merge_schemas(versions)
    check_schema(merged)
    both = _record(
        _field("street", "string"), _field("zip", ["null", "string"], default=None), name="Address"
    )
    assert merged == _record(
        _field("home", ["null", both], default=None),
        _field("work", ["null", "Address"], default=None),
    )
    for version in versions:
        assert check_compatibility(merged, version) == ()


def test_renames_that_would_put_a_type_inside_itself_are_a_conflict() -> None:
    old = _record(_field("a", _record(_field("c", _record(name="Z")), name="X")))
    new = _record(_field("a", _record(name="Z", aliases=["X"])))
    with pytest.raises(SchemaConflictError, match=r"^the type Z would contain itself in the merge"):
        merge_schemas([old, new])


def test_a_field_of_type_null_that_a_version_lacks_has_a_default() -> None:
    versions = [
        _record(_field("x", "long"), _field("d", "null")),
        _record(_field("x", "long")),
    ]
    merged = merge_schemas(versions)

    assert merged == _record(_field("x", "long"), _field("d", "null", default=None))
    for version in versions:
        assert check_compatibility(merged, version) == ()
        value = {name["name"]: None for name in version["fields"]} | {"x": 1}
        assert decode(encode(value, version), version, merged) == {"x": 1, "d": None}


def test_a_message_shows_the_start_of_a_long_type() -> None:
    enum = {"type": "enum", "name": "E", "symbols": [f"S{number}" for number in range(10_000)]}
    other = enum | {"symbols": ["A"]}
    wide = [{"type": "fixed", "name": f"{'F' * 50}{number}", "size": 1} for number in range(200)]

    for type_, start in (
        (enum, "f: enum E [S0, S1, S2, S3, S4, ...] in one version and"),
        (wide, "f: "),
    ):
        with pytest.raises(SchemaConflictError) as caught:
            merge_schemas([_record(_field("f", type_)), _record(_field("f", "string"))])
        assert str(caught.value).startswith(start)
        assert len(str(caught.value)) < 400
    (missing,) = check_compatibility(reader=other, writer=enum)
    assert missing.message == "the reader lacks the writer's symbols S0, S1, S2, S3, S4, ..."
    (change,) = diff_schemas(_record(_field("f", enum)), _record(_field("f", other))).changes
    assert change.before.endswith("S9998, S9999]")


def _chain(field: str, depth: int) -> dict[str, Any]:
    chain = _record(_field("v", "int"), name=f"R{depth}")
    for number in reversed(range(depth)):
        chain = _record(_field(field, chain), name=f"R{number}")
    return chain


def test_a_merge_whose_expanded_size_is_exponential_is_a_conflict_after_bounded_work() -> None:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    versions = [_chain("a", 30), _chain("b", 30)]
    sys.setprofile(count)
    try:
        with pytest.raises(SchemaConflictError, match=r"has more than 100,000 types$"):
            merge_schemas(versions)
    finally:
        sys.setprofile(None)
    assert calls < 100_000


def test_types_that_would_contain_each_other_are_a_conflict() -> None:
    one = _record(_field("p", _record(_field("y", _record(name="Y")), name="X")))
    other = _record(_field("q", _record(_field("x", _record(name="X")), name="Y")))
    with pytest.raises(SchemaConflictError, match=r"^the type X would contain itself in the merge"):
        merge_schemas([one, other])


@pytest.mark.parametrize(
    "item", ["null", _record(name="E"), {"type": "fixed", "name": "F", "size": 0}]
)
def test_items_that_take_a_byte_only_as_a_union_stay_a_union(item: Any) -> None:
    array = {"type": "array", "items": [item]}

    assert _merged_type(array) == _merged_type(array, array) == array


def test_a_name_that_would_stand_for_another_type_after_the_merge_is_a_conflict() -> None:
    inner = _record(_field("k", "int"), name="R", namespace="")
    spaced = _record(_field("r", inner), _field("q", "R"), name="n.S")
    version = _record(
        _field("z", ["null", spaced]),
        _field("a", ["null", _record(name="n.R")]),  # optional fields are sorted, so it moves
        name="T",
    )
    check_schema(version)
    with pytest.raises(
        SchemaConflictError, match=r"^the type R is used inside .* R stands for n\.R, expected"
    ):
        merge_schemas([version])
