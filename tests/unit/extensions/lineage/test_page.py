"""docs/lineage.md: its commands print what the page says, in an account of localcloud."""

from __future__ import annotations

import json
import re
import shlex
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main
from tests.fixtures.commands import read_json
from tests.unit.extensions.lineage.events import check_event
from tests.unit.extensions.lineage.world import ACCOUNT, ENVIRON, NOON, World, run, world

__all__ = ["world"]

_DOCS = Path(__file__).parents[4] / "docs"
_TEXT = (_DOCS / "lineage.md").read_text()
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_FILES = ("--outputs", "consumer.json", "--outputs", "producer.json")


def _blocks(kind: str) -> list[str]:
    return [text for found, text in _BLOCK.findall(_TEXT) if found == kind]


@pytest.mark.usefixtures("world")
def test_the_page_is_what_happens(capsys: pytest.CaptureFixture[str]) -> None:
    ran = []
    for command, printed in zip(_blocks("sh"), _blocks("text"), strict=False):
        program, *words = shlex.split(command)
        assert program == "penstock"
        ran.append(run(*words))
        assert capsys.readouterr() == (printed, "")
    assert ran == [2, 0]

    *_, drawing = _blocks("sh")
    words, _, file = drawing.partition(" > ")
    assert run(*shlex.split(words)[1:]) == 2
    assert capsys.readouterr().out == (_DOCS / file.strip()).read_text()


def test_json_and_events_tell_the_same(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lineage", "sensor", *_FILES, "--output", "json") == 2
    (found,) = read_json("lineage", capsys.readouterr().out)
    assert run("lineage", "sensor", *_FILES, "--output", "openlineage") == 2
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    for event in events:
        check_event(event)
    names = {event["job"]["name"] for event in events}
    (topic,) = found["topics"]
    assert names == {each["program"] for each in (*topic["writers"], *topic["uses"])}
    (job,) = [event for event in events if event["job"]["name"] == "job consume"]
    readings, rows = job["outputs"]
    assert (readings["namespace"], readings["name"]) == (
        f"arn:aws:glue:eu-central-1:{ACCOUNT}",
        "table/lake/readings",
    )
    assert rows["name"] == "table/p-readings"
    lines = readings["facets"]["columnLineage"]["fields"]
    field = {"namespace": "kafka://b-1.example:9098", "name": "sensor", "field": "Room-No"}
    assert lines["Room_No"] == {"inputFields": [field]}
    assert "note" not in lines
    assert world.keys  # three versions


@pytest.mark.usefixtures("world")
def test_the_outputs_are_those_of_the_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lineage", "sensor", *_FILES) == 2
    expected = capsys.readouterr().out
    roots = {"PENSTOCK_CONSUMER_ROOT": "consumer.json", "PENSTOCK_PRODUCER_ROOT": "producer.json"}

    assert main(["lineage", "sensor"], ENVIRON | roots) == 2
    assert capsys.readouterr().out == expected
    assert run("lineage", "sensor") == 1
    assert "(--outputs) is missing" in capsys.readouterr().err


def _find_columns(found: Any, table: str) -> dict[str, list[tuple[int, int | None]]]:
    (one,) = [each for each in found["tables"] if each["name"] == table]
    return {
        each["name"]: [(source["number"], source["rows"]) for source in each["sources"]]
        for each in one["columns"]
        if not each["isOwn"]
    }


def test_an_earlier_moment_has_its_rows_and_columns(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = world.load_catalog().load_table("lake.readings").metadata.snapshots
    moment = NOON.fromtimestamp(first.timestamp_ms / 1_000, NOON.tzinfo)

    def look(as_of: str) -> Any:
        code = run("lineage", "lake.readings", *_FILES, "--output", "json", "--as-of", as_of)
        (found,) = read_json("lineage", capsys.readouterr().out)
        return code, found

    code, then = look(moment.isoformat())
    assert code == 0
    assert "note" not in _find_columns(then, "lake.readings")

    code, before = look((NOON - timedelta(seconds=1)).isoformat())
    assert before["tables"][0]["rows"] == []
    assert before["topics"][0]["versions"] == []
    assert before["tables"][0]["notes"] == [
        "no snapshot of that time is kept: its columns are those of now"
    ]
    assert code == 2  # no version had any of its columns


def test_only_so_many_rows_are_read(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.put_row(2)

    assert run("lineage", "p-readings", *_FILES, "--rows", "1") == 0
    assert "only 1 of its rows were read (--rows)" in capsys.readouterr().out


def test_rows_of_a_version_that_no_registry_has_are_named(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = "00000000-0000-4000-8000-000000000000"
    world.keys.append(lost)
    world.append([4], 2)

    assert run("lineage", "lake.readings.deviceId", *_FILES) == 0
    said = f"1 rows of sensor name the schema {lost}, which no registry has"
    assert said in capsys.readouterr().out
