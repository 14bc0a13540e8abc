"""The comparison of rows of DynamoDB with the events of all schema versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from penstock.extensions.drift._clients import Clients, translated_glue_errors
from penstock.extensions.drift.differences import Difference
from penstock.records import DELETED
from penstock.sinks import name_type
from penstock.tables import Array, ColumnType, Map, Struct

_Mismatch = tuple[str, str, str]
_ROWS: Final = "no version's records make such a row: find the program that writes it"
_WHOLE: Final = {"int": 2**31, "bigint": 2**63, "date": 2**31}
_ATTRIBUTES: Final = {
    "boolean": "BOOL",
    "float": "N",
    "double": "N",
    "string": "S",
    "binary": "B",
    "timestamp": "N",
    "timestamp_ntz": "N",
} | dict.fromkeys(_WHOLE, "N")


def sample_rows(
    clients: Clients, table: str, most: int
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return up to `most` rows of a table as the API has them, and the names of its key.

    Raises:
        OperationError, SinkUnavailableError: the table cannot be read.
    """
    rows: list[Mapping[str, Any]] = []
    client = clients.get("dynamodb")
    with translated_glue_errors(f"DynamoDB table {table} cannot be read"):
        described = client.describe_table(TableName=table)["Table"]
        start: dict[str, Any] = {}
        while len(rows) < most:
            answer = client.scan(TableName=table, Limit=most - len(rows), **start)
            rows += (each for each in answer["Items"] if DELETED not in each)
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    return rows, [each["AttributeName"] for each in described["KeySchema"]]


def compare_rows(
    place: str, rows: Iterable[Mapping[str, Any]], event: Struct, own: Iterable[str]
) -> list[Difference]:
    """Compare rows, as DynamoDB's API has them, with events; `own` are the table's attributes."""
    skipped = set(own)
    counts: Counter[_Mismatch] = Counter()
    for row in rows:
        hidden = row.get("_event", {}).get("M", {})
        fields = {name: value for name, value in row.items() if not name.startswith("_")}
        named = {name: each for name, each in fields.items() if name not in skipped} | hidden
        counts.update(_compare_record(named, event, ""))
    return [Difference(place, *each, _ROWS, count) for each, count in counts.items()]


def _compare_record(record: Mapping[str, Any], event: Struct, path: str) -> Iterator[_Mismatch]:
    for name, value in record.items():
        field = next((each for each in event.columns if each.field == name), None)
        if field is None:
            yield f"{path}{name}", name_type(value), "no field"
        else:
            yield from _compare_value(value, field.type, f"{path}{name}")


def _compare_value(value: Mapping[str, Any], type_: ColumnType, path: str) -> Iterator[_Mismatch]:
    ((kind, inside),) = value.items()
    if kind == "NULL":
        return
    if isinstance(type_, Struct) and type_.is_union:  # a row has the value of one of its types
        found = [list(_compare_value(value, each.type, path)) for each in type_.columns]
        if kind == "M":  # a record may have fields with such names
            found.append(list(_compare_record(inside, type_, f"{path}.")))
        if all(found):
            yield path, name_type(value), str(type_)
    elif isinstance(type_, Struct) and kind == "M":
        yield from _compare_record(inside, type_, f"{path}.")
    elif isinstance(type_, Array) and kind == "L":
        for each in inside:
            yield from _compare_value(each, type_.item, f"{path}.element")
    elif isinstance(type_, Map) and kind == "M":
        for each in inside.values():
            yield from _compare_value(each, type_.value, f"{path}.value")
    elif isinstance(type_, str) and kind == _expected_kind(type_):
        if fault := _find_fault(inside, type_):
            yield path, fault, type_
    else:
        yield path, name_type(value), str(type_)


def _expected_kind(type_: str) -> str:
    return _ATTRIBUTES.get(type_, "N" if type_.startswith("decimal") else "S")


def _find_fault(text: str, type_: str) -> str:
    """Return why a number is no value of a type; empty if it is one."""
    if type_ not in _WHOLE:
        return ""
    number = Decimal(text)
    if number != number.to_integral_value():
        return "number with a fraction"
    return "" if -_WHOLE[type_] <= number < _WHOLE[type_] else f"number beyond {type_}"
