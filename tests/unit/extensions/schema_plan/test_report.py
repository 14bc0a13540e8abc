"""A plan as text, a comment, annotations, for Terraform and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.extensions.schema_plan.baseline import use_registry
from penstock.extensions.schema_plan.operation import Plan, State, make_plan
from penstock.extensions.schema_plan.report import (
    COMMENT_CHARACTERS,
    list_annotations,
    write_markdown,
    write_terraform,
)
from penstock.operations import Programs, load_programs
from penstock.registry import (
    SchemaStore,
)
from penstock.schemas import Compatibility, canonical_form, load_schema
from tests.fixtures.commands import read_json
from tests.fixtures.root_outputs import make_consumer, write_outputs
from tests.stubs.schema_stores import MemoryAdmin
from tests.unit.extensions.schema_plan.folders import (
    BASE,
    Run,
    Write,
    make_backup,
    make_exception,
    make_schema,
    plan_folder,
    run,
    write,
)

__all__ = ["run", "write"]

_COMMENT = Path(__file__).parent / "comment.md"


@pytest.fixture
def plan(write: Write) -> Plan:
    """A plan with a forbidden schema, a changed one, a new one and one that stays."""
    odd = make_schema("N", **BASE).replace('"name": "N"', '"name": "N", "doc": "<b>|*@all"')
    folder = write(
        alpha=make_schema("A", **BASE),
        fresh=odd,
        sensor=make_schema(**BASE, a=["null", "long"], defaults={"a": None}),
    )
    (folder / "broken.avsc").write_text(make_schema("B", a="int", b="int"))
    text = make_exception("KEY_FIELD", "broken.deviceId", "a | <b> for @all")
    (folder / "exceptions.toml").write_text(text)
    store = SchemaStore()
    for name, definition in (
        ("alpha", make_schema("A", **BASE)),
        ("broken", make_schema("B", a="int")),
        ("sensor", make_schema(**BASE)),
    ):
        store.create(f"memory/{name}", canonical_form(load_schema(definition)))
    values = make_consumer(jobs=("consume",))
    values["functions"] = {}
    values["clients"] = {}
    values["platform"]["brokers"]["topics"] += ["broken", "fresh"]
    outputs = write_outputs(Path("consumer.json"), values)
    return make_plan(folder, use_registry(MemoryAdmin(store)), load_programs([outputs]))


def test_a_comment_is_as_it_was(plan: Plan) -> None:
    assert write_markdown(plan) == _COMMENT.read_text()


def test_a_comment_of_problems_names_each(write: Write) -> None:
    folder = write(a="|", b="*")

    assert write_markdown(plan_folder(folder, make_backup("b", make_schema(**BASE)))).splitlines()[
        3:
    ] == [
        "files with problems: 2",
        "",
        "| file | line | problem |",
        "| --- | --- | --- |",
        "| schemas/a.avsc | 1 | the file is not JSON: Expecting value |",
        "| schemas/b.avsc | 1 | the file is not JSON: Expecting value |",
    ]


def test_a_comment_is_cut_between_schemas_and_begins_with_the_forbidden_ones(
    write: Write,
) -> None:
    fields = {f"field_{number}": "int" for number in range(100)}
    schemas = {f"s{number}": make_schema("N", **BASE, **fields) for number in range(20)}
    folder = write(**schemas, sensor=make_schema(**BASE, a="int"))
    store = SchemaStore()
    for name in [*schemas, "sensor"]:
        form = canonical_form(load_schema(make_schema("N" if name in schemas else "S", **BASE)))
        store.create(f"memory/{name}", form, Compatibility.FORWARD if name in schemas else
                     Compatibility.BACKWARD)  # fmt: skip
    plan = make_plan(folder, use_registry(MemoryAdmin(store)), Programs())

    text = write_markdown(plan)

    assert plan.count(State.CHANGED) == 20
    shown = [line for line in text.splitlines() if line.startswith("#### ")]
    assert shown[0].startswith("#### sensor: forbidden")
    assert 5 < len(shown) < 21
    assert COMMENT_CHARACTERS - 10_000 < len(text) <= COMMENT_CHARACTERS
    assert text.endswith(f"\n{21 - len(shown)} more schemas do not fit here; the log has all.\n")


def test_annotations_escape_what_github_would_read(plan: Plan) -> None:
    lines = list(list_annotations(plan))

    assert (
        "::error file=schemas/broken.avsc,line=9,title=broken::READER_FIELD_MISSING_DEFAULT_VALUE:"
        " b: the reader requires the field, which the writer does not have"
    ) in lines
    excepted = "::notice file=schemas/broken.avsc,line=1,title=broken::KEY_FIELD: deviceId"
    assert any(line.startswith(excepted) for line in lines)
    assert any(
        "title=sensor::field added: a: long (optional), default null" in line for line in lines
    )


def test_a_path_or_text_cannot_begin_another_command(
    write: Write, tmp_path: Path, run: Run
) -> None:
    folder = write(**{"a,b:c%\n::error::d": '"x"'})

    (line,) = list_annotations(plan_folder(folder, make_backup("b", make_schema(**BASE))))

    assert line == (
        "::error file=schemas/a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ad.avsc,line=1,title=schema::found "
        "the type x, expected one that a file of the folder has"
    )
    _, out, _ = run("plan", "schemas", "--against", "backup:b", "--github")
    assert [each for each in out.splitlines() if each.startswith("::")] == [line]


def test_terraform_gets_strings(plan: Plan) -> None:
    result = json.loads(write_terraform(plan))

    assert result.pop("text").endswith("nothing was registered")
    assert result == {
        "new": "fresh", "same": "alpha", "changed": "sensor", "forbidden": "broken", "removed": ""
    }  # fmt: skip


def test_json_is_as_documented(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE, a="int"), fresh=make_schema("F", **BASE))
    outputs = write_outputs(Path("consumer.json"), make_consumer(jobs=("consume",)))
    against = make_backup("b", make_schema(**BASE))
    words = ["schemas", "--against", against, "--outputs", str(outputs), "--output", "json"]

    code, out, _ = run("plan", *words)

    assert code == 3
    (found,) = read_json("schema plan", out)
    assert found["counts"] == {"new": 1, "same": 0, "changed": 0, "forbidden": 1, "removed": 0}
    described = {each["name"]: each for each in found["schemas"]}
    sensor = described["sensor"]
    modes = {each["mode"]: each["acceptedComparedWith"] for each in sensor["modes"]}
    assert (modes["FORWARD"], modes["BACKWARD"]) == (["checkpoint", "previous"], [])
    assert len(modes) == 8
    assert sensor["effects"][0]["columns"] == ["+ a int"]
    write(sensor="{")
    (found,) = read_json("schema plan", run("plan", *words)[1])
    assert [each["path"] for each in found["problems"]] == ["schemas/sensor.avsc"]


def test_a_comment_that_cannot_be_written_is_an_error(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE))
    against = make_backup("b", make_schema(**BASE))

    code, _, err = run("plan", "schemas", "--against", against, "--markdown", "no/where.md")

    problem = "penstock: no/where.md cannot be written: No such file or directory\n"
    assert (code, err) == (1, problem)
