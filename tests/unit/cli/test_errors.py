"""`penstock errors` shows the dead letters of a real table and submits their replay."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from localcloud.cloud import Cloud
from penstock.cli import main
from penstock.errors import Failure, Reason
from penstock.framing import SchemaKey
from penstock.operations import JobRun, RunCounts, database
from penstock.records import FailedRecord, Record, Source
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore
from systems.error_tables import make_error_table
from tests.fixtures.commands import read_json
from tests.stubs.terminal import Terminal

_KEY = "d3e21a3b-f828-4ef7-a864-ea05cba14f2c"
_TIME_MS = 1_795_234_015_788

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def place(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A dead-letter table and a bucket, by the variables that name them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "111111111111")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    session = boto3.Session(region_name="eu-central-1")
    bucket = session.resource("s3").create_bucket(
        Bucket=f"b-{secrets.token_hex(4)}",
        CreateBucketConfiguration={"LocationConstraint": "eu-central-1"},
    )
    table = make_error_table(session.resource("dynamodb"), f"e-{secrets.token_hex(4)}")
    yield {"PENSTOCK_ERRORS_TABLE": table.name, "PENSTOCK_PARKED_BUCKET": bucket.name}
    table.delete()
    bucket.objects.delete()
    bucket.delete()


@pytest.fixture
def run(place: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command, and return its exit code and output."""

    def run(*words: str) -> tuple[int, str]:
        code = main(["errors", *words], place)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def _keep(
    place: dict[str, str],
    offset: int,
    reason: Reason,
    value: bytes = b"\3\0",
    stage: str = "spark",
) -> str:
    headers = (("trace", b"\xff"),)
    record = Record(Source("sensor", 0, offset), b"000001", value, headers, _TIME_MS)
    failure = Failure(reason, "cut\x1b[2J off")
    failed = FailedRecord(record, failure, SchemaKey.parse(_KEY), stage, _TIME_MS + 1_000)
    client, store = DynamoDbClient(), ObjectStore(place["PENSTOCK_PARKED_BUCKET"])
    ErrorTable(client, place["PENSTOCK_ERRORS_TABLE"], store).keep([failed])
    client.close()
    return failed.id


def test_the_rows_that_are_selected_are_listed(run: Run, place: dict[str, str]) -> None:
    cut = _keep(place, 1, Reason.TRUNCATED)
    unknown = _keep(place, 2, Reason.UNKNOWN_SCHEMA)

    code, text = run("list")
    assert code == 0
    assert [line.split()[0] for line in text.splitlines()] == ["ID", cut, unknown]
    assert run("list", "--reason", "truncated")[1].splitlines()[1:] == [
        f"{cut:<44} 2026-11-21T04:06:56.788Z       0  spark  truncated               "
        "cut\\x1b[2J off"
    ]
    assert run("list", "--until", "2026-11-21T00:00:00Z")[1].count("\n") == 1
    assert run("list", "--id", unknown)[1].splitlines()[1].startswith(unknown)
    assert run("list", "--id", f"{unknown}/join")[1].count("\n") == 1
    (told,) = read_json("errors list", run("list", "--reason", "truncated", "--output", "json")[1])
    assert told == {
        "id": cut,
        "topic": "sensor",
        "partition": 0,
        "offset": 1,
        "kafkaTimestamp": "2026-11-21T04:06:55.788Z",
        "reason": "truncated",
        "detail": "cut\x1b[2J off",
        "schemaId": _KEY,
        "stage": "spark",
        "firstSeen": "2026-11-21T04:06:56.788Z",
        "retries": 0,
        "nextRetryAt": "2026-11-21T04:06:56.000Z",
        "driver": None,
        "waitingFor": [],
    }


def test_a_record_that_function_and_job_gave_up_has_the_reason_of_each(
    run: Run, place: dict[str, str]
) -> None:
    function = _keep(place, 1, Reason.OVERSIZE, stage="lambda")
    job = _keep(place, 1, Reason.SCHEMA_CONFLICT)

    rows = [line.split() for line in run("list")[1].splitlines()[1:]]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        (function, "lambda", "oversize"),
        (job, "spark", "schema-conflict"),
    ]
    listed = run("list", "--reason", "schema-conflict")[1].splitlines()[1:]
    assert [line.split()[0] for line in listed] == [job]
    shown = json.loads(run("show", function)[1])
    (other,) = shown["others"]
    assert (shown["reason"], other["id"], other["stage"]) == ("oversize", job, "spark")
    assert (other["reason"], other["settled"]) == ("schema-conflict", False)
    assert json.loads(run("show", job)[1])["others"][0]["reason"] == "oversize"


def test_a_table_that_cannot_be_read_is_one_sentence(run: Run, cloud: Cloud) -> None:
    code, text = run("list", "--table", "no-such-table")

    assert (code, len(text.splitlines())) == (1, 1)
    assert text.startswith("penstock: DynamoDB's Query was refused: ResourceNotFoundException")
    assert text.endswith(
        f"; expected table no-such-table at {cloud.endpoint}; check its name, the region and the "
        "account\n"
    )


def test_an_endpoint_that_does_not_answer_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = database._ATTEMPTS
    monkeypatch.setattr(database, "_ATTEMPTS", replace(patience, total_seconds=0.1))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

    code, text = run("list")

    assert (code, len(text.splitlines())) == (1, 1)
    assert text.startswith(
        "penstock: DynamoDB's Query failed for 0.1 s: no answer from http://127."
    )
    assert patience.total_seconds == 3


def test_a_terminal_sees_the_number_of_rows_while_they_go_elsewhere(
    run: Run, place: dict[str, str]
) -> None:
    _keep(place, 1, Reason.TRUNCATED)

    with patch.object(sys, "stderr", Terminal()) as stderr:
        _, text = run("list", "--output", "json")

    assert "\r\x1b[K0 rows, " in stderr.getvalue()
    assert len(read_json("errors list", text)) == 1


def test_a_row_is_shown_with_the_bytes_of_its_record(run: Run, place: dict[str, str]) -> None:
    row_id = _keep(place, 1, Reason.TRUNCATED)

    code, text = run("show", row_id)

    shown = json.loads(text)
    assert (code, shown["id"], shown["reason"]) == (0, row_id, "truncated")
    assert (shown["key"], shown["value"]) == ("000001", "\3\0")
    assert shown["headers"] == [{"name": "trace", "value": {"base64": "/w=="}}]
    code, line = run("show", row_id, "--output", "json")
    assert (code, read_json("errors show", line)) == (0, [shown])


def test_bytes_that_the_bucket_lost_are_an_error(run: Run, place: dict[str, str]) -> None:
    row_id = _keep(place, 1, Reason.TRUNCATED, value=bytes(400_000))
    boto3.resource("s3").Bucket(place["PENSTOCK_PARKED_BUCKET"]).objects.delete()

    code, text = run("show", row_id)

    assert code == 1
    assert json.loads(text)["lost"].endswith(f"errors/{row_id}/value is not there")
    code, line = run("show", row_id, "--output", "json")
    assert (code, read_json("errors show", line)) == (1, [json.loads(text)])


def test_an_id_without_a_row_is_an_error(run: Run, place: dict[str, str]) -> None:
    assert run("show", "sensor/0/9/1") == (
        1,
        f"penstock: found no row sensor/0/9/1 in {place['PENSTOCK_ERRORS_TABLE']}, expected an id "
        "that `list` shows\n",
    )


@pytest.mark.parametrize("others", [(), ("orders-errors", "shop-errors")])
def test_the_list_says_whose_it_is_if_there_are_several_tables(
    others: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("penstock.cli._errors.list_dead_letters", lambda *_: iter(()))
    environ = {
        "PENSTOCK_ERRORS_TABLE": "errors",
        "PENSTOCK_STATUS_TABLES": ", ".join(["errors", *others]),
    }

    assert main(["errors", "list"], environ) == 0

    note = "penstock: the dead letters of errors; --table lists orders-errors, shop-errors\n"
    assert capsys.readouterr().err == (note if others else "")
    assert main(["errors", "list"], environ | {"PENSTOCK_STATUS_TABLES": ""}) == 0
    assert not capsys.readouterr().err
    assert main(["errors", "list"], environ | {"PENSTOCK_STATUS_TABLES": "errors,"}) == 2
    assert "PENSTOCK_STATUS_TABLES is 'errors,', expected dead-" in capsys.readouterr().err


def test_a_selection_is_replayed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def submit(*words: Any) -> JobRun:
        asked.extend(words)
        return JobRun("00a", "00b", "eu-central-1")

    monkeypatch.setattr("penstock.cli._submit.submit_job", submit)

    answer = run("replay", "--reason", "truncated", "--attempts", "0", "--consumer", "elsewhere")

    assert answer == (0, "submitted replay as job run 00b of application 00a\n")
    assert asked == [
        *(Path("elsewhere"), "replay", ["--reason", "truncated", "--attempts", "0"]),
    ]
    assert run("replay", "--id", "sensor/0/41/5/spark")[0] == 0
    assert asked[-2:] == ["replay", ["--id", "sensor/0/41/5/spark"]]
    assert run("replay", "--job", "shop")[1].startswith("submitted replay-shop as job run ")
    assert asked[-2:] == ["replay-shop", []]
    (told,) = read_json("errors replay", run("replay", "--output", "json")[1])
    assert (told["job"], told["id"], told["applicationId"]) == ("replay", "00b", "00a")


def test_a_replay_is_awaited_as_other_jobs_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.cli._submit.submit_job", lambda *_: JobRun("00a", "00b", "x"))
    monkeypatch.setattr("penstock.cli._submit.wait_for_job", lambda *_, **__: "SUCCESS")
    counts = RunCounts(2, {"truncated": 1})
    monkeypatch.setattr("penstock.cli._submit.count_rows", lambda _: counts)

    code, text = run("replay", "--wait")

    assert code == 1
    assert "is SUCCESS: 2 rows, 1 dead letters (truncated 1; see `penstock errors list`)" in text


def test_an_unknown_flag_names_the_help_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["errors", "replay", "--now"], {})

    told = "unrecognized arguments: --now; see penstock errors replay --help"
    assert capsys.readouterr().err == f"penstock errors replay: {told}\n"


def test_a_selection_of_the_environment_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(
        "penstock.cli._submit.submit_job",
        lambda *words: asked.extend(words) or JobRun("a", "b", "c"),
    )

    assert main(["errors", "replay", "--attempts", "0"], {"PENSTOCK_WHICH": "due"}) == 0

    assert asked[2] == ["--which", "due", "--attempts", "0"]


def test_a_selection_that_cannot_be_submits_nothing(run: Run) -> None:
    code, text = run("replay", "--reason", "bored")

    assert code == 2
    assert "--reason is 'bored', expected reasons, separated by commas, of" in text
