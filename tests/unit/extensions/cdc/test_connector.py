"""Settings of connectors that would lose changes, and what their errors mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.extensions.cdc.connector import check_connector

_GOOD = {
    "topic.prefix": "films",
    "skipped.operations": "none",
    "heartbeat.interval.ms": "10000",
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.delete.tombstone.handling.mode": "rewrite-with-tombstone",
    "transforms.unwrap.add.fields": "op,db,schema,table,lsn,source.ts_ms,source.sequence",
}


def test_good_settings_have_no_problem() -> None:
    assert list(check_connector(_GOOD)) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"slot.drop.on.stop": True}, "slot.drop.on.stop is true, expected false"),
        ({"slot.drop.on.stop": " TRUE "}, "slot.drop.on.stop is true, expected false"),
        ({"decimal.handling.mode": "DOUBLE"}, "decimal.handling.mode is double, expected precise"),
        ({"heartbeat.interval.ms": None}, "heartbeat.interval.ms is missing, expected a number"),
        ({"skipped.operations": " NONE"}, None),
        ({"slot.drop.on.stop": False}, None),
    ],
)
def test_values_count_as_debezium_reads_them(
    changes: dict[str, object],
    problem: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "connector.json"
    path.write_text(json.dumps({**_GOOD, **changes}))

    assert main(["cdc", "check", str(path)], {}) == (2 if problem else 0)
    assert capsys.readouterr().out.startswith(problem or f"{path} is valid")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"database.server.name": "films"},
            "database.server.name is a name of earlier versions, which Debezium ignores;"
            " set topic.prefix",
        ),
        (
            {"transforms.unwrap.delete.handling.mode": "rewrite"},
            "transforms.unwrap.delete.handling.mode is a name of earlier versions, which Debezium"
            " ignores; set delete.tombstone.handling.mode=rewrite-with-tombstone",
        ),
        (
            {"skipped.operations": "t"},
            "skipped.operations is not none: a TRUNCATE would not reach the tables",
        ),
        (
            {"decimal.handling.mode": "double"},
            "decimal.handling.mode is double, expected precise or string: a double rounds",
        ),
        (
            {"slot.drop.on.stop": "true"},
            "slot.drop.on.stop is true, expected false: changes while it is stopped would be lost",
        ),
        (
            {"snapshot.select.statement.overrides": "public.film"},
            "snapshot.select.statement.overrides chooses rows, expected whole snapshots: rows that"
            " it leaves out would be deleted; conditions are for incremental snapshots",
        ),
        (
            {"heartbeat.interval.ms": "0"},
            "heartbeat.interval.ms is missing, expected a number above 0: in a database whose other"
            " tables change, the slot would keep their log for ever",
        ),
        (
            {"transforms.unwrap.delete.tombstone.handling.mode": "tombstone"},
            "transforms.unwrap.delete.tombstone.handling.mode is not rewrite-with-tombstone:"
            " a deletion would have no place in the log",
        ),
        (
            {"transforms.unwrap.add.fields": "op, table"},
            "transforms.unwrap.add.fields lacks lsn, source.ts_ms, source.sequence, which order"
            " the changes",
        ),
        (
            {"topic.creation.default.cleanup.policy": "delete,compact"},
            "topic.creation.default.cleanup.policy is delete,compact, expected delete: compaction"
            " removes the deletion of a row once its tombstone is written, and the broker refuses"
            " the record of a TRUNCATE, which has no key",
        ),
    ],
)
def test_settings_that_lose_changes_are_named(changes: dict[str, str], problem: str) -> None:
    assert list(check_connector({**_GOOD, **changes})) == [problem]


def test_the_command_prints_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "connector.json"
    file.write_text(json.dumps({"name": "films", "config": {**_GOOD, "table.whitelist": "a"}}))

    assert main(["cdc", "check", str(file)], {}) == 2
    assert "set table.include.list" in capsys.readouterr().out
    file.write_text(json.dumps(_GOOD))
    assert main(["cdc", "check", str(file)], {}) == 0
    assert capsys.readouterr().out == f"{file} is valid\n"
    file.write_text("[]")
    assert main(["cdc", "check", str(file)], {}) == 1
    assert f"{file} is no object, expected an object of settings" in capsys.readouterr().err
    file.write_text('ERROR: replication slot "films" does not exist')
    assert main(["cdc", "explain", str(file)], {}) == 0
    assert '"snapshot.mode" = "always"' in capsys.readouterr().out


def test_an_error_is_explained_by_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "status.json"
    file.write_text('{"trace": "ERROR: publication \\"films_publication\\" does not exist"}')
    assert main(["cdc", "explain", str(file), "--output", "json"], {}) == 0
    assert json.loads(capsys.readouterr().out)["reason"] == "capture-publication-missing"
    file.write_text("java.lang.NullPointerException")
    assert main(["cdc", "explain", str(file)], {}) == 2
    assert capsys.readouterr().out == f"{file} has no error that is known\n"
    assert main(["cdc", "explain", str(tmp_path)], {}) == 1
    assert "cannot be read: Is a directory" in capsys.readouterr().err
