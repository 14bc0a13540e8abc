"""The oracle of joined rows: computes from the topics what a staging job must have made of them.

A row of a driver is joined with the rows that it names, as they were at one time: with any version
of each. Without one of them it waits as a dead letter that names what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from campaign.history import Record, Row, Staged
from campaign.oracle import Kind, Problem, compare, read_record

DRIVER: Final = "shipments"
FINAL: Final = "fulfilments"
_KEYS: Final = {
    "customers": ("customer_id",),
    "products": ("product_id",),
    "orders": ("order_id",),
    "order_lines": ("order_id", "line_no"),
    DRIVER: ("shipment_id",),
}
_NEEDS: Final = {
    "customer": "customers",
    "product": "products",
    "order": "orders",
    "order_line": "order_lines",
}
_ADDED: Final = frozenset({"staging_time", "line_id"})

_Name = tuple[str, ...]  # the texts of a key
_Versions = Mapping[_Name, Sequence[Row | None]]  # of each key, in order; None deletes the row


def find_join_problems(staged: Staged) -> list[Problem]:
    """Return all that is wrong in tables and dead letters of a staging job."""
    topics = {
        table: _list_versions(table, records, staged.versions)
        for table, records in staged.records.items()
    }
    return [
        *(
            problem
            for table, versions in topics.items()
            for problem in _check_table(table, versions, staged.tables[table])
        ),
        *_check_finals(topics, staged),
        *_check_letters(topics, staged.letters),
    ]


def _list_versions(
    table: str, records: Sequence[Record], definitions: Mapping[str, str]
) -> _Versions:
    versions: dict[_Name, list[Row | None]] = {}
    for record in records:
        row = None if record.value is None else read_record(record, definitions)
        name = tuple(record.key.decode().split("/")) if row is None else _name(table, row)
        versions.setdefault(name, []).append(row)
    return versions


def _name(table: str, row: Row) -> _Name:
    return tuple(str(row[column]) for column in _KEYS[table])


def _check_table(table: str, versions: _Versions, rows: Sequence[Row]) -> Iterator[Problem]:
    """Each key has one row, which is its newest record."""
    found = {_name(table, row): row for row in rows}
    for name, all_versions in versions.items():
        where, row = f"staging, {table}/{'/'.join(name)}", found.get(name, {})
        newest = all_versions[-1]
        if newest is None:
            if row and not row.get("_deleted"):
                yield Problem(Kind.ORDER, f"{where}: a row that was deleted")
        elif not row:
            yield Problem(Kind.LOST, f"{where}: no row")
        elif difference := _differ(newest, row):
            yield Problem(Kind.ORDER, f"{where}: {difference}")
    for name in found.keys() - versions.keys():
        yield Problem(Kind.WRONG, f"staging, {table}/{'/'.join(name)}: a row that nobody wrote")


def _differ(values: Row, row: Row) -> str:
    return compare(values, {name: value for name, value in row.items() if name not in _ADDED})


def _check_finals(topics: Mapping[str, _Versions], staged: Staged) -> Iterator[Problem]:
    found = {_name(DRIVER, row): row for row in staged.tables[FINAL] if not row.get("_deleted")}
    for name, versions in topics[DRIVER].items():
        where, final, driver = f"staging, {FINAL}/{name[0]}", found.pop(name, None), versions[-1]
        if driver is None or _list_missing(topics, driver):
            if final:
                why = "is deleted" if driver is None else "lacks a row"
                yield Problem(Kind.ORDER, f"{where}: a row of a shipment that {why}")
        elif final is None:
            yield Problem(Kind.LOST, f"{where}: no row, and all that it needs is there")
        elif difference := _differ_from_all(topics, driver, final):
            yield Problem(Kind.ORDER, f"{where}: {difference}")
    for name in found:
        yield Problem(Kind.WRONG, f"staging, {FINAL}/{name[0]}: a row of no shipment")


def _differ_from_all(topics: Mapping[str, _Versions], driver: Row, final: Row) -> str:
    """Return what in a joined row is neither its driver's nor any version of what it needs."""
    own = {name: value for name, value in final.items() if name not in _NEEDS}
    if difference := _differ(driver, own):
        return difference
    for name, table in _NEEDS.items():
        joined = final.get(name) or {}
        versions = topics[table][_name(table, driver)]
        if all(_differ(each or {}, joined) for each in versions):
            return f"{name} is {joined}, which {table} never had"
    return ""


def _list_missing(topics: Mapping[str, _Versions], driver: Row) -> set[str]:
    """Return the rows that a driver needs and that never came, as dead letters name them."""
    needed = [(table, _name(table, driver)) for table in _NEEDS.values()]
    return {
        "/".join(quote(each, safe="") for each in (table, *name))
        for table, name in needed
        if name not in topics[table]
    }


def _check_letters(topics: Mapping[str, _Versions], letters: Sequence[Row]) -> Iterator[Problem]:
    """A shipment waits if it lacks rows, and only then, and its dead letter names them."""
    others = [each for each in letters if each.get("stage") != "join"]
    for each in others:
        yield Problem(Kind.LETTER, f"staging: {each['id']} is good, given up for {each['reason']}")
    waiting = {
        str(each["driver"]): {str(row) for row in each["waitingFor"]}
        for each in letters
        if each.get("stage") == "join" and "doneAt" not in each
    }
    for name, versions in topics[DRIVER].items():
        driver = versions[-1]
        if driver is None:
            continue
        where = f"{DRIVER}/{name[0]}"
        missing, told = _list_missing(topics, driver), waiting.get(where, set())
        if missing and not told:
            yield Problem(Kind.LOST, f"staging: {where} lacks {sorted(missing)}, and does not wait")
        elif bool(missing) != bool(told) or not missing <= told:
            what = f"waits for {sorted(told)}, and lacks {sorted(missing)}"
            yield Problem(Kind.ORDER, f"staging: {where} {what}")
