"""What jobs/consume.py is told: by flags, else the contract, else the environment."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from unittest.mock import Mock

import pytest

from penstock.contract import contract_environ
from penstock.errors import SettingsError
from penstock.kafka import Security
from penstock.records import Mode, RowShape, Tombstone
from penstock.spark import ConsumeSettings
from penstock.spark.decoding.jar import CATALOG_CLASS
from penstock.spark.query.source import open_stream, source_options
from penstock.spark.settings.consume import (
    LostOffsets,
    Starting,
    StartingOffsets,
    read_settings,
)

_ROLE = "arn:aws:iam::111111111111:role/reader"
_SECRET = "arn:aws:secretsmanager:eu-central-1:222222222222:secret:AmazonMSK_a-AbCdEf"
_CONTRACT = {
    "region": "eu-central-1",
    "brokers": {"1": {"host": "b-1.x", "port": 9096}, "2": {"host": "b-2.x", "port": 9096}},
    "topics": ["sensor", "orders"],
    "group_prefix": "analytics-",
    "registry": {"name": "penstock", "role_arn": _ROLE, "external_id": "a b"},
}
_NEEDED = {
    "--checkpoint": "s3://b/c",
    "--errors-table": "errors",
    "--parked-bucket": "parked",
    "--dynamodb-table": "readings",
}
_OPEN = {
    "--bootstrap-servers": "b-1.x:9092",
    "--security": "plaintext",
    "--registry": "memory://",
    "--topics": "sensor",
}


def _read(flags: dict[str, str], environ: dict[str, str] | None = None) -> ConsumeSettings:
    contract = json.dumps({"contract": _CONTRACT})
    words = [word for flag in flags.items() for word in flag]
    return read_settings(ConsumeSettings, words, environ or {}, {"c.json": contract}.__getitem__)


def _problems(flags: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        _read(flags)
    return caught.value.problems


def test_a_contract_completes_the_flags() -> None:
    settings = _read(_NEEDED | {"--contract": "c.json", "--secret-arn": _SECRET})

    assert settings.kafka.bootstrap_servers == ("b-1.x:9096", "b-2.x:9096")
    assert settings.kafka.security is Security.SCRAM
    assert settings.read.topics == ("sensor", "orders")
    assert settings.read.group_prefix == "analytics-"
    assert settings.schemas.registry == (
        "glue://penstock?region=eu-central-1"
        "&role_arn=arn%3Aaws%3Aiam%3A%3A111111111111%3Arole%2Freader&external_id=a+b"
    )
    assert "a+b" not in repr(settings)


def test_a_contract_with_a_program_for_jobs_has_its_topics_and_groups() -> None:
    jobs = {"group_prefix": "analytics-jobs-", "topics": ["sensor"]}
    audit = {"group_prefix": "analytics-audit-", "topics": ["orders"]}
    contract = {**_CONTRACT, "programs": {"audit": audit, "jobs": jobs}}

    environ = contract_environ(json.dumps({"contract": contract}))

    assert environ["PENSTOCK_GROUP_PREFIX"] == "analytics-jobs-"
    assert environ["PENSTOCK_TOPICS"] == "sensor"


def test_a_contract_names_registries_besides_glue() -> None:
    other = "confluent+https://schemas.example.com?secret=arn%3Aaws%3Asecretsmanager"
    contract = {**_CONTRACT, "registries": [{"url": other, "port": 443}]}

    environ = contract_environ(json.dumps({"contract": contract}))

    glue = contract_environ(json.dumps({"contract": _CONTRACT}))["PENSTOCK_REGISTRY"]
    assert environ["PENSTOCK_REGISTRY"] == f"{glue} {other}"


def test_a_contract_names_topics_without_frames() -> None:
    keys = {"raw": "confluent:17", "sensor": "0a1b2c3d-0000-4000-8000-000000000000"}
    contract = {**_CONTRACT, "unframed": keys}
    flags = _NEEDED | {"--contract": "c.json", "--secret-arn": _SECRET}
    words = [word for flag in flags.items() for word in flag]

    settings = read_settings(
        ConsumeSettings, words, {}, lambda _: json.dumps({"contract": contract})
    )

    assert {topic: str(key) for topic, key in settings.schemas.unframed} == keys


def test_flags_override_the_contract_which_overrides_the_environment() -> None:
    flags = _NEEDED | {"--secret-arn": _SECRET, "--topics": "other"}
    environ = {"PENSTOCK_CONTRACT": "c.json", "PENSTOCK_GROUP_PREFIX": "x-"}

    settings = _read(flags, environ)

    assert (settings.read.topics, settings.read.group_prefix) == (("other",), "analytics-")


def test_a_pattern_replaces_the_topics_of_the_contract() -> None:
    flags = {"--contract": "c.json", "--secret-arn": _SECRET, "--topic-pattern": "s.*"}

    settings = _read(_NEEDED | flags)

    assert (settings.read.topics, settings.read.topic_pattern) == ((), "s.*")


def test_all_flags() -> None:
    settings = _read(
        _NEEDED
        | _OPEN
        | {
            "--starting": "2026-11-21T08:00:00+00:00",
            "--max-offsets-per-trigger": "60",
            "--on-lost-offsets": "go-on",
            "--trigger": "available-now",
            "--lake-table": "lake.readings",
            "--parquet-path": "s3://b/p",
            "--event-time": "at",
            "--dynamodb-rows-per-second": "2.5",
        }
    )

    assert settings.read.starting == datetime(2026, 11, 21, 8, tzinfo=UTC)
    assert settings.read.max_offsets_per_trigger == 60
    assert settings.read.on_lost_offsets is LostOffsets.GO_ON
    assert settings.when() == {"availableNow": True}
    assert settings.sinks.shape.event_time == "at"
    assert settings.sinks.sinks["dynamodb"].dynamodb_rows_per_second == 2.5


def test_defaults() -> None:
    settings = _read(_NEEDED | _OPEN)

    assert settings.read.starting is Starting.EARLIEST
    assert settings.read.max_offsets_per_trigger == 1_000_000
    assert settings.read.on_lost_offsets is LostOffsets.STOP
    assert settings.when() == {"processingTime": "10 seconds"}


def test_a_batch_may_have_no_limit() -> None:
    settings = _read(_NEEDED | _OPEN | {"--max-offsets-per-trigger": "none"})

    assert settings.read.max_offsets_per_trigger is None
    assert "maxOffsetsPerTrigger" not in source_options(settings.kafka, settings.read)


@pytest.mark.parametrize(
    ("flag", "text", "problem"),
    [
        ("--trigger", "often", "an interval like '30 seconds'"),
        ("--trigger", "0 seconds", "an interval like '30 seconds'"),
        ("--starting", "2026-11-21T08:00:00", "a time like 2026-11-21T08:00:00+00:00"),
        ("--starting", "soon", "earliest, latest, a time"),
        ("--topics", "a b", "topics, separated by commas"),
        ("--topic-pattern", "(", "a regular expression"),
        ("--max-offsets-per-trigger", "0", "a number from 1"),
        ("--dynamodb-rows-per-second", "0", "a number above 0"),
        ("--dynamodb-rows-per-second", "inf", "a number above 0"),
        ("--on-lost-offsets", "ignore", "stop, or go-on"),
        ("--route", "sensor", "schema-name=table, separated by commas"),
        ("--route", "sensor=a b", "schema-name=table"),
        ("--route", "sensor=a,sensor=b", "each name and each table once"),
        ("--route", "sensor=a,order=a", "each name and each table once"),
    ],
)
def test_invalid_values_are_named(flag: str, text: str, problem: str) -> None:
    (found, *_) = _problems(_NEEDED | _OPEN | {flag: text})

    assert found.startswith(f"{flag} is {text!r}, expected ")
    assert problem in found


def test_missing_settings_are_named() -> None:
    without = {k: v for k, v in (_NEEDED | _OPEN).items() if k not in {"--topics", "--registry"}}

    found = _problems({k: v for k, v in without.items() if k != "--dynamodb-table"})

    assert found == (
        "PENSTOCK_TOPICS (--topics) is missing, expected topics or --topic-pattern",
        "PENSTOCK_REGISTRY (--registry) is missing, expected URL of the schema registry,"
        " such as glue://NAME?role_arn=...&external_id=..., or URLs separated by spaces,"
        " one for each kind of frames",
        "found no sink, expected --dynamodb-table, --lake-table or --parquet-path",
    )


def test_routes_fill_in_the_tables() -> None:
    settings = _read(
        _NEEDED
        | _OPEN
        | {
            "--route": "sensor=readings, my.order=orders",
            "--dynamodb-table": "penstock-{table}",
            "--lake-table": "lake.{table}",
            "--parquet-path": "s3://b/{table}/plain",
        }
    )

    sinks = settings.sinks.by_schema()

    assert [
        (name, *(kind.names[flag] for kind in each.sinks.values() for flag in kind.names))
        for name, each in sinks.items()
    ] == [
        ("sensor", "penstock-readings", "lake.readings", "s3://b/readings/plain", ""),
        ("my.order", "penstock-orders", "lake.orders", "s3://b/orders/plain", ""),
    ]
    assert sinks["sensor"].errors_table == "errors"


def test_a_table_of_a_route_can_have_a_shape_of_its_own() -> None:
    routes = _NEEDED | _OPEN | {
        "--route": "sensor=readings,order=orders",
        "--dynamodb-table": "penstock-{table}",
        "--event-time": "at",
    }  # fmt: skip
    shapes = (
        "orders.key=site,orderId; orders.key-name=order;orders.event-time=none;orders.mode=upsert;"
        "orders.sort-name=none"
    )

    sinks = _read(routes | {"--shapes": shapes}).sinks.by_schema()

    assert sinks["sensor"].shape == RowShape(event_time="at")
    assert sinks["order"].shape == RowShape(
        ("site", "orderId"), "order", sort_name=None, event_time=None, mode=Mode.UPSERT
    )
    for wrong in ("orders", "orders.colour=red", "orders.mode=other", "orders.sort=a", ";"):
        (problem,) = _problems(routes | {"--shapes": wrong})
        assert problem.startswith(f"--shapes is {wrong!r}, expected the shapes of tables of --rou")
    assert _problems(routes | {"--shapes": "refunds.key=id"}) == (
        "--shapes has the table 'refunds', expected one that --route names",
    )
    assert _problems(
        routes | {"--shapes": "orders.mode=upsert;orders.sort-name=none;orders.tombstone=delete"}
    ) == (
        "--tombstone is delete, expected ignore: Spark's jobs delete rows of one DynamoDB table"
        " without --route; a tombstone names no schema",
    )


def test_tombstones_delete_rows_of_one_dynamodb_table() -> None:
    deleting = {"--mode": "upsert", "--sort-name": "none", "--tombstone": "delete"}
    lake = _NEEDED | _OPEN | deleting | {"--dynamodb-table": "", "--lake-table": "lake.readings"}

    settings = _read(_NEEDED | _OPEN | deleting)

    assert settings.sinks.shape.tombstone is Tombstone.DELETE
    assert _problems(lake) == (
        "--tombstone is delete, expected ignore: Spark's jobs delete rows of one DynamoDB table"
        " without --route; a tombstone names no schema",
    )
    assert _problems(_NEEDED | _OPEN | deleting | {"--tombstone": "dead-letter"}) == (
        "--tombstone is dead-letter, expected ignore or delete: Spark's jobs write no dead letters"
        " for tombstones",
    )


def test_routes_and_sink_names_that_do_not_match() -> None:
    assert _problems(_NEEDED | _OPEN | {"--lake-table": "lake.{table}"}) == (
        "--lake-table is 'lake.{table}', expected --route to say what {table} is",
    )
    assert _problems(
        _NEEDED | _OPEN | {"--route": "sensor=readings", "--parquet-path": "s3://b/{table}"}
    ) == ("--dynamodb-table is 'readings', expected {table} in it, for --route to fill in",)


@pytest.mark.parametrize("name", ["readings", "lake.db.readings", "db.", "my-db.readings"])
def test_a_lake_table_has_one_database(name: str) -> None:
    assert _problems(_NEEDED | _OPEN | {"--lake-table": name}) == (
        f"--lake-table is {name!r}, expected DATABASE.TABLE in letters, digits and _",
    )


def test_topics_and_a_pattern() -> None:
    assert _problems(_NEEDED | _OPEN | {"--topic-pattern": "s.*"}) == (
        "--topics and --topic-pattern are both given, expected one of them",
    )


def test_the_source() -> None:
    settings = _read(_NEEDED | _OPEN)

    assert source_options(settings.kafka, settings.read) == {
        "kafka.bootstrap.servers": "b-1.x:9092",
        "kafka.client.id": "penstock",
        "kafka.connections.max.idle.ms": "300000",
        "kafka.security.protocol": "PLAINTEXT",
        "maxOffsetsPerTrigger": "1000000",
        "subscribe": "sensor",
        "startingOffsets": "earliest",
        "fetchOffset.retryIntervalMs": "5000",
        "groupIdPrefix": "penstock-spark",
        "kafka.isolation.level": "read_committed",
        "kafka.max.poll.records": "5000",
        "kafka.fetch.max.wait.ms": "10",
        "includeHeaders": "true",
        "failOnDataLoss": "false",
    }


@pytest.mark.parametrize(
    ("policy", "given", "expected"),
    [("stop", {}, "true"), ("go-on", {}, "false"), ("stop", {"may_stop": False}, "false")],
)
def test_spark_itself_stops_a_query_of_ones_own_that_lost_records(
    policy: str, given: dict[str, bool], expected: str
) -> None:
    settings = _read(_NEEDED | _OPEN | {"--on-lost-offsets": policy})
    spark = Mock(**{"conf.get.return_value": CATALOG_CLASS})  # which has the jar

    open_stream(spark, settings.kafka, settings.read, **given)

    options = spark.readStream.format.return_value.options.call_args.kwargs
    assert options["failOnDataLoss"] == expected


def test_a_source_begins_at_offsets() -> None:
    text = '{"sensor": {"0": 12, "1": -1}}'
    settings = _read(_NEEDED | _OPEN | {"--starting": text})
    starting = settings.read.starting

    assert starting == StartingOffsets((("sensor", 0, 12), ("sensor", 1, -1)))
    assert source_options(settings.kafka, settings.read)["startingOffsets"] == text
    assert str(starting.complete({"sensor": {0, 1, 2}, "new": {0}})) == (
        '{"sensor": {"0": 12, "1": -1, "2": -2}, "new": {"0": -2}}'
    )
    with pytest.raises(SettingsError, match=r"--starting has an offset for sensor/1, expected"):
        starting.complete({"sensor": {0}})


@pytest.mark.parametrize(
    "text", ["{", '{"t": 1}', '{"t": {"x": 1}}', '{"t": {"0": -3}}', '{"t": {"0": 1, "0": 2}}']
)
def test_invalid_offsets_are_named(text: str) -> None:
    (problem,) = _problems(_NEEDED | _OPEN | {"--starting": text})

    assert problem.startswith(f"--starting is {text!r}, expected position at which")


def test_a_source_by_pattern_time_and_limit() -> None:
    settings = _read(
        _NEEDED
        | {flag: text for flag, text in _OPEN.items() if flag != "--topics"}
        | {
            "--topic-pattern": "s.*",
            "--starting": "2026-11-21T08:00:00.250+00:00",
            "--max-offsets-per-trigger": "60",
        }
    )

    options = source_options(settings.kafka, settings.read)

    assert options["subscribePattern"] == "s.*"
    assert options["startingTimestamp"] == "1795248000250"
    assert options["startingOffsetsByTimestampStrategy"] == "latest"
    assert options["maxOffsetsPerTrigger"] == "60"
    assert not {"subscribe", "startingOffsets"} & options.keys()


def test_a_glue_table_of_plain_files_needs_a_database_and_files_on_s3() -> None:
    given = {"--parquet-path": "/data/p", "--parquet-table": "Readings"}

    assert _problems(_NEEDED | _OPEN | given) == (
        "--parquet-table is 'Readings', expected DATABASE.TABLE in lower case, digits and _",
        "--parquet-path is '/data/p', expected s3://... for --parquet-table",
    )


def test_a_route_fills_in_the_glue_table_of_plain_files() -> None:
    names = {
        "--dynamodb-table": "penstock-{table}",
        "--parquet-path": "s3://b/{table}",
        "--parquet-table": "lake.{table}_plain",
    }
    settings = _read(_NEEDED | _OPEN | {"--route": "sensor=readings"} | names)

    (sinks,) = settings.sinks.by_schema().values()
    assert sinks.sinks["parquet"].names == {
        "--parquet-path": "s3://b/readings",
        "--parquet-table": "lake.readings_plain",
    }
