"""`penstock schema drift` and `sync` end with 0, 1 or 2, which a pipeline can read."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyiceberg.types import DoubleType

from penstock.cli import main
from penstock.errors import OperationError
from penstock.extensions.drift import inspection
from tests.fixtures.backups import Run, bucket, run
from tests.fixtures.commands import read_json
from tests.fixtures.lakes import Lake, lake
from tests.stubs.terminal import Terminal
from tests.stubs.unions import make_event, make_named

__all__ = ["bucket", "lake", "run"]


_PAGE = Path(__file__).parents[4] / "docs/lake.md"


def _definition(**types: Any) -> str:
    fields = [
        {"name": name, "type": ["null", type_], "default": None} for name, type_ in types.items()
    ]
    return json.dumps({"type": "record", "name": "pump", "fields": fields})


@pytest.fixture
def name(client: Callable[..., Any], bucket: str) -> str:
    """A registry with a schema of two versions, and one that contradicts it."""
    name = f"plant-{secrets.token_hex(4)}"
    glue = client("glue")
    glue.create_registry(RegistryName=name)
    for schema, definition in {
        "pump": _definition(temperature="double"),
        "valve": _definition(temperature="string"),
        "pipe": json.dumps(make_event([make_named("a.b_C"), make_named("a_b.C")])),
    }.items():
        glue.create_schema(
            RegistryId={"RegistryName": name},
            SchemaName=schema,
            DataFormat="AVRO",
            Compatibility="BACKWARD",
            SchemaDefinition=definition,
        )
    glue.register_schema_version(
        SchemaId={"RegistryName": name, "SchemaName": "pump"},
        SchemaDefinition=_definition(temperature="double", flow="long"),
    )
    return name


def test_a_table_is_compared_synced_and_compared_again(run: Run, lake: Lake) -> None:
    lake.create("pump", ("temperature", DoubleType()))
    table = ("pump", "--lake-table", lake.name("pump"))
    missing = f"{lake.name('pump')}: flow: found no column, expected bigint\n"

    assert run("drift", *table) == (
        2,
        f"iceberg {missing}glue {missing}"
        "differences: 2; footers read: 0; calls: GetObject 1, GetTable 1\n",
    )
    assert run("sync", "--plan", *table) == (
        2,
        f"{lake.name('pump')}: to change\n  iceberg {missing}  glue {missing}",
    )
    code, printed = run("sync", "--apply", "--output", "json", *table)
    ((synced,),) = [each["tables"] for each in read_json("schema sync", printed)]
    assert (code, synced["applied"], synced["left"]) == (0, True, [])
    assert lake.columns("pump") == {"temperature": "double", "flow": "bigint"}
    assert run("sync", "--apply", *table) == (0, f"{lake.name('pump')}: nothing to change\n")
    assert read_json("schema drift", run("drift", "--output", "json", *table)[1]) == [
        {
            "differences": [],
            "calls": {"GetObject": 1, "GetTable": 1},
            "files": 0,
            "filesLeft": 0,
        }
    ]
    assert run("drift", *table)[0] == 0


def test_what_was_changed_is_said_though_the_next_table_fails(
    run: Run, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = inspection._sync

    def fail(clients: object, name: str, *words: Any, **options: Any) -> object:
        if name == lake.name("b"):
            raise OperationError("the catalog refuses")
        return sync(clients, name, *words, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(inspection, "_sync", fail)
    for number, words in enumerate(((), ("--output", "json"))):
        lake.create(f"a{number}", ("temperature", DoubleType()))
        tables = ("--lake-table", lake.name(f"a{number}"), "--parquet-table", lake.name("b"))

        code, printed = run("sync", "--apply", "pump", *tables, *words)

        assert code == 1
        assert lake.name(f"a{number}") in printed


def test_differences_are_told_as_json(run: Run, lake: Lake) -> None:
    lake.create("pump", ("temperature", DoubleType()))
    table = ("pump", "--lake-table", lake.name("pump"), "--output", "json")
    found = {
        "place": f"iceberg {lake.name('pump')}",
        "column": "flow",
        "found": "no column",
        "expected": "bigint",
        "advice": "",
        "count": 1,
    }

    code, printed = run("drift", *table)
    (told,) = read_json("schema drift", printed)
    assert (code, told["differences"][0], len(told["differences"])) == (2, found, 2)
    code, printed = run("sync", "--plan", *table)
    (told,) = read_json("schema sync", printed)
    assert (code, told["tables"][0]["name"]) == (2, lake.name("pump"))
    assert (told["tables"][0]["changes"][0], told["tables"][0]["applied"]) == (found, False)


def test_a_terminal_sees_how_many_schemas_and_tables_are_done(run: Run, lake: Lake) -> None:
    lake.create("pump", ("temperature", DoubleType()))
    drawn = {}
    for words in (["drift"], ["sync", "--plan"]):
        with patch.object(sys, "stderr", Terminal()) as stderr:
            run(*words, "pump", "--lake-table", lake.name("pump"))
        drawn[words[0]] = stderr.getvalue()

    for each in drawn.values():
        assert "[####################] 100 % of 1 schemas, " in each
        assert "[####################] 100 % of 1 tables, " in each
        assert each.endswith("\r\x1b[K")
    assert "0 footers, " in drawn["drift"]


def test_the_page_shows_what_is_printed(run: Run, lake: Lake) -> None:
    lake.create("pump", ("temperature", DoubleType()), ("colour", DoubleType()))
    table = ("pump", "--lake-table", lake.name("pump"))
    section = _PAGE.read_text().partition("\n### What they print\n")[2].partition("\n### ")[0]
    shown = re.findall(
        r"```sh\npenstock schema (.*?)\n```\n\n```text\n(.*?)```", section, re.DOTALL
    )

    assert [words for words, _ in shown] == [
        "drift pump --lake-table lake.pump",
        "sync pump --lake-table lake.pump --apply",
        "sync pump --lake-table lake.pump --apply",
    ]
    for words, expected in shown:
        command, *flags = words.split()
        apply = [flag for flag in flags if flag == "--apply"]
        _, printed = run(command, *apply, *table)
        assert printed.replace(lake.database, "lake") == expected


def test_tables_of_routes_are_each_compared_with_their_schema(run: Run, lake: Lake) -> None:
    lake.create("a", ("temperature", DoubleType()))
    lake.create_files("b", {"temperature": "double"})
    tables = ("--lake-table", f"{lake.database}.{{table}}")

    code, printed = run("sync", "--apply", "--route", "pump=a,valve=b", *tables)

    assert code == 2
    assert printed.splitlines() == [
        f"{lake.name('a')}: changed",
        f"  iceberg {lake.name('a')}: flow: found no column, expected bigint",
        f"  glue {lake.name('a')}: flow: found no column, expected bigint",
        f"{lake.name('b')}: needs a decision",
        f"  glue {lake.name('b')}: temperature: found double, expected string: no column holds "
        "both types: write these records to a table of their own",
    ]


def test_a_version_whose_types_would_be_one_column_is_a_difference(run: Run, lake: Lake) -> None:
    lake.create("t", ("x", DoubleType()))

    code, printed = run("drift", "pipe", "--lake-table", lake.name("t"))

    assert code == 2
    assert printed.startswith(
        "registry pipe version 1: u: found u: the types a.b_C and a_b.C of a union would both be "
        "the column member_a_b_C, expected types with different names, expected "
    )


def test_versions_that_contradict_each_other_are_differences(run: Run, lake: Lake) -> None:
    lake.create("t", ("temperature", DoubleType()))

    code, printed = run("sync", "--plan", "pump", "valve", "--lake-table", lake.name("t"))

    assert code == 2
    said = (
        "  registry valve version 1: temperature: found temperature: double (optional) in one "
        "version and string (optional) in another, expected types that one can hold without "
        "changing a value, expected a type that agrees with the versions before it: records of "
        "this version are dead letters: register a version that agrees with the others"
    )
    assert printed.splitlines()[:2] == ["registry: needs a decision", said]
    assert f"iceberg {lake.name('t')}: flow: found no column, expected bigint" in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pump",), "found no table, expected --lake-table, --parquet-table or --dynamodb-table"),
        (("--lake-table", "a.b"), "found no schema, expected names of schemas or --route"),
        (("pump", "--lake-table", "a"), "--lake-table is 'a', expected DATABASE.TABLE"),
        (("pump", "--lake-table", "a.{table}"), "expected --route to say what {table} is"),
        (("--route", "pump=b", "--parquet-table", "a.b"), "expected {table} in it, for --route"),
        (
            ("pump", "--route", "pump=b", "--lake-table", "a.{table}"),
            "found schemas and --route, expected one of them",
        ),
        (
            ("none", "--lake-table", "a.b"),
            "schema none has no usable version, expected at least one",
        ),
        (("pump", "--lake-table", "none.b", "--dynamodb-table", "x"), "DynamoDB table x cannot"),
    ],
)
def test_errors_end_with_1(run: Run, lake: Lake, words: tuple[str, ...], said: str) -> None:
    code, printed = run("drift", *words)

    assert code == 1
    assert said in printed


def test_a_sync_needs_a_table_of_the_catalog(run: Run, lake: Lake) -> None:
    code, printed = run("sync", "--plan", "pump", "--dynamodb-table", "readings")

    assert code == 1
    assert "found no table of the Glue catalog, expected --lake-table or --parq" in printed


def test_wrong_usage_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema", "sync", "pump"], {"PENSTOCK_REGISTRY": "glue://plant"})

    assert ended.value.code == 1
    assert (
        "penstock schema sync: one of the arguments --plan --apply is required"
        in capsys.readouterr().err
    )


def test_a_missing_extra_is_named(run: Run, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [each for each in sys.modules if each.startswith("penstock.extensions.drift.")]:
        if module.endswith(("inspection", "_iceberg")):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyiceberg", None)

    code, printed = run("drift", "pump", "--lake-table", "a.b")

    assert code == 1
    assert printed.endswith(
        "found no package pyiceberg, expected the extra lake: pip install '.[lake]' in a clone\n"
    )
