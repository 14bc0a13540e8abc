"""`penstock schema plan` and `apply`: exit codes, what is compared, and exceptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli import main
from penstock.extensions.schema_plan import command
from penstock.extensions.schema_plan.baseline import use_registry
from penstock.extensions.schema_plan.operation import apply_plan, make_plan
from penstock.operations import Programs
from penstock.registry import (
    SchemaStore,
)
from penstock.schemas import Schema, canonical_form, load_schema
from tests.stubs.schema_stores import MemoryAdmin
from tests.unit.extensions.schema_plan.folders import (
    BASE,
    Run,
    Write,
    commit,
    make_backup,
    make_exception,
    make_schema,
    run,
    write,
)

__all__ = ["run", "write"]


def test_each_exit_code_says_what_a_plan_found(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE))
    against = ("--against", make_backup("b.jsonl", make_schema(**BASE)))

    assert run("plan", "schemas", *against) == (
        0, "same: 1; compared with b.jsonl; nothing was registered\n", ""
    )  # fmt: skip
    write(sensor=make_schema(**BASE, defaults={"a": 1}, a="int"))
    assert run("plan", "schemas", *against)[0] == 2
    assert run("plan", "schemas", *against, "--fail-on", "forbidden")[0] == 0
    write(sensor=make_schema(**BASE, a="int"))
    assert run("plan", "schemas", *against)[0] == 3
    assert run("plan", "schemas", *against, "--fail-on", "forbidden")[0] == 3
    assert run("plan", "schemas", *against, "--fail-on", "error")[0] == 0
    write(sensor="{")
    code, out, err = run("plan", "schemas", *against, "--fail-on", "error")
    assert (code, err) == (1, "")
    assert out == (
        "schemas/sensor.avsc, line 1: the file is not JSON: Expecting property name enclosed in "
        "double quotes\nfiles with problems: 1\n"
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["schemas"], "found nothing to compare with, expected --against, --registry or "
         "PENSTOCK_REGISTRY"),
        (["nowhere"], "nowhere is no folder, expected one with .avsc files"),
        (["nowhere", "--against", "git:HEAD"], "nowhere is no folder, expected one with .avsc"),
        (["nowhere", "--against", "backup:none"], "nowhere is no folder, expected one with .avsc"),
        (["schemas", "--against", "git:HEAD"], "schemas is in no git repository"),
        (["schemas", "--against", "ftp://x"], "registry URL begins with 'ftp', expected one of"),
        (["schemas", "--against", "backup:none"], "none cannot be read: No such file"),
        (["schemas", "--against", "backup:"], "found '' as the place of a file, expected a path"),
        (["schemas", "--against", "git:"], "found git: without a commit, expected git:REF, such"),
        (["schemas", "--against", "backup:b"], "found no schema below schemas, expected .avsc"),
        (["schemas", "--against", "backup:b", "--outputs", "o"], "o cannot be read: No such file"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_sentence(
    write: Write, run: Run, words: list[str], problem: str
) -> None:
    write()
    make_backup("b", make_schema(**BASE))

    code, out, err = run("plan", *words)

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"penstock: {problem}")


def test_wrong_usage_is_an_error(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["schema", "plan", "schemas", "--mode", "BACKWARDS"], {})

    assert caught.value.code == 1
    assert "found 'BACKWARDS', expected a mode such as BACKWARD" in capsys.readouterr().err


def test_a_commit_of_git_is_one_version_without_number(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE), gone=make_schema("G", a="int"))
    commit()
    Path("schemas/gone.avsc").unlink()
    write(sensor=make_schema(**BASE, a="int"), fresh=make_schema("F", a="int"))

    code, out, _ = run("plan", "schemas", "--against", "git:HEAD", "--mode", "FORWARD")

    assert code == 2
    assert out.splitlines() == [
        "fresh: new, mode FORWARD",
        "sensor: changed, mode FORWARD",
        "  schemas/sensor.avsc:13: field added: a: int",
        "  accepted by the modes NONE, FORWARD, FORWARD_ALL",
        "gone: removed: no file has it any more; a registry keeps its versions",
        "new: 1, changed: 1, removed: 1; compared with git:HEAD; nothing was registered",
    ]
    assert run("plan", "schemas", "--against", "git:HEAD")[0] == 3  # BACKWARD


def test_a_commit_whose_files_are_wrong_is_an_error(write: Write, run: Run) -> None:
    write(sensor="{")
    commit()
    write(sensor=make_schema(**BASE))

    code, _, err = run("plan", "schemas", "--against", "git:HEAD")

    assert code == 1
    assert err.startswith(
        "penstock: the files of HEAD cannot be used: HEAD:schemas/sensor.avsc, line 1: the file is "
        "not JSON"
    )


def test_a_mode_may_be_assumed(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE, a="int"))
    against = ("--against", make_backup("b", make_schema(**BASE)))

    assert run("plan", "schemas", *against, "--mode", "FORWARD")[0] == 2
    assert run("plan", "schemas", *against)[0] == 3


def test_an_exception_accepts_a_finding_with_its_reason(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE))
    commit()
    write(sensor=make_schema(**BASE, a="int"))
    rule = "READER_FIELD_MISSING_DEFAULT_VALUE"
    text = make_exception(rule, "sensor.a") + make_exception("KEY_FIELD", "sensor")
    Path("schemas/exceptions.toml").write_text(text)

    code, out, _ = run("plan", "schemas", "--against", "git:HEAD")

    assert code == 2
    assert (
        f"  schemas/sensor.avsc:13: {rule}: a: the reader requires the field, which the writer "
        "does not have; excepted: we know\n"
    ) in out
    assert "exception KEY_FIELD of sensor: not needed, remove it\n" in out


def test_an_exception_does_not_help_against_the_registry(write: Write, run: Run) -> None:
    write(sensor=make_schema(**BASE, a="int"))
    text = make_exception("READER_FIELD_MISSING_DEFAULT_VALUE", "sensor.a")
    Path("schemas/exceptions.toml").write_text(text)

    code, out, _ = run("plan", "schemas", "--against", make_backup("b", make_schema(**BASE)))

    assert code == 3
    assert "; the exception does not help, since the registry refuses it\n" in out


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "schemas/exceptions.toml has x, expected only [[exception]]"),
        ("[exception]", "schemas/exceptions.toml has exception, expected only [[exception]]"),
        (
            "[[exception]]\nrule = 'A'\npath = 'b'",
            "schemas/exceptions.toml, exception 1: found "
            "{'rule': 'A', 'path': 'b'}, expected rule, path and because, each a text that is not "
            "empty",
        ),
        (make_exception("A", "b") + "until = 1", "schemas/exceptions.toml, exception 1: found "),
        (make_exception("A", "b", " "), "schemas/exceptions.toml, exception 1: found "),
        ("x", "schemas/exceptions.toml is not TOML: Expected "),
    ],
)
def test_exceptions_that_cannot_be_used_are_named(
    write: Write, run: Run, text: str, problem: str
) -> None:
    write(sensor=make_schema(**BASE))
    Path("schemas/exceptions.toml").write_text(text)

    code, _, err = run("plan", "schemas", "--against", make_backup("b", make_schema(**BASE)))

    assert code == 1
    assert err.startswith(f"penstock: {problem}")


@pytest.mark.parametrize(
    ("output", "said"), [("text", "a: registered version 1, "), ("json", '{"name": "a", "ver')]
)
def test_an_apply_that_is_interrupted_says_what_it_registered(
    write: Write, run: Run, monkeypatch: pytest.MonkeyPatch, output: str, said: str
) -> None:
    write(a=make_schema("A", **BASE), b=make_schema("B", **BASE))
    admin = MemoryAdmin(SchemaStore())
    register = admin.register

    def interrupt(name: str, schema: Schema) -> object:
        if name == "b":
            raise KeyboardInterrupt
        return register(name, schema)

    monkeypatch.setattr(admin, "register", interrupt)
    monkeypatch.setattr(command, "load_registry", lambda _: admin)
    monkeypatch.setattr(command, "load_baseline", lambda *_: use_registry(admin))

    code, out, _ = run("apply", "schemas", "--registry", "glue://plant", "--output", output)

    assert code == 130
    assert said in out


def test_apply_registers_nothing_if_one_schema_is_forbidden(write: Write) -> None:
    folder = write(sensor=make_schema(**BASE, a="int"), fresh=make_schema("F", **BASE))
    store = SchemaStore()
    store.create("memory/sensor", canonical_form(load_schema(make_schema(**BASE))))
    admin = MemoryAdmin(store)
    plan = make_plan(folder, use_registry(admin), Programs())

    with pytest.raises(Exception, match="nothing was registered, since the plan refuses sensor"):
        list(apply_plan(plan, admin))
    assert admin.writes == 0


def test_apply_ends_with_the_first_schema_that_is_refused(write: Write) -> None:
    folder = write(
        a=make_schema("A", **BASE), b=make_schema("B", **BASE), c=make_schema("C", **BASE)
    )
    store = SchemaStore()
    plan = make_plan(folder, use_registry(MemoryAdmin(store)), Programs())
    # Another program is faster.
    store.create("memory/b", canonical_form(load_schema(make_schema("B", a="int"))))

    applied = list(apply_plan(plan, MemoryAdmin(store)))

    assert [(each.name, each.number, bool(each.error)) for each in applied] == [
        ("a", 1, False), ("b", None, True),
    ]  # fmt: skip
    assert "memory/c" not in store._schemas
