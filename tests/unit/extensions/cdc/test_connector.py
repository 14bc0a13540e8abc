"""Settings of connectors that would lose changes, and what their errors mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.extensions.cdc.connector import check_connector, explain_failure

_GOOD = {
    "topic.prefix": "films",
    "skipped.operations": "none",
    "heartbeat.interval.ms": "10000",
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.delete.tombstone.handling.mode": "rewrite-with-tombstone",
    "transforms.unwrap.add.fields": "op,db,schema,table,lsn,source.ts_ms",
}


def test_good_settings_have_no_problem() -> None:
    assert list(check_connector(_GOOD)) == []


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
            "transforms.unwrap.add.fields lacks lsn, source.ts_ms, which order the changes",
        ),
    ],
)
def test_settings_that_lose_changes_are_named(changes: dict[str, str], problem: str) -> None:
    assert list(check_connector({**_GOOD, **changes})) == [problem]


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        ('ERROR: replication slot "films" does not exist', "the replication slot was dropped"),
        (
            "requested WAL segment 000000010000000000000001 has already been removed",
            "the database has removed the log",
        ),
        ('ERROR: publication "penstock" does not exist', "the publication is missing"),
        (
            'logical decoding requires "wal_level" >= "logical"',
            "the log has too little for logical decoding",
        ),
        (
            "must be superuser or replication role to use replication slots",
            "the user may not replicate",
        ),
        ("FATAL: all replication slots are in use", "there is no free replication slot"),
        ("password authentication failed for user", "the database rejects the password"),
    ],
)
def test_errors_of_connectors_are_explained(error: str, meaning: str) -> None:
    found = explain_failure(f'{{"trace": "org.postgresql.util.PSQLException: {error}"}}')

    assert found is not None
    assert found.startswith(meaning)
    assert explain_failure("java.lang.NullPointerException") is None


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
    assert "expected an object of settings" in capsys.readouterr().err
    file.write_text('ERROR: replication slot "films" does not exist')
    assert main(["cdc", "explain", str(file)], {}) == 0
    assert "snapshot.mode=initial" in capsys.readouterr().out
