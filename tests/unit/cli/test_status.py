"""`penstock status` counts what is open in an account, whatever cannot be counted."""

from __future__ import annotations

import dataclasses
import json
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from localcloud.cloud import Cloud
from penstock.cli import main
from penstock.errors import Failure, Reason
from penstock.operations import status
from penstock.producing import RejectedEvent, RejectedEvents
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import JOIN, DynamoDbClient, ErrorTable, ObjectStore
from systems.error_tables import make_error_table
from tests.fixtures.commands import read_json
from tests.fixtures.rejected import REGION, bucket

__all__ = ["bucket"]

_EVENT = RejectedEvent(
    event={"temperature": "warm"},
    base={},
    timestamp=1_795_234_015_788,
    reason="SchemaConflictError",
    detail="temperature: found text",
    rule="",
    diff=(),
    function="penstock-producer",
    request_id="r-1",
    index=0,
)

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def errors(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A dead-letter table without rows."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "111111111111")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_REGION", REGION)
    database = boto3.Session(region_name=REGION).resource("dynamodb")
    table = make_error_table(database, f"e-{secrets.token_hex(4)}")
    yield table.name
    table.delete()


@pytest.fixture
def registry(client: Callable[..., Any], errors: str) -> str:
    """A registry whose schema has two versions."""
    glue, name = client("glue"), f"r-{secrets.token_hex(4)}"
    glue.create_registry(RegistryName=name)
    schema = {"RegistryName": name, "SchemaName": "sensor"}
    texts = [
        json.dumps({"type": "record", "name": "sensor", "fields": fields})
        for fields in ([], [{"name": "t", "type": ["null", "long"], "default": None}])
    ]
    glue.create_schema(
        RegistryId={"RegistryName": name},
        SchemaName="sensor",
        DataFormat="AVRO",
        Compatibility="NONE",
        SchemaDefinition=texts[0],
    )
    glue.register_schema_version(SchemaId=schema, SchemaDefinition=texts[1])
    return f"glue://{name}?region={REGION}"


@pytest.fixture
def run(
    bucket: str, errors: str, registry: str, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run the command in an account with a bucket, a table and a producer."""
    producers = {"penstock-producer": ["sensor", 10, 2], "penstock-fixed": None}
    environ = {
        "PENSTOCK_REJECTED_BUCKET": bucket,
        "PENSTOCK_STATUS_PRODUCERS": json.dumps({registry: producers}),
        "PENSTOCK_STATUS_TABLES": errors,
    }

    def run(*words: str, **changes: str) -> tuple[int, str]:
        code = main(["status", *words], environ | changes)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def _give_up(
    table: str, *stages: str, reason: Reason = Reason.TRUNCATED, seconds: int = 7_300
) -> None:
    first_ms = int(time.time() - seconds) * 1_000
    failed = [
        FailedRecord(
            Record(Source("sensor", 0, offset), None, b"v", (), first_ms),
            Failure(reason, "cut off"),
            None,
            stage,
            first_ms,
        )
        for offset, stage in enumerate(stages)
    ]
    client = DynamoDbClient()
    ErrorTable(client, table, ObjectStore("")).keep_rows(failed)
    client.close()


def test_what_is_open_is_counted(run: Run, bucket: str, errors: str) -> None:
    RejectedEvents(bucket).keep([_EVENT, dataclasses.replace(_EVENT, function="removed")], {})
    _give_up(errors, "lambda", "spark", "spark", JOIN)

    code, text = run()

    assert (code, text.splitlines()) == (
        0,
        [
            "penstock-fixed: 0 kept events",
            "penstock-producer: 1 kept events",
            "removed: 1 kept events",
            f"{errors}: 3 open dead letters, the oldest of 2 hours ago, 1 wait for a row of a join",
            "  truncated: 3",
            "penstock-producer, schema sensor: 8 of 10 versions left",
        ],
    )
    (told,) = read_json("status", run("--output", "json")[1])
    assert told["keptEvents"][1] == {
        "producer": "penstock-producer",
        "events": 1,
        "isComplete": True,
        "problem": None,
    }
    (letters,) = told["deadLetterTables"]
    assert letters.pop("oldestSeconds") >= 7_300
    assert letters == {
        "table": errors,
        "open": 3,
        "reasons": {"truncated": 3},
        "waiting": 1,
        "isComplete": True,
        "problem": None,
    }
    assert told["versionsLeft"] == [
        {
            "producer": "penstock-producer",
            "schema": "sensor",
            "budget": 10,
            "few": 2,
            "left": 8,
            "problem": None,
        }
    ]


def test_a_lease_and_what_is_settled_are_no_open_dead_letters(run: Run, errors: str) -> None:
    _give_up(errors, "spark")
    client = DynamoDbClient()
    table = ErrorTable(client, errors, ObjectStore(""))
    rows = boto3.Session(region_name=REGION).resource("dynamodb").Table(errors)
    (row,) = rows.scan()["Items"]
    assert table.mark_done(row["id"], "replay")
    client.close()
    rows.put_item(Item={"id": "lease/consume", "holder": "me"})

    assert f"{errors}: 0 open dead letters\n" in run()[1]


@pytest.mark.parametrize("opened", ["event", "letter", "versions", None])
def test_what_is_open_fails_the_command_if_it_is_told_so(
    run: Run, bucket: str, errors: str, registry: str, opened: str | None
) -> None:
    changes = {}
    if opened == "event":
        RejectedEvents(bucket).keep([_EVENT], {})
    elif opened == "letter":
        _give_up(errors, "lambda")
    elif opened == "versions":
        producers = {"penstock-producer": ["sensor", 3, 2]}
        changes["PENSTOCK_STATUS_PRODUCERS"] = json.dumps({registry: producers})
    else:
        _give_up(errors, JOIN)  # it waits, as it should

    assert run(**changes)[0] == 0
    assert run("--fail", **changes)[0] == (1 if opened else 0)


def test_long_versions_leave_no_larger_share_than_their_characters_do(
    run: Run, registry: str, client: Callable[..., Any]
) -> None:
    """Under the policy grow the next version is as long; under exact it may be short."""
    fields = [{"name": f"field{at:05}", "type": ["null", "long"]} for at in range(3_000)]
    text = json.dumps({"type": "record", "name": "sensor", "fields": fields}, separators=(",", ":"))
    assert 130_000 < len(text) < 136_000  # of 170,000
    name = registry.removeprefix("glue://").partition("?")[0]
    schema = {"RegistryName": name, "SchemaName": "sensor"}
    client("glue").register_schema_version(SchemaId=schema, SchemaDefinition=text)

    for grows, left in ((True, 2), (False, 7)):
        producers = {"penstock-producer": ["sensor", 10, 2, grows]}
        said = run(PENSTOCK_STATUS_PRODUCERS=json.dumps({registry: producers}))[1]
        assert f"penstock-producer, schema sensor: {left} of 10 versions left\n" in said


def test_a_count_stops_at_its_limit_and_says_so(run: Run, bucket: str, errors: str) -> None:
    events = [dataclasses.replace(_EVENT, index=index) for index in range(3)]
    RejectedEvents(bucket).keep(events, {})
    _give_up(errors, *["spark"] * 3)

    with patch.object(status, "MOST_COUNTED", 2):
        text = run()[1]

    assert "penstock-producer: 2 or more kept events\n" in text
    assert f"{errors}: 2 or more open dead letters, " in text


def test_what_cannot_be_counted_is_an_error_and_the_rest_is_counted(run: Run, errors: str) -> None:
    code, text = run(PENSTOCK_REJECTED_BUCKET="absent", PENSTOCK_STATUS_TABLES=f"absent, {errors}")

    assert code == 1
    lines = text.splitlines()
    assert lines[0].startswith("penstock-fixed: s3://absent/ cannot be listed: ")
    assert lines[2].startswith("absent: DynamoDB's Query was refused: ResourceNotFoundException")
    assert lines[3] == f"{errors}: 0 open dead letters"
    assert lines[4] == "penstock-producer, schema sensor: 8 of 10 versions left"


def test_a_schema_that_is_not_there_yet_has_all_versions_left_but_not_without_its_registry(
    run: Run, registry: str
) -> None:
    def count(url: str) -> tuple[int, str]:
        producers = {"penstock-producer": ["order", 10, 2]}
        return run(PENSTOCK_STATUS_PRODUCERS=json.dumps({url: producers}))

    there, absent = count(registry), count(f"glue://absent?region={REGION}")

    assert (there[0], absent[0]) == (0, 1)
    assert there[1].endswith("schema order: 10 of 10 versions left\n")
    assert "schema order: glue://absent" in absent[1] and "Registry is not found" in absent[1]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            dict.fromkeys(
                (
                    "PENSTOCK_REJECTED_BUCKET",
                    "PENSTOCK_STATUS_PRODUCERS",
                    "PENSTOCK_STATUS_TABLES",
                ),
                "",
            ),
            "found none of PENSTOCK_REJECTED_BUCKET (--bucket), PENSTOCK_STATUS_TABLES (--tables)",
        ),
        (
            {"PENSTOCK_STATUS_PRODUCERS": '{"f": {"schema": "s"}}'},
            "PENSTOCK_STATUS_PRODUCERS cannot be used, expected producer functions by regis",
        ),
        (
            {"PENSTOCK_STATUS_PRODUCERS": "[]"},
            "PENSTOCK_STATUS_PRODUCERS cannot be used, expected producer functions by regis",
        ),
        (
            {"PENSTOCK_STATUS_TABLES": "a,,b"},
            "PENSTOCK_STATUS_TABLES is 'a,,b', expected dead-letter tables of the account, separa",
        ),
    ],
)
def test_settings_that_count_nothing_are_wrong_usage(
    run: Run, changes: dict[str, str], problem: str
) -> None:
    code, text = run(**changes)

    assert code == 2
    assert problem in text
