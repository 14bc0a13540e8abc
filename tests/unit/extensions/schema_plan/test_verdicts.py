"""What a plan forbids, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.extensions.schema_plan.baseline import Baseline, use_registry
from penstock.extensions.schema_plan.operation import State, make_plan
from penstock.extensions.schema_plan.report import (
    list_lines,
)
from penstock.operations import Programs
from penstock.registry import (
    ComparedWith,
    SchemaBackup,
    SchemaStore,
    StoredVersion,
    VersionStatus,
)
from penstock.schemas import Compatibility, canonical_form, load_schema
from tests.fixtures.root_outputs import make_consumer, make_producer, write_outputs
from tests.stubs.schema_stores import MemoryAdmin
from tests.unit.extensions.schema_plan.folders import (
    BASE,
    Run,
    Write,
    make_backup,
    make_schema,
    plan_folder,
    run,
    write,
)

__all__ = ["run", "write"]


def test_a_mode_that_one_reading_of_the_rule_refuses_is_marked(write: Write, run: Run) -> None:
    folder = write(sensor=make_schema(**BASE, b="int"))
    # Without a default, b is new to the first version and not to the one before.
    against = make_backup("b", make_schema(**BASE), make_schema(**BASE, b="int", c="int"))

    lines = list(list_lines(plan_folder(folder, against)))

    assert lines[:-1] == [
        "sensor: forbidden, mode BACKWARD",
        "  schemas/sensor.avsc:1: field removed: c: int",
        "  schemas/sensor.avsc:13: READER_FIELD_MISSING_DEFAULT_VALUE: b: the reader requires the "
        "field, which the writer does not have (by one reading of Glue's rule only: with the "
        "checkpoint)",
        "  accepted by the modes NONE, BACKWARD (compared with the previous only), FORWARD "
        "(compared with the checkpoint only)",
    ]


def test_a_contradiction_is_forbidden_in_every_mode(write: Write) -> None:
    folder = write(sensor=make_schema(**BASE, a="string"))
    against = make_backup("b", make_schema(**BASE, a="int"), compatibility=Compatibility.NONE)

    (found,) = plan_folder(folder, against).schemas

    assert found.state is State.FORBIDDEN
    assert [(each.rule, each.path, each.line, each.is_enforced) for each in found.findings] == [
        ("CONTRADICTION", "a", 13, True)
    ]
    assert found.findings[0].message == (
        "it contradicts the versions of the schema: a: int in one version and string in another, "
        "expected types that one can hold without changing a value"
    )


@pytest.mark.parametrize(
    ("values", "rule", "message"),
    [
        ({"data_format": "PROTOBUF"}, "DATA_FORMAT",
         "the schema has the format PROTOBUF, expected AVRO"),
        ({"compatibility": Compatibility.DISABLED}, "VERSIONS_DISABLED",
         "compatibility is DISABLED, so the schema accepts no new version"),
        ({"compatibility": Compatibility.DISABLED, "versions": ()}, "VERSIONS_DISABLED",
         "the schema's mode is DISABLED"),
        ({"compatibility": Compatibility.DISABLED, "checkpoint": 5}, "VERSIONS_DISABLED",
         "the schema's mode is DISABLED"),
    ],
)  # fmt: skip
def test_a_schema_that_takes_no_version_forbids_it(
    write: Write, values: dict[str, Any], rule: str, message: str
) -> None:
    folder = write(sensor=make_schema(**BASE, a="int", defaults={"a": 1}))
    version = StoredVersion("i", "r/sensor", 1, VersionStatus.AVAILABLE, make_schema(**BASE), None)
    described: dict[str, Any] = {
        "compatibility": Compatibility.BACKWARD, "checkpoint": 1, "data_format": "AVRO",
        "versions": (version,),
    } | values  # fmt: skip
    stored = SchemaBackup("sensor", description="", tags={}, **described)
    baseline = Baseline("here", {"sensor"}, {"sensor": stored}.__getitem__)

    (found,) = make_plan(folder, baseline, Programs()).schemas

    assert found.state is State.FORBIDDEN
    assert [(each.rule, each.message) for each in found.findings] == [(rule, message)]


def test_a_name_that_no_registry_takes_is_forbidden(write: Write) -> None:
    folder = write(**{"my sensor": make_schema(**BASE)})

    (found,) = plan_folder(folder, make_backup("b", make_schema(**BASE))).schemas

    assert [(each.rule, each.message) for each in found.findings] == [
        (
            "SCHEMA_NAME",
            "found the name 'my sensor', expected 1 to 255 letters, digits or - _ $ # .",
        )
    ]


def test_a_definition_that_the_registry_has_refused_stays_forbidden(write: Write) -> None:
    store = SchemaStore(compared_with=ComparedWith.BOTH)
    store.create("memory/sensor", canonical_form(load_schema(make_schema(**BASE))))
    text = canonical_form(load_schema(make_schema(**BASE, a="int")))
    store.add("memory/sensor", text)
    folder = write(sensor=text)

    (found,) = make_plan(folder, use_registry(MemoryAdmin(store)), Programs()).schemas

    assert (found.state, found.number) == (State.FORBIDDEN, 2)
    assert [(each.rule, each.message) for each in found.findings] == [
        ("REFUSED_VERSION", "version 2 has this definition, and the registry has refused it")
    ]


def test_a_registry_that_compares_schemas_knows_one_written_in_another_way(write: Write) -> None:
    folder = write(sensor=make_schema(**BASE))
    version = StoredVersion("1", "r/sensor", 3, VersionStatus.AVAILABLE, make_schema(**BASE), None)
    stored = SchemaBackup("sensor", Compatibility.BACKWARD, 0, "AVRO", "", {}, (version,))
    baseline = Baseline("here", {"sensor"}, {"sensor": stored}.__getitem__)

    (found,) = make_plan(folder, baseline, Programs()).schemas

    assert (found.state, found.number, found.left) == (State.SAME, 3, 99)


def test_a_registry_without_checkpoints_compares_with_the_version_before(write: Write) -> None:
    folder = write(sensor=make_schema(**BASE, b="int"))
    versions = make_schema(**BASE), make_schema(**BASE, b="int", c="int")

    (found,) = plan_folder(folder, make_backup("b", *versions, checkpoint=0)).schemas

    assert (found.state, found.number, found.findings) == (State.CHANGED, 3, ())
    assert found.modes is not None
    assert (found.modes["BACKWARD"], found.modes["FORWARD"]) == (("previous",), ())


def test_the_mode_that_a_registry_gives_to_new_versions_counts(write: Write) -> None:
    folder = write(sensor=make_schema(**BASE, a="int"))
    store = SchemaStore()
    store.create("memory/sensor", canonical_form(load_schema(make_schema(**BASE))))
    baseline = use_registry(MemoryAdmin(store, Compatibility.FORWARD))

    (found,) = make_plan(folder, baseline, Programs()).schemas

    assert (found.state, found.mode) == (State.CHANGED, Compatibility.FORWARD)


def test_a_table_that_loses_its_key_forbids_a_version_that_the_registry_takes(
    write: Write,
) -> None:
    folder = write(sensor=make_schema(timestamp="string"))
    outputs = write_outputs(Path("consumer.json"), make_consumer(jobs=("consume",)))

    (found,) = plan_folder(folder, make_backup("b", make_schema(**BASE)), outputs).schemas

    assert found.state is State.FORBIDDEN
    assert [(each.rule, each.path, each.is_enforced) for each in found.findings] == [
        ("KEY_FIELD", "deviceId", False)
    ] * 2
    assert found.findings[0].message == (
        "lake.readings of analytics needs the field, and no record would have it"
    )


def test_the_budget_is_that_of_the_producer(write: Write) -> None:
    folder = write(pump=make_schema(**BASE), sensor=make_schema(**BASE))
    outputs = write_outputs(Path("producer.json"), make_producer())

    found = plan_folder(folder, make_backup("b", make_schema(**BASE)), outputs).schemas

    assert {each.name: each.left for each in found} == {"pump": 6, "sensor": 99}


def test_versions_that_only_a_later_one_reconciles_are_not_counted(write: Write) -> None:
    """Producers and readers refuse the second, which contradicts the first, and use the third."""
    texts, union = make_schema(**BASE, a="string"), make_schema(**BASE, a=["int", "string"])
    against = make_backup(
        "b", make_schema(**BASE, a="int"), texts, union, compatibility=Compatibility.NONE
    )

    (found,) = plan_folder(
        write(sensor=make_schema(**BASE, a=["int", "string"], c="int")), against
    ).schemas

    assert found.left == 97
