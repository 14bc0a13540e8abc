"""The rules of a registry: what a new version is compared with, and what is kept of it.

rule                                     source
compared with the checkpoint             AWS Glue developer guide, "Schema versioning and
or with the version before               compatibility": it says both, so both are built
only UpdateSchema moves the checkpoint   the same page
a refused version takes a number and     users: terraform-provider-aws #35152, Jikkou #593
stays as FAILURE, found by definition
the same definition is the same version  API reference, RegisterSchemaVersion
10,000 versions                          AWS Glue endpoints and quotas
"""

from __future__ import annotations

import pytest

from penstock.errors import InvalidSchemaError, SchemaNotFoundError
from penstock.registry import ComparedWith, SchemaBackup, SchemaStore, VersionStatus
from penstock.schemas import Compatibility, Schema, canonical_form
from tests.stubs.registries import Reading

_ARN = "arn:aws:glue:eu-central-1:111122223333:schema/plant/readings"

# Three versions: the first without `t`, then with `t` as a number, then as text. Against the
# first the third is fine in mode BACKWARD, against the second it is not.
_CHECKPOINT, _PREVIOUS, _BOTH = ComparedWith


def _add_all(store: SchemaStore, mode: Compatibility, *schemas: Schema) -> list[str]:
    first, *others = map(canonical_form, schemas)
    store.create(_ARN, first, mode)
    return [store.add(_ARN, each).status.value for each in others]


@pytest.mark.parametrize(
    ("mode", "compared_with", "expected"),
    [
        ("NONE", _BOTH, "AVAILABLE"),
        ("BACKWARD", _CHECKPOINT, "AVAILABLE"),
        ("BACKWARD", _PREVIOUS, "FAILURE"),
        ("BACKWARD", _BOTH, "FAILURE"),
        ("BACKWARD_ALL", _CHECKPOINT, "FAILURE"),
        ("FORWARD", _CHECKPOINT, "AVAILABLE"),
        ("FORWARD", _PREVIOUS, "FAILURE"),
        ("FORWARD_ALL", _CHECKPOINT, "FAILURE"),
        ("FULL", _CHECKPOINT, "AVAILABLE"),
        ("FULL", _BOTH, "FAILURE"),
        ("FULL_ALL", _PREVIOUS, "FAILURE"),
    ],
)
def test_both_readings_of_compared_with(
    reading: Reading, mode: str, compared_with: ComparedWith, expected: str
) -> None:
    store = SchemaStore(compared_with=compared_with)

    statuses = _add_all(
        store, Compatibility(mode), reading(), reading(t="double"), reading(t="string")
    )

    assert statuses == ["AVAILABLE", expected]


def test_a_checkpoint_that_moves_changes_the_comparison(reading: Reading) -> None:
    store = SchemaStore(compared_with=_CHECKPOINT)
    _add_all(store, Compatibility.BACKWARD_ALL, reading(t="string"), reading())
    store.update(_ARN, checkpoint=2)

    added = store.add(_ARN, canonical_form(reading(t="double")))

    assert store.rule(_ARN) == (Compatibility.BACKWARD_ALL, 2)
    assert added.status is VersionStatus.AVAILABLE


def test_a_failed_version_is_not_compared_with(reading: Reading) -> None:
    store = SchemaStore()

    statuses = _add_all(
        store,
        Compatibility.BACKWARD_ALL,
        reading(t="double"),
        reading(t="string"),
        reading(t="double", u="long"),
    )

    assert statuses == ["FAILURE", "AVAILABLE"]


def test_numbers_are_not_used_again(reading: Reading) -> None:
    store = SchemaStore()
    _add_all(store, Compatibility.BACKWARD, reading(), reading(t="double"))
    store.delete(store.read_number(_ARN, 2).id)

    assert store.add(_ARN, canonical_form(reading(t="double"))).number == 3


def test_one_text_is_one_version_even_when_it_failed(reading: Reading) -> None:
    store = SchemaStore()
    _add_all(store, Compatibility.BACKWARD, reading(t="double"), reading(t="string"))

    again = store.add(_ARN, canonical_form(reading(t="string")))

    assert (again.number, again.status) == (2, VersionStatus.FAILURE)
    assert store.find(_ARN, canonical_form(reading(t="string"))) == again


def test_a_definition_that_is_not_a_schema_is_not_stored(reading: Reading) -> None:
    store = SchemaStore()
    with pytest.raises(InvalidSchemaError):
        store.create(_ARN, '{"type": "wreckord"}')
    store.create(_ARN, canonical_form(reading()))

    with pytest.raises(InvalidSchemaError):
        store.add(_ARN, "{")

    assert [each.number for each in store.list_versions(_ARN)] == [1]


def test_metadata_is_stored_once_and_goes_with_its_version(reading: Reading) -> None:
    store = SchemaStore()
    _add_all(store, Compatibility.BACKWARD, reading(), reading(t="double"))
    version = store.read_number(_ARN, 2)

    for value in ("team", "other", "team"):
        store.put_metadata(version.id, "owner", value)

    assert store.metadata(version.id) == {("owner", "team"), ("owner", "other")}
    store.delete(version.id)
    assert store.metadata(version.id) == set()


def test_other_formats_are_stored_and_not_compared() -> None:
    store = SchemaStore()
    store.restore(_ARN, SchemaBackup("readings", Compatibility.FULL_ALL, 1, "JSON", "", {}, ()))

    added = store.add(_ARN, '{"type": "array"}')

    assert (added.status, added.data_format) == (VersionStatus.AVAILABLE, "JSON")


def test_all_versions_are_listed_whatever_their_status(reading: Reading) -> None:
    store = SchemaStore()
    _add_all(store, Compatibility.BACKWARD, reading(t="long"), reading(t="string"), reading())

    listed = [(each.number, each.status.value) for each in store.list_versions(_ARN)]

    assert listed == [(1, "AVAILABLE"), (2, "FAILURE"), (3, "AVAILABLE")]


def test_missing_schemas_and_versions_are_not_found(reading: Reading) -> None:
    store = SchemaStore()

    with pytest.raises(SchemaNotFoundError, match=f"schema {_ARN} is not found"):
        store.add(_ARN, canonical_form(reading()))
    with pytest.raises(SchemaNotFoundError, match="schema version x is not found"):
        store.put_metadata("x", "a", "b")

    store.create(_ARN, canonical_form(reading()))
    with pytest.raises(SchemaNotFoundError, match=f"version 2 of {_ARN} is not found"):
        store.read_number(_ARN, 2)
