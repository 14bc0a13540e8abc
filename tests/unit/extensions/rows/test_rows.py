"""`penstock rows` prints rows of a real table, of one key or of all."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from penstock.cli import main
from penstock.extensions.rows import operation
from systems.sessions import REGION
from tests.fixtures.accounts import PATIENCE, ActAs
from tests.fixtures.commands import read_json
from tests.fixtures.readings import make_reading_table

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def table(act_as: ActAs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    act_as("111111111111")
    monkeypatch.setattr("penstock.operations.database._ATTEMPTS", PATIENCE)
    dynamodb = boto3.Session(region_name=REGION).resource("dynamodb")
    made = make_reading_table(dynamodb, f"p-{secrets.token_hex(4)}")
    for device, reading in (("a", "1"), ("a", "2"), ("b", "3")):
        own = {"_source": f"sensor/0/{reading}", "_schema": 1, "blob": b"\xff", "note": "x\x1b"}
        made.put_item(Item={"deviceId": device, "readingId": reading, **own})
    yield made
    made.delete()


@pytest.fixture
def run(table: Any, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str]:
        code = main(["rows", table.name, *words], {})
        printed = capsys.readouterr()
        return code, printed.out + printed.err

    return run


def test_rows_of_a_key_are_printed_in_order(run: Run) -> None:
    assert run("--key", "a") == (
        0,
        'sensor/0/1  deviceId=a  readingId=1  {"_schema": 1, "blob": "/w==", "note": "x\\u001b"}\n'
        'sensor/0/2  deviceId=a  readingId=2  {"_schema": 1, "blob": "/w==", "note": "x\\u001b"}\n',
    )
    assert run("--key", "c") == (0, "")


def test_rows_of_all_keys_are_objects(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation, "_ROWS_OF_A_PAGE", 1)

    code, text = run("--output", "json")

    found = read_json("rows", text)
    assert code == 0
    assert sorted(each["source"] for each in found) == [f"sensor/0/{at}" for at in (1, 2, 3)]
    assert {each["value"]["blob"] for each in found} == {"/w=="}
    assert len(read_json("rows", run("--output", "json", "--count", "2")[1])) == 2


def test_a_deleted_row_says_so_and_one_of_others_has_no_record(run: Run, table: Any) -> None:
    table.put_item(Item={"deviceId": "d", "readingId": "4", "_deleted": True})

    assert run("--key", "d") == (0, "-  deviceId=d  readingId=4  deleted\n")


def test_a_table_that_is_not_there_is_one_sentence(
    table: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table.name != "no-such-table"

    assert main(["rows", "no-such-table"], {}) == 1

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "ResourceNotFoundException" in error
