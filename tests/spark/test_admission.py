"""A version that no reader can use is refused by itself, with a sentence and a reason."""

from __future__ import annotations

import pytest

from penstock.errors import (
    PenstockError,
    Reason,
    RecursiveSchemaError,
    SchemaConflictError,
    SchemaLimitError,
    UnroutableError,
)
from penstock.spark.decoding.admission import Admission, admit_versions
from penstock.spark.decoding.decoder import Decoder
from tests.spark.records import make_record, make_version
from tests.stubs.unions import RENAMED, make_event, make_named, unite

_TREE = make_record(("children", {"type": "array", "items": "Tree"}), name="Tree")
_KNOWN = make_version(1, make_record(("temperature", ["null", "double"])))


@pytest.mark.parametrize(
    ("schema", "error", "reason", "message"),
    [
        (_TREE, RecursiveSchemaError, Reason.RECURSIVE_SCHEMA, "of sensor: .*Tree.* itself"),
        (
            make_record(("f", {"type": "fixed", "name": "F", "size": 2_000_000_000})),
            SchemaLimitError, Reason.UNDECODABLE, "2,000,000,000",
        ),
        (
            make_record(("temperature", "string")),
            SchemaConflictError, Reason.SCHEMA_CONFLICT, "temperature: .*double.* string",
        ),
        (
            make_record(("u", [make_named("a_b.C"), make_named("a.b_C")])),
            SchemaConflictError, Reason.SCHEMA_CONFLICT,
            "u: the types a.b_C and a_b.C of a union would both be the column member_a_b_C",
        ),
        ("long", UnroutableError, Reason.UNROUTABLE, "found no record, expected an event"),
    ],
)  # fmt: skip
def test_a_version_is_refused_for_its_reason(schema, error, reason, message):
    version = make_version(7, schema)

    with pytest.raises(error, match=message) as caught:
        Admission().admit([_KNOWN.schema], version)

    assert caught.value.reason is reason
    assert f"schema version {version.key} of sensor: " in str(caught.value)


def test_a_version_whose_types_would_be_one_column_is_refused_alone():
    twins = [make_named("a_b.C"), make_named("a.b_C")]
    version = make_version(2, make_record(("u", twins)))

    admitted, refused = admit_versions([_KNOWN, version])

    assert (admitted, list(refused)) == ([_KNOWN], [version.key])


@pytest.mark.parametrize("name", RENAMED)
def test_a_version_that_takes_a_name_from_the_values_of_another_is_refused(name):
    known, taking = (make_version(at, make_event(each)) for at, each in enumerate(RENAMED[name]))
    _, new, *_, text = RENAMED[name][1]
    renamed = make_version(2, make_event(unite(new, text)))

    for before, found, refused in (
        ([known], [taking, renamed], taking),
        ([taking], [known, renamed], known),
        ([known, renamed], [taking], taking),
    ):
        admitted, refusals = admit_versions(found, before)
        assert admitted == [each for each in found if each is not refused]
        assert list(refusals) == [refused.key]
        assert refusals[refused.key].reason is Reason.SCHEMA_CONFLICT


def test_admitted_versions_make_a_decoder(spark):
    grown = make_version(2, make_record(("temperature", ["null", "long"]), ("more", "int")))

    Admission().admit([_KNOWN.schema], grown)

    assert [each["name"] for each in Decoder(spark, [_KNOWN, grown]).schema["fields"]] == [
        "more",
        "temperature",
    ]


@pytest.mark.parametrize("size", [0, 1_785, 1_786, 2**20])
def test_a_decimal_in_any_number_of_bytes_is_admitted(size):
    type_ = {"type": "fixed", "name": "F", "size": size, "logicalType": "decimal", "precision": 3}
    version = make_version(1, make_record(("a", type_)))

    assert admit_versions([version]) == ([version], {})


def test_a_refusal_is_an_error_of_ours():
    with pytest.raises(PenstockError):
        Admission().admit([], make_version(1, {"type": "nonsense"}))


@pytest.mark.parametrize(
    ("known", "found", "admitted"),
    [
        ([], [1, 2, 3], [1, 3]),
        ([1], [2], []),
        ([1], [3], [3]),
        ([2], [1, 3], [1, 3]),  # their values are members
        ([], [2], [2]),
    ],
)
def test_a_version_whose_values_a_column_cannot_hold_is_refused(known, found, admitted):
    types = {1: "long", 2: ["long", "string"], 3: ["null", "double"]}
    versions = {at: make_version(at, make_record(("value", types[at]))) for at in types}
    new, before = [versions[at] for at in found], [versions[at] for at in known]

    kept, refused = admit_versions(new, before, keep_columns=True)
    every, none = admit_versions(new, before)

    assert kept == [versions[at] for at in admitted]
    assert {failure.reason for failure in refused.values()} <= {Reason.SCHEMA_CONFLICT}
    assert (every, none) == (new, {})  # rows without columns hold any
