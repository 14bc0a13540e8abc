"""Who is affected by a new version, and what each must do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.extensions.schema_plan.effects import Action, Effect, list_effects
from penstock.operations import load_programs
from penstock.schemas import Schema, merge_schemas
from tests.fixtures.root_outputs import (
    _run,
    make_consumer,
    make_producer,
    write_outputs,
)

_BASE = {"deviceId": "string", "timestamp": "string", "level": ["null", "int"]}
_TABLES = ["--lake-table", "lake.readings", "--parquet-table", "lake.readings_plain"]


def _schema(**fields: Any) -> Any:
    described = [{"name": name, "type": type_} for name, type_ in fields.items()]
    return {"type": "record", "name": "r", "fields": described}


def _affect(
    tmp_path: Path,
    name: str,
    after: Schema,
    before: Schema | None = None,
    *,
    old_readers: bool = True,
    **consumer: Any,
) -> dict[tuple[str, str], Effect]:
    files = [
        write_outputs(tmp_path / "consumer.json", make_consumer(**consumer)),
        write_outputs(tmp_path / "producer.json", make_producer()),
    ]
    merged = [] if before is None else [merge_schemas([before])]
    found = list_effects(name, after, merged, old_readers, load_programs(files))
    assert len({(each.consumer, each.program, each.table) for each in found}) == len(found)
    return {(each.program, each.table): each for each in found}


def test_each_reader_of_the_topic_is_named_with_its_tables(tmp_path: Path) -> None:
    grown = _schema(**_BASE | {"level": ["null", "long"]}, flow=["null", "double"])

    found = _affect(tmp_path, "sensor", grown, _schema(**_BASE))

    columns = ("+ flow double", "~ level int -> bigint")
    job = "the job changes the table with the first batch that needs it"
    rows = "rows have the new values as attributes"
    no_table = (
        "the job has no table for sensor: add it to `writes` before the first record; records "
        "until then are dead letters, which a replay writes"
    )
    assert found == {
        (program, table): Effect("analytics", program, table, shown, action, advice)
        for program, table, shown, action, advice in [
            ("job consume", "lake.readings", columns, Action.NONE, job),
            ("job consume", "p-readings", columns, Action.NONE, rows),
            ("function consumer", "p-readings", columns, Action.NONE, rows),
            ("function consumer-odd", "p-odd", columns, Action.NONE, rows),
            ("job routed", "", (), Action.REPLAY, no_table),
            ("job staged", "p-devices", ("~ Height int -> bigint",), Action.NONE, rows),
            ("job staged", "lake.devices", ("~ Height int -> bigint",), Action.NONE, job),
            ("job staged", "p-joined", ("~ of.Height int -> bigint",), Action.NONE, rows),
            ("client report", "", (), Action.NONE,
             "programs with any version before can read its records"),
        ]
    }  # fmt: skip


def test_a_topic_of_another_name_and_its_routes_are_followed(tmp_path: Path) -> None:
    found = _affect(tmp_path, "pump", _schema(id="long", **_BASE), old_readers=False)

    assert {key: each.action for key, each in found.items()} == {
        ("job consume", "lake.readings"): Action.NONE,
        ("job consume", "p-readings"): Action.NONE,
        ("job routed", "lake.pumps"): Action.NONE,
        ("job routed", "p-pumps"): Action.NONE,
        ("job staged", "p-runs"): Action.NEW_TABLE,
        ("job staged", "p-joined"): Action.NEW_TABLE,
        ("client report", ""): Action.RELEASE,
        ("consumer, whose outputs are not given", ""): Action.RELEASE,
    }
    assert found["job staged", "p-joined"].lost == ("seq",)
    assert found["client report", ""].advice == (
        "a program that reads all records with one version needs this one first"
    )
    assert found["consumer, whose outputs are not given", ""].consumer == "audit"
    assert found["job routed", "lake.pumps"].columns[0] == "+ id bigint"


def test_a_field_that_a_plan_names_and_records_lose_is_named(tmp_path: Path) -> None:
    found = _affect(tmp_path, "sensor", _schema(deviceId="string", flow="int"), _schema(**_BASE))

    effect = found["job staged", "lake.devices"]
    assert (effect.columns, effect.action, effect.lost) == (("- Height",), Action.NONE, ())
    assert effect.advice == "its plan names Height, of which new rows have no value"


def test_a_plan_that_chooses_none_of_the_fields_needs_another_key(tmp_path: Path) -> None:
    found = _affect(tmp_path, "sensor", _schema(flow="int"), _schema(**_BASE))

    assert found["job staged", "p-devices"].lost == ("deviceid",)
    assert found["job staged", "p-joined"].lost == ()  # a driver's row is what has the key


def test_jobs_that_outputs_describe_are_named_with_what_they_read(tmp_path: Path) -> None:
    totals = {"lake.totals": {"device": ["deviceId"], "levels": ["level"]}}
    consumer = make_consumer()
    consumer["sales"] = {
        "readers": {
            "shop-totals": {"tables": ["lake.readings"], "fields": ["level"], "writes": totals},
            "shop-json": {"topics": ["plant"], "fields": ["deviceId", "seq"]},
        }
    }
    files = [write_outputs(tmp_path / "c.json", consumer)]

    def find(name: str, **fields: Any) -> dict[str, tuple[str, str]]:
        found = list_effects(name, _schema(**fields), [], True, load_programs(files))
        return {
            each.program: (each.action, each.advice) for each in found if "shop" in each.program
        }

    assert find("sensor", **_BASE) == {"job shop-totals": ("none", "it reads level alone")}
    assert find("plant", deviceId="string") == {
        "job shop-totals": (
            "release first", "it leaves out records without level: change it first, or keep them"
        ),
        "job shop-json": (
            "release first", "it leaves out records without seq: change it first, or keep them"
        ),
    }  # fmt: skip
    assert find("other", **_BASE) == {}


@pytest.mark.parametrize("has_envelopes", [True, False])
def test_tables_of_changes_have_the_columns_of_rows(tmp_path: Path, *, has_envelopes: bool) -> None:
    words = ["--topic-pattern", "films[.].*", "--current-table", "lake.{table}"]
    words += ["--current-dynamodb-table", "p-{table}"]
    consumer = make_consumer()
    consumer["platform"]["brokers"]["topics"] += ["films.public.film"]
    consumer["films"] = {"readers": {"films": {"arguments": words}}}
    row = {"film_id": "int", "title": ["null", "string"]}

    def write(row: dict[str, Any]) -> Schema:
        if not has_envelopes:
            return _schema(**row, __op="string")
        after, source = _schema(**row), _schema(lsn="long")
        after["name"], source["name"] = "row", "source"
        return _schema(after=["null", after], op="string", source=source)

    found = list_effects(
        "films.public.film-value",
        write(row | {"rating": ["null", "string"]}),
        [merge_schemas([write(row)])],
        True,
        load_programs([write_outputs(tmp_path / "c.json", consumer)]),
    )

    changed = [each for each in found if each.program == "job films"]
    assert [(each.table, each.columns) for each in changed] == [
        ("lake.films_public_film", ("+ rating string",)),
        ("p-films_public_film", ("+ rating string",)),
    ]


def test_a_job_with_a_program_of_its_own_is_named(tmp_path: Path) -> None:
    run = _run(*_TABLES, program="own_program")

    found = _affect(tmp_path, "sensor", _schema(**_BASE), run=run)

    assert ("job consume", "lake.readings") in found


def test_nobody_reads_a_topic_without_readers(tmp_path: Path) -> None:
    assert _affect(tmp_path, "other", _schema(**_BASE)) == {}


def test_a_table_without_its_key_needs_another_one(tmp_path: Path) -> None:
    found = _affect(tmp_path, "sensor", _schema(level="int"), _schema(**_BASE))

    effect = found["job consume", "p-readings"]
    assert (effect.action, effect.lost) == (Action.NEW_TABLE, ("timestamp", "deviceId"))
    assert effect.advice == (
        "records have no timestamp, deviceId, which the table needs, and become dead letters "
        "(unroutable): keep the field, or write them to a table with another key"
    )
    assert found["function consumer", "p-readings"].lost == effect.lost
    assert found["function consumer-odd", "p-odd"].lost == ()  # its key is unknown


@pytest.mark.parametrize(
    ("flags", "lost"),
    [
        (["--key", "id,site", "--key-name", "k", "--event-time", "none"], ("site",)),
        (["--key", "gone", "--key-format", "long", "--event-time", "at"], ("at",)),
        (["--key", "id", "--sort", "line", "--sort-name", "s", "--mode", "upsert",
          "--event-time", "none", "--order", "seq"], ("seq", "line")),
        (["--route", "sensor=a", "--shapes", "a.key=gone;a.event-time=none;b.key=id"], ("gone",)),
        (["--route", "sensor=b", "--shapes", "a.key=gone;b.key=id"], ("timestamp",)),
    ],
)  # fmt: skip
def test_the_fields_that_a_row_needs_are_those_of_its_job(
    tmp_path: Path, flags: list[str], lost: tuple[str, ...]
) -> None:
    run = _run(*_TABLES, *flags)

    found = _affect(tmp_path, "sensor", _schema(id="long"), run=run)

    assert found["job consume", "lake.readings"].lost == lost


def test_plain_files_take_no_doubles_after_whole_numbers(tmp_path: Path) -> None:
    after = _schema(**_BASE | {"level": ["null", "double"]})

    found = _affect(tmp_path, "sensor", after, _schema(**_BASE), run=_run(*_TABLES))

    lake, plain = (found["job consume", f"lake.readings{end}"] for end in ("", "_plain"))
    assert lake.columns == plain.columns == ("~ level double (written again)",)
    assert (lake.action, lake.advice) == (
        Action.NONE, "the job writes the column again with its next batch"
    )  # fmt: skip
    assert (plain.action, plain.advice) == (
        Action.NEW_TABLE,
        "no reader reads whole numbers of old files as doubles, and the job would stop",
    )


def test_a_table_of_a_job_that_does_not_run_may_be_synced(tmp_path: Path) -> None:
    after = _schema(**_BASE, flow="double")
    run = _run(*_TABLES, streaming=False)

    found = _affect(tmp_path, "sensor", after, _schema(**_BASE), run=run)
    same = _affect(tmp_path, "sensor", _schema(**_BASE), _schema(**_BASE), run=run)

    effect = found["job consume", "lake.readings"]
    assert (effect.action, effect.advice) == (
        Action.SYNC,
        "its columns grow with the next run, or now with `penstock schema sync sensor`",
    )
    effect = same["job consume", "lake.readings"]
    assert (effect.action, effect.advice) == (Action.NONE, "its columns stay as they are")


def test_a_contradiction_needs_a_table_of_its_own(tmp_path: Path) -> None:
    after = _schema(**_BASE | {"level": "string"})

    effect = _affect(tmp_path, "sensor", after, _schema(**_BASE))["job consume", "lake.readings"]

    assert (effect.action, effect.advice) == (
        Action.NEW_TABLE,
        "no column holds all versions: write these records to a table of their own",
    )


def test_rules_of_quality_are_named(tmp_path: Path) -> None:
    after = _schema(deviceId="string", timestamp="string", flow="double")
    rules = {"lake.readings": {"null-shares": "Level=0.1, *=0.2", "late-share": "0.05"}}

    files = [write_outputs(tmp_path / "c.json", make_consumer(rules=rules))]
    merged = [merge_schemas([_schema(**_BASE)])]
    found = [
        each
        for each in list_effects("sensor", after, merged, True, load_programs(files))
        if each.program.startswith("quality")
    ]

    assert [(each.table, each.columns, each.action, each.advice) for each in found] == [
        ("lake.readings", ("level",), Action.NONE,
         "rows of this version have no such field, and the rule does not count them"),
        ("lake.readings", ("flow",), Action.NONE,
         "the limit of other columns, 0.2, is for the new ones too"),
    ]  # fmt: skip
