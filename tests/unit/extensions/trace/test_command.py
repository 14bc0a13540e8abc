"""`penstock trace` with the tables of outputs, and a host that reads the record."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.client import BaseClient
from pyiceberg.io.pyarrow import PyArrowFileIO

from penstock.aws import AwsClient
from penstock.cli import main
from penstock.extensions.trace import TraceSettings
from penstock.operations import ReadRecord
from tests.fixtures.commands import read_json
from tests.fixtures.root_outputs import write_outputs
from tests.unit.extensions.trace.world import EVENT, World, world, write_line

__all__ = ["world"]

Run = Callable[..., tuple[int, str]]
_REJECTED = "penstock-producer/2026/11/26/8f-0.json"


@pytest.fixture
def run(
    world: World,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run the command for a record that was written, with a row and a file."""
    record = world.write(7)
    world.put_row(record)
    world.append(7)
    program = tmp_path / "penstock"
    (version,) = world.registry.versions("sensor")
    line = write_line(ReadRecord(record, None, version, EVENT))
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{line}END\n")
    program.chmod(0o755)
    environ = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "PENSTOCK_ERRORS_TABLE": world.errors,
        "PENSTOCK_HOST_COMMAND": "env sh -c",
        "PENSTOCK_REGISTRY": "glue://penstock",
        "PENSTOCK_STATUS_TABLES": world.errors,
    }
    outputs = write_outputs(tmp_path / "consumer.json", world.outputs)

    def run(*words: str) -> tuple[int, str]:
        code = main(["trace", *words, "--outputs", str(outputs)], environ)
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_the_steps_are_lines_in_their_order(run: Run, world: World) -> None:
    code, text = run("sensor/0/7")

    lines = text.splitlines()
    assert (code, lines[0]) == (0, "sensor/0/7")
    assert lines[1].split() == ["STEP", "TIME", "AFTER", "SEEN"]
    assert [line[:11].rstrip() for line in lines[2:]] == [
        *("event", "record", "frame", "schema", "row", "lake file", "dead letter"),
    ]
    assert lines[3].split()[:4] == ["record", "2026-11-26T12:00:00.000Z", "0.500", "s"]
    assert lines[5].endswith(" sensor version 1")
    assert "p-readings, deviceId=000001, readingId=" in lines[6]
    assert f"{world.lake}.readings, snapshot " in lines[7]


def test_the_page_shows_what_is_printed(run: Run) -> None:
    page = Path(__file__).parents[4] / "docs/operate/trace.md"
    (shown,) = re.findall(r"```text\n(.*?)```", page.read_text(), re.DOTALL)

    def blank(text: str) -> list[str]:
        """Leave out times, ids and bytes."""
        for part in (
            r"[0-9a-f]{2}( [0-9a-f]{2})+",
            r"\b[0-9a-f-]{8,}\b",
            r"[\d.:,TZ-]+ s|[\d.:,]+",
        ):
            text = re.sub(part, "~", text.replace("lake_", "lake-"))
        return [" ".join(line.split()) for line in text.splitlines()]

    assert blank(run("sensor/0/7")[1]) == blank(shown)


def test_nothing_but_reads_are_called(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    called: set[str] = set()
    send, call = AwsClient.send_each, BaseClient._make_api_call  # type: ignore[attr-defined]

    def note_send(self: AwsClient, operation: str, *words: Any) -> Any:
        called.add(operation)
        return send(self, operation, *words)

    def note_call(self: BaseClient, operation: str, *words: Any) -> Any:
        called.add(operation)
        return call(self, operation, *words)

    monkeypatch.setattr(AwsClient, "send_each", note_send)
    monkeypatch.setattr(BaseClient, "_make_api_call", note_call)
    monkeypatch.setattr(PyArrowFileIO, "new_output", None)
    monkeypatch.setattr(PyArrowFileIO, "delete", None)

    assert run("sensor/0/7")[0] == 0
    assert called == {"BatchGetItem", "GetTable"}


def test_json_is_as_the_page_says(run: Run) -> None:
    code, text = run("--topic", "sensor", "--key", "000001", "--output", "json")

    (found,) = read_json("trace", text)
    assert (code, found["id"]) == (0, "sensor/0/7")
    assert [each["state"] for each in found["steps"]] == [*["found"] * 6, "none"]


def test_an_event_that_is_not_where_it_should_be_is_2(run: Run) -> None:
    assert run("sensor/0/8")[0] == 2


def test_a_rejected_event_needs_the_producers_bucket(run: Run) -> None:
    code, text = run(_REJECTED)

    assert code == 0
    assert text.splitlines()[2].startswith("not looked at: rejected event: no bucket is named")


@pytest.mark.parametrize(
    "words", [[], ["sensor/0/7", "--key", "a"], ["--topic", "sensor"], ["x", "--topic", "t"]]
)
def test_an_id_or_a_key_is_given(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["trace", *words], {})

    assert "expected either an ID, or --topic and --key" in capsys.readouterr().err


def test_without_settings_nothing_is_looked_at_and_why_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["trace", "sensor/0/7", "--security", "plaintext"], {}) == 0

    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split(": ")[:2] for line in lines] == [
        ["not looked at", each] for each in ("record", "row", "lake file", "dead letter")
    ]
    assert "KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is missing" in lines[0]
    assert "PENSTOCK_CONSUMER_ROOT" in lines[1]


def test_the_dead_letter_tables_are_told_apart_without_their_spaces() -> None:
    environ = {"PENSTOCK_ERRORS_TABLE": "a", "PENSTOCK_STATUS_TABLES": "a, b"}

    assert TraceSettings.from_environ(environ).errors_tables == ("a", "b")


def test_a_root_that_cannot_be_read_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"PENSTOCK_CONSUMER_ROOT": str(tmp_path / "none"), "KAFKA_SECURITY": "plaintext"}

    assert main(["trace", "sensor/0/7"], environ) == 0

    assert f"row: {tmp_path}/none cannot be read: " in capsys.readouterr().out
