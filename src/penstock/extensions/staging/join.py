"""Join rows of driver tables with the rows that they depend on, by key.

A driver's row whose dependencies are all staged becomes a row of the final table. One that lacks
any becomes a dead letter and an item of the waiting table. The arrival of a row releases the rows
that wait for it. No wake-up is lost, whatever runs at the same time
(docs/adr/0018-waiting-rows.md):

    the driver's side       write the waiting item, then its marker, then look again for the row
    the dependency's side   write the row, then look for the marker
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from penstock.errors import Failure, Reason, UnroutableError
from penstock.extensions.staging.plan import StagedTable, StagingPlan
from penstock.extensions.staging.unjoined_table import UnjoinedTable
from penstock.extensions.staging.waiting import Waiter, WaitingTable, shorten_name
from penstock.records import (
    ADDED,
    DELETED,
    ORDER,
    FailedRecord,
    find_record_id,
    find_row_key,
    read_letter_id,
    write_letter_id,
)
from penstock.sinks import (
    JOIN,
    ROWS_AT_ONCE,
    DynamoDbClient,
    RowAddress,
    UpsertWriter,
    read_rows,
)

_MOST_NAMES: Final = 32  # of missing rows in a dead letter: 64 KB, see `ErrorTable`
_OWN: Final = frozenset({ORDER, DELETED, *ADDED})  # attributes that a dependency leaves at home

Key = tuple[tuple[str, str], ...]  # the key attributes of a row, sorted by name
_Row = dict[str, Any]
_Item = TypeVar("_Item")


class JoinEvent(StrEnum):
    """The result for a driver's row, as it is counted."""

    JOINED = "joined"  # at first
    RELEASED = "released"  # when the last row that it waited for was staged
    WAITING = "waiting"


JoinCounts = Counter[JoinEvent | Reason]


@dataclass(frozen=True, slots=True)
class JoinResult:
    """The result of joining a driver's row; `failure` is None if it is joined, deleted or gone.

    Attributes:
        key: the key attributes of the row.
        driver: the name of the row, `table/key`.
        source: the record that the row was made from; empty if the row is gone.
        record_id: the id of that record.
        missing: the names of the rows that it lacks, at most 32, as keys of the waiting table.
        lacks: the first of them.
    """

    key: Key
    driver: str
    source: str = ""
    record_id: str = ""
    failure: Failure | None = None
    missing: tuple[str, ...] = ()
    lacks: RowAddress | None = None

    @property
    def letter_id(self) -> str:
        """The id of the dead letter that the join files."""
        return write_letter_id(self.record_id, JOIN)

    def is_of(self, letter_id: str) -> bool:
        """Return whether a dead letter of a join, perhaps of an older version, is of the record."""
        return read_letter_id(letter_id)[1] == self.record_id


class Joiner:
    """Joins rows of a plan's driver tables; for one thread.

    `tables` is the name of a table in DynamoDB, with `{table}` for its name in the plan.
    """

    def __init__(
        self,
        client: DynamoDbClient,
        plan: StagingPlan,
        tables: str,
        waiting: WaitingTable,
        errors: UnjoinedTable,
    ) -> None:
        self._client = client
        self._tables = tables
        self.plan = plan
        self.waiting = waiting
        self.errors = errors

    def join(
        self, table: StagedTable, written: Iterable[tuple[_Row, Callable[[Failure], FailedRecord]]]
    ) -> JoinCounts:
        """Join rows that were just staged in a driver table; idempotent.

        Each row comes with a function that gives up its record. A record whose row was replaced by
        a newer one is left to the task that wrote that row.
        """
        give_up: dict[str, Callable[[Failure], FailedRecord]] = {}
        keys: list[Key] = []
        for row, each in written:
            give_up[row["_source"]] = each
            keys.append(_read_key(table, row))

        def file(failed: Sequence[JoinResult]) -> None:
            self.errors.keep(
                [
                    _file(each, give_up[each.source](each.failure))
                    for each in failed
                    if each.failure and each.source in give_up
                ]
            )

        counts = JoinCounts()
        for result in self.resolve(table, keys, file).values():
            if result.source in give_up:
                counts[_event(result, JoinEvent.JOINED)] += 1
        return counts

    def find_awaited(self, table: StagedTable, rows: Iterable[_Row]) -> list[str]:
        """Return the names of those rows, which were just staged, that others may wait for."""
        names = list(dict.fromkeys(write_name(table, _read_key(table, row)) for row in rows))
        found = (self.waiting.find_markers(some) for some in _in_hundreds(names))
        return [marker.waiting_for for markers in found for marker in markers]

    def release(self, names: Iterable[str]) -> JoinCounts:
        """Join the rows that wait for staged rows, by their names; idempotent."""
        counts = JoinCounts()
        for some in _in_hundreds(list(dict.fromkeys(names))):
            for marker in self.waiting.find_markers(some):
                for waiters in self.waiting.find_waiters(marker):
                    counts += self._wake(waiters)
                self.waiting.delete(marker)
        return counts

    def resolve(
        self,
        table: StagedTable,
        keys: Iterable[Key],
        file: Callable[[Sequence[JoinResult]], None] = lambda failed: None,
    ) -> dict[Key, JoinResult]:
        """Join rows of a driver table, or leave them waiting for the first row that they lack.

        `file` receives the rows that failed, before an item says that they wait.
        """
        return {
            key: result
            for some in _in_hundreds(list(dict.fromkeys(keys)))
            for key, result in self._resolve(table, some, file).items()
        }

    def _resolve(
        self, table: StagedTable, keys: Sequence[Key], file: Callable[[Sequence[JoinResult]], None]
    ) -> dict[Key, JoinResult]:
        resolved: dict[Key, JoinResult] = {}
        overtaken: list[Waiter] = []
        while keys:
            results = list(self._decide(table, keys))
            resolved |= {each.key: each for each in results}
            file([each for each in results if each.failure])
            waiters = self.waiting.put(
                [_make_waiter(table, each) for each in results if each.lacks]
            )
            # Only after the items are written, because the other side looks for both in this order.
            staged = self._find_rows({each.lacks for each in results if each.lacks})
            keys = [each.key for each in results if each.lacks in staged]
            overtaken += [each for each in waiters if each.key in keys]
        self._end_waiting(overtaken, resolved)
        return resolved

    def _end_waiting(
        self, waiters: Sequence[Waiter], resolved: Mapping[Key, JoinResult]
    ) -> list[JoinResult]:
        """Settle dead letters, or change their failures; return the results of current records.

        A row that is gone has no source: the retries park its record.
        """
        ended = [(each, resolved[each.key]) for each in waiters if resolved[each.key].source]
        self.errors.end_waits(
            (each.id, result.failure if result.is_of(each.id) else None, result.missing)
            for each, result in ended
        )
        self.waiting.delete(*(each for each, _ in ended))
        return [result for each, result in ended if result.is_of(each.id)]

    def _decide(self, table: StagedTable, keys: Sequence[Key]) -> Iterator[JoinResult]:
        """Write the final rows that can be made; yield a result for each key."""
        place = self._locate(table.name)
        rows = read_rows(self._client, [RowAddress(place, key) for key in keys])
        drivers = {}
        for key in keys:
            result = JoinResult(key, write_name(table, key))
            if (row := rows.get(RowAddress(place, key))) is None:
                yield result
                continue
            result = replace(result, source=row["_source"], record_id=find_record_id(row))
            try:
                drivers[key] = _Driver(row, result, self._find_needs(table, row))
            except UnroutableError as error:
                yield replace(result, failure=Failure.of(error))
        for group in _group(drivers.values()):
            yield from self._decide_group(table, group)

    def _decide_group(self, table: StagedTable, drivers: Sequence[_Driver]) -> Iterator[JoinResult]:
        found = self._find_rows({need.address for each in drivers for need in each.needs})
        ready = [each for each in drivers if not each.list_missing(found)]
        lacking = [each for each in drivers if each.list_missing(found)]
        final = self._locate(table.final or "")
        writer = UpsertWriter(self._client, final, table.shape)
        refused = writer.write(_make_final(each, found) for each in ready)
        for place, each in enumerate(ready):
            error = refused.get(place)
            yield replace(each.result, failure=Failure.of(error) if error else None)
        # A dependency may have been deleted since the record was joined.
        joined = read_rows(self._client, [RowAddress(final, each.result.key) for each in lacking])
        for each in lacking:
            row = joined.get(RowAddress(final, each.result.key))
            is_joined = row is not None and row[ORDER] >= each.row[ORDER]
            yield each.result if is_joined else _find_lacking(each, found)

    def _find_needs(self, table: StagedTable, row: _Row) -> tuple[_Need, ...]:
        """Return the rows that a row needs; a deleted row needs none."""
        if row.get(DELETED):
            return ()
        needs = []
        for each in table.dependencies:
            if each.name in row:
                raise UnroutableError(
                    f"found the field {each.name!r}, expected none with the name"
                    f" of the dependency on {each.table}: rename one of them"
                )
            other = self.plan.table(each.table)
            values = {field: row.get(column) for field, column in each.key}
            if each.optional and None in values.values():
                continue
            key = find_row_key(other.shape, values)
            address = RowAddress.of(self._locate(other.name), key)
            needs.append(_Need(each.name, write_name(other, address.key), address))
        return tuple(needs)

    def _find_rows(self, addresses: Collection[RowAddress]) -> dict[RowAddress, _Row]:
        """Return the rows that exist and are not deleted."""
        found = read_rows(self._client, addresses)
        return {address: row for address, row in found.items() if not row.get(DELETED)}

    def _wake(self, waiters: Sequence[Waiter]) -> JoinCounts:
        """Join rows that may have all dependencies now, and replace the items of those that do."""
        tables: dict[str, list[Waiter]] = {}
        parked = self.errors.find_parked([each.id for each in waiters])
        for each in filter(self._is_planned, waiters):
            if each.id in parked:  # a batch came again after its record was parked
                self.waiting.delete(each)
                continue
            tables.setdefault(each.table, []).append(each)
        counts = JoinCounts()
        for name, own in tables.items():
            results = self.resolve(self.plan.table(name), [each.key for each in own])
            for result in self._end_waiting(own, results):
                counts[_event(result, JoinEvent.RELEASED)] += 1
        del counts[JoinEvent.WAITING]  # they were counted when they began to wait
        return counts

    def _is_planned(self, waiter: Waiter) -> bool:
        """Return whether the plan has the driver's table and key; the retries park the others."""
        table = self.plan.find_driver(waiter.table)
        return table is not None and {name for name, _ in waiter.key} == set(table.shape.table_key)

    def _locate(self, name: str) -> str:
        return self._tables.replace("{table}", name)


@dataclass(frozen=True, slots=True)
class _Need:
    """A row that a driver's row needs: its attribute in the final row, its name and address."""

    attribute: str
    name: str
    address: RowAddress


@dataclass(frozen=True, slots=True)
class _Driver:
    """A driver's row, and the rows that it needs."""

    row: _Row
    result: JoinResult
    needs: tuple[_Need, ...]

    def list_missing(self, found: Collection[RowAddress]) -> dict[str, RowAddress]:
        """Return the needed rows that were not found, by their names."""
        return {need.name: need.address for need in self.needs if need.address not in found}


def write_name(table: StagedTable, key: Key) -> str:
    """Return the name of a row: `table/key`, or `table/key/sort` with both parts escaped."""
    values = dict(key)
    parts = [values[name] for name in table.shape.table_key]
    if len(parts) > 1:
        parts = [part.replace("%", "%25").replace("/", "%2F") for part in parts]
    return "/".join([table.name, *parts])


def read_name(plan: StagingPlan, name: str) -> tuple[StagedTable, Key]:
    """Return the driver table and the key of a row's name.

    Raises:
        UnroutableError: the plan has no such driver table, or another key for it.
    """
    table_name, _, rest = name.partition("/")
    table = plan.find_driver(table_name)
    names = table.shape.table_key if table else ()
    parts = [rest]
    if len(names) > 1:
        parts = [part.replace("%2F", "/").replace("%25", "%") for part in rest.split("/")]
    if table is None or len(names) != len(parts):
        raise UnroutableError(f"found the row {name}, expected a key of a driver table of the plan")
    return table, tuple(sorted(zip(names, parts, strict=True)))


def _read_key(table: StagedTable, row: _Row) -> Key:
    return tuple(sorted((name, row[name]) for name in table.shape.table_key))


def _event(result: JoinResult, done: JoinEvent) -> JoinEvent | Reason:
    if result.failure is None:
        return done
    is_unmet = result.failure.reason is Reason.UNMET_DEPENDENCY
    return JoinEvent.WAITING if is_unmet else result.failure.reason


def _file(result: JoinResult, failed: FailedRecord) -> FailedRecord:
    return replace(failed, stage=JOIN, driver=result.driver, waiting_for=result.missing)


def _make_waiter(table: StagedTable, result: JoinResult) -> Waiter:
    return Waiter(result.missing[0], table.name, result.key, result.letter_id, result.driver)


def _find_lacking(driver: _Driver, found: Collection[RowAddress]) -> JoinResult:
    """Return the result on a row that lacks dependencies."""
    missing = driver.list_missing(found)
    detail = f"found no row {', '.join(missing)}, expected the rows that it depends on"
    return replace(
        driver.result,
        failure=Failure(Reason.UNMET_DEPENDENCY, detail),
        missing=tuple(map(shorten_name, list(missing)[:_MOST_NAMES])),
        lacks=next(iter(missing.values())),
    )


def _make_final(driver: _Driver, found: Mapping[RowAddress, _Row]) -> _Row:
    """Return the driver's row with the rows that it needs."""
    rows = {}
    for need in driver.needs:
        row = found[need.address]
        rows[need.attribute] = {name: row[name] for name in row if name not in _OWN}
    return driver.row | rows


def _group(drivers: Iterable[_Driver]) -> Iterator[list[_Driver]]:
    """Yield drivers in groups that depend on at most 100 rows together."""
    group: list[_Driver] = []
    needs: set[RowAddress] = set()
    for each in drivers:
        own = {need.address for need in each.needs}
        if group and len(needs | own) > ROWS_AT_ONCE:
            yield group
            group, needs = [], set()
        group.append(each)
        needs |= own
    if group:
        yield group


def _in_hundreds(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), ROWS_AT_ONCE):
        yield items[start : start + ROWS_AT_ONCE]
