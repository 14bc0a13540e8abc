"""A staging job's settings come from flags, its configuration file, the contract, in this order."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from penstock.errors import SettingsError
from penstock.extensions.staging import StagingPlan
from penstock.extensions.staging.spark import StageSettings
from penstock.extensions.staging.spark.settings import match_topics, read_stage_settings

_ORDERS = {"name": "orders", "topics": ["cdc.ORDERS"], "key": "id", "sinks": ["dynamodb", "lake"]}
_OTHERS = {"name": "others", "topic_pattern": r"app-\d+", "key": "id"}
_FILE = {
    "registry": "memory://",
    "kafka": {"bootstrap_servers": "b-1.x:9092", "security": "plaintext"},
    "starting": "latest",
    "tables": [_ORDERS, _OTHERS],
}
_CONTRACT = {
    "region": "eu-central-1",
    "brokers": {"1": {"host": "b-9.x", "port": 9096}},
    "topics": ["sensor"],
    "group_prefix": "analytics-",
    "registry": {"name": "penstock", "role_arn": "arn:aws:iam::1:role/r", "external_id": "e"},
}
_NEEDED = {
    "--plan": "s3://b/plan.json",
    "--checkpoint": "s3://b/c",
    "--errors-table": "errors",
    "--parked-bucket": "parked",
    "--dynamodb-table": "p-{table}",
    "--lake-table": "lake.{table}",
}


def _read(flags: dict[str, str], file: Any = _FILE) -> tuple[StageSettings, StagingPlan]:
    texts = {"s3://b/plan.json": json.dumps(file), "c.json": json.dumps({"contract": _CONTRACT})}
    words = [word for flag in flags.items() for word in flag]
    return read_stage_settings(words, {}, texts.__getitem__)


def _problems(flags: dict[str, str], file: Any = _FILE) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        _read(flags, file)
    return caught.value.problems


def test_the_file_gives_what_flags_do_not() -> None:
    settings, plan = _read(_NEEDED | {"--max-offsets-per-trigger": "60"})

    assert [table.name for table in plan.tables] == ["orders", "others"]
    assert settings.kafka.bootstrap_servers == ("b-1.x:9092",)
    assert settings.read.starting == "latest"
    assert settings.read.max_offsets_per_trigger == 60
    assert settings.max_offsets_per_partition == 5_000
    assert settings.when() == {"processingTime": "10 seconds"}


def test_the_file_overrides_the_contract() -> None:
    secret = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:kafka"
    file = {name: _FILE[name] for name in ("starting", "tables")}
    flags = _NEEDED | {"--contract": "c.json", "--secret-arn": secret}

    settings, _ = _read(flags, file | {"group_prefix": "mine-"})

    assert settings.kafka.bootstrap_servers == ("b-9.x:9096",)
    assert settings.read.group_prefix == "mine-"
    assert (settings.read.topics, "cdc" in settings.read.topic_pattern) == ((), True)


def test_each_table_has_its_sinks() -> None:
    settings, plan = _read(_NEEDED)
    orders, others = map(settings.sinks_of, plan.tables)

    names = [
        [*each.chosen[kind].names.values()] for each in (orders, others) for kind in each.chosen
    ]
    assert names == [["p-orders"], ["lake.orders"], ["p-others"]]
    assert orders.shape is plan.tables[0].shape


def test_the_pattern_matches_the_topics_and_no_others() -> None:
    _, plan = _read(_NEEDED)
    matched = [
        topic
        for topic in ("cdc.ORDERS", "cdcxORDERS", "app-1", "app-", "xapp-1")
        if re.fullmatch(match_topics(plan), topic)
    ]

    assert matched == ["cdc.ORDERS", "app-1"]


def test_problems_of_flags_and_of_the_file() -> None:
    names = {"--dynamodb-table": "one", "--lake-table": ""}

    assert any("PENSTOCK_PLAN (--plan) is missing" in each for each in _problems({}))
    assert _problems(_NEEDED | names) == ("--dynamodb-table is 'one', expected {table} in it",)
    assert _problems(_NEEDED | {"--lake-table": "{table}"}) == (
        "--lake-table is '{table}', expected DATABASE.TABLE in letters, digits and _",
    )
    assert _problems(_NEEDED | {"--lake-table": ""}) == (
        "--lake-table is missing, expected names of tables: the configuration has tables in lake",
    )
    assert _problems(_NEEDED, _FILE | {"tables": []}) == (
        "$.tables: found [], expected a list of tables, at least one",
    )


def test_a_file_with_joins_needs_the_waiting_table() -> None:
    needs = {"table": "orders", "key": {"id": "order"}}
    trips = {
        "name": "trips",
        "topics": ["t"],
        "key": "id",
        "final": "done",
        "dependencies": [needs],
    }
    file = _FILE | {"tables": [_ORDERS, trips | {"final": "done"}]}

    assert _problems(_NEEDED, file) == (
        "--waiting-table is missing, expected a table: the configuration has joins",
    )
    settings, _ = _read(_NEEDED | {"--waiting-table": "w", "--retry-seconds": "60"}, file)
    tables = settings.join_tables
    assert (tables.staged, tables.waiting, tables.retry_seconds) == ("p-{table}", "w", 60)
