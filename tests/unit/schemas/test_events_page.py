"""Every row of the tables in docs/events.md, checked against the code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from penstock.cli.values import describe_value
from penstock.errors import EventError, SchemaConflictError
from penstock.schemas import (
    Numbers,
    TypeRules,
    compile_fitter,
    decode_event,
    diff_schemas,
    encode,
    fit_event_time,
    infer_schema,
    load_schema,
    merge_schemas,
    parse_event,
    to_record,
    write_value,
)
from tests.stubs.readings import BASE_FIELDS

_PAGE = Path(__file__).parents[3] / "docs" / "events.md"
_TOO_DEEP_TO_PARSE = '{"o": {"o": ... 1,000 levels ...}}'
_LONG_EVENTS = {
    '{"k0": 0, ..., "k9999": 9999}': json.dumps({f"k{i}": i for i in range(10_000)}),
    _TOO_DEEP_TO_PARSE: '{"o": ' * 1_000 + "1" + "}" * 1_000,
    '{"o": {"o": ... 33 levels ...}}': '{"o": ' * 33 + "1" + "}" * 33,
    '{"a": [0, ... 500,000 items ...]}': json.dumps({"a": [0] * 500_000}),
    '{"kkk...": 1, ... 900 keys of 200 characters ...}': json.dumps(
        {f"{i:k>200}": 1 for i in range(900)}
    ),
}


_INFERRED, _, _REGISTERED = _PAGE.read_text().partition("## Events of a registered schema")
_DECIMALS = _INFERRED.partition("## Numbers as decimals")[2].partition("## ")[0]
_TIMES = _INFERRED.partition("## Times")[2].partition("## ")[0]


def _rows(text: str = _INFERRED) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return [row for row in rows if row[0] not in {"Case", "---"}]


def _rows_of_schemas() -> list[list[str]]:
    times = _rows(_TIMES)
    return [row for row in _rows() if row not in times]


def _codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def _infer(texts: list[str], numbers: Numbers) -> object:
    known = infer_schema({}, "reading", base=BASE_FIELDS)
    for text in texts:
        event = parse_event(_LONG_EVENTS.get(text, text))
        inferred = infer_schema(
            event, "reading", known, BASE_FIELDS, TypeRules(numbers, event_time="timestamp")
        )
        known = merge_schemas([known, inferred])
    return inferred


@pytest.mark.parametrize(
    ("case", "before", "event", "result"), _rows_of_schemas(), ids=lambda cell: cell[:60]
)
def test_each_row_of_the_page_is_true(case: str, before: str, event: str, result: str) -> None:
    earlier, (text,) = _codes(before), _codes(event)
    numbers = (
        Numbers.DECIMAL if [case, before, event, result] in _rows(_DECIMALS) else Numbers.DOUBLE
    )
    if result.startswith("refused: "):
        with pytest.raises((EventError, SchemaConflictError)) as caught:
            _infer([*earlier, text], numbers)
        message = str(caught.value)
        if text == _TOO_DEEP_TO_PARSE:  # Python 3.12 parses it and so knows the path, 3.11 does not
            message = message.removeprefix(f"{caught.value.path}: ")
        assert [message] == _codes(result), case
        return
    bare = infer_schema({}, "reading", base=BASE_FIELDS)
    diff = diff_schemas(bare, _infer([*earlier, text], numbers))
    assert [str(change).removeprefix("+ ") for change in diff.changes] == [
        f"{field} (optional)" for field in _codes(result)
    ], case


@pytest.mark.parametrize(
    ("case", "before", "event", "result"), _rows(_TIMES), ids=lambda cell: cell[:60]
)
def test_each_row_about_a_time_is_true(case: str, before: str, event: str, result: str) -> None:
    schema, rules = None, TypeRules(event_time="timestamp")
    try:
        for given in map(parse_event, [*_codes(before), *_codes(event)]):
            schema = infer_schema(given, "reading", schema, BASE_FIELDS, rules)
            timed = fit_event_time({"deviceId": "d"} | given, schema, "timestamp")
            payload = encode(to_record(timed, schema), schema)
        told = json.dumps(decode_event(payload, schema)["timestamp"])
    except EventError as error:
        told = str(error)
    assert [told] == _codes(result), case


@pytest.mark.parametrize(
    ("case", "type_", "event", "result"), _rows(_REGISTERED), ids=lambda cell: cell[:60]
)
def test_each_row_about_a_registered_schema_is_true(
    case: str, type_: str, event: str, result: str
) -> None:
    (field,), (text,) = _codes(type_), _codes(event)
    definition = f'{{"type": "record", "name": "R", "fields": [{{"name": "t", "type": {field}}}]}}'
    schema = load_schema(definition)
    fit = compile_fitter(schema)
    if result.startswith("refused: "):
        with pytest.raises(EventError) as caught:
            fit(parse_event(text), {})
        assert [str(caught.value)] == _codes(result), case
        return
    read = decode_event(encode(fit(parse_event(text), {}), schema), schema)
    assert [write_value(describe_value(read.get("t")))] == _codes(result), case


def test_the_page_covers_every_case() -> None:
    assert len(_rows()) >= 50
    assert len(_rows(_DECIMALS)) >= 9
    assert len(_rows(_TIMES)) >= 10
    assert len(_rows(_REGISTERED)) >= 15
