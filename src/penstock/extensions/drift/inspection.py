"""The comparison of tables with the events that they get, and the safe changes of tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from penstock.errors import SinkUnavailableError
from penstock.extensions.drift._clients import ATTEMPTS, THREADS, Clients, GlueTable
from penstock.extensions.drift._comparison import (
    Footer,
    Mismatch,
    compare_copy,
    compare_footers,
    compare_partition,
    plan_table,
)
from penstock.extensions.drift._iceberg import IcebergMetadata
from penstock.extensions.drift._rows import compare_rows, sample_rows
from penstock.extensions.drift.differences import Difference
from penstock.progress import ReportProgress, ignore_progress
from penstock.tables import (
    Growth,
    Struct,
    hold_event,
    name_fields,
    read_glue_column,
    write_glue_columns,
)

_NO_TABLE = "the job's first batch makes it; a table of files is made by its Terraform"
_PARTITION = "Athena reads a partition by its own columns: update it, or drop it and add it again"


@dataclass(frozen=True, slots=True)
class TableTarget:
    """The events that reach tables of the Glue catalog, as DATABASE.TABLE, and of DynamoDB."""

    event: Struct
    tables: tuple[str, ...] = ()
    dynamodb: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The most files whose footers are read, and the rows that are read of a DynamoDB table."""

    files: int = 10_000
    rows: int = 100


@dataclass(frozen=True, slots=True)
class Inspection:
    """The differences of tables, the AWS calls that found them, and the files read and left."""

    differences: tuple[Difference, ...]
    calls: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    files_left: int = 0


@dataclass(frozen=True, slots=True)
class SyncedTable:
    """A table's changes, done or planned, and the differences that need a decision."""

    name: str
    changes: tuple[Difference, ...]
    left: tuple[Difference, ...]
    applied: bool = False


@dataclass(frozen=True, slots=True)
class _Opened:
    """A table of the catalog, compared without its files.

    `growth` and `optional` are safe changes: what to add and widen, and the paths to make optional.
    `folders` are those of plain files.
    """

    name: str
    clients: Clients
    differences: tuple[Difference, ...]
    target: Struct = field(default_factory=Struct)
    growth: Growth = field(default_factory=Growth)
    optional: tuple[str, ...] = ()
    found: GlueTable | None = None
    metadata: IcebergMetadata | None = None
    folders: tuple[str, ...] = ()

    def list_folders(self) -> list[list[str]]:
        """Return the files of each folder, oldest first."""
        folders: dict[str, list[tuple[Any, str]]] = {}
        if self.metadata is not None:
            files: Iterator[tuple[Any, str]] = self._list_committed(self.metadata)
        else:
            files = self._list_stored()
        for age, path in files:
            folders.setdefault(path.rpartition("/")[0], []).append((age, path))
        return [[path for _, path in sorted(files)] for files in folders.values()]

    def _list_committed(self, metadata: IcebergMetadata) -> Iterator[tuple[Any, str]]:
        for each in metadata.list_files():
            yield each.sequence, each.location

    def _list_stored(self) -> Iterator[tuple[Any, str]]:
        for folder in self.folders:
            for each in self.clients.list_files(folder):
                yield each.written_at, each.location

    def compare_files(self, footers: Sequence[tuple[str, Footer]]) -> list[Difference]:
        """Compare the footers of files with the table."""
        if self.metadata is not None:
            fields, named = self.metadata.schema.fields(), self.metadata.has_name_mapping
            return compare_footers(footers, self.target, fields, named=named)
        keys = self.found.partition_keys if self.found else ()
        return compare_footers(footers, self.target, skipped=keys)


def inspect_tables(
    targets: Sequence[TableTarget],
    limits: Limits | None = None,
    clients: Clients | None = None,
    report: ReportProgress = ignore_progress,
) -> Inspection:
    """Compare tables with events: the catalog, Iceberg's schema, footers of files, and rows.

    A table is read by one call for its metadata, one for its manifest list, one per manifest and
    one per file; tables of files by one per 1,000 objects instead.

    Raises:
        OperationError: a table or file cannot be read as what it is.
        SinkAccessDeniedError, SinkUnavailableError: AWS denies a call, or does not answer.
    """
    limits, clients = limits or Limits(), clients or Clients()
    found = _find_tables(clients, targets)
    for service in ("s3", "dynamodb"):
        clients.get(service)  # a session builds clients in one thread
    wanted = [(name, each.event) for each in targets for name in each.tables]
    with ThreadPoolExecutor(THREADS) as pool:
        opened = []
        report("tables", 0, len(wanted))
        for table in pool.map(lambda it: _open(clients, it[0], found.get(it[0]), it[1]), wanted):
            opened.append(table)
            report("tables", len(opened), len(wanted))
        footers, left = _read_footers(pool, clients, opened, limits.files, report)
    differences = [
        each
        for table, read in zip(opened, footers, strict=True)
        for each in (*table.differences, *table.compare_files(read))
    ]
    for target in targets:
        for name in target.dynamodb:
            rows, keys = sample_rows(clients, name, limits.rows)
            differences += compare_rows(f"dynamodb {name}", rows, target.event, keys)
    calls = dict(sorted(clients.calls.items()))
    return Inspection(tuple(differences), calls, sum(map(len, footers)), left)


def _read_footers(
    pool: Executor, clients: Clients, opened: Sequence[_Opened], most: int, report: ReportProgress
) -> tuple[list[list[tuple[str, Footer]]], int]:
    """Return the files of each table with their footers, and the number of files left unread."""
    # The sync of tables, in a function too, does without pyarrow, which is large.
    from penstock.extensions.drift._footers import read_footer  # noqa: PLC0415

    listed = list(pool.map(_Opened.list_folders, opened))
    owners = {file: at for at, folders in enumerate(listed) for files in folders for file in files}
    chosen = _choose_files([files for folders in listed for files in folders], most)
    footers: list[list[tuple[str, Footer]]] = [[] for _ in opened]
    report("footers", 0, len(chosen))
    read = zip(chosen, pool.map(partial(read_footer, clients), chosen), strict=True)
    for done, (path, footer) in enumerate(read, 1):
        footers[owners[path]].append((path, footer))
        report("footers", done, len(chosen))
    return footers, len(owners) - len(chosen)


def _choose_files(folders: Iterable[Sequence[str]], most: int) -> list[str]:
    """Return the files to read: the oldest and the newest of each folder first.

    Args:
        folders: the files of each folder, oldest first.
        most: the number of files.
    """
    ranked: list[tuple[int, str]] = []
    for files in folders:
        order = [*files[:1], *reversed(files[1:])]
        ranked += enumerate(order)
    ranked.sort(key=lambda each: each[0])
    return [file for _, file in ranked[:most]]


def sync_tables(
    targets: Sequence[TableTarget],
    *,
    apply: bool,
    clients: Clients | None = None,
    report: ReportProgress = ignore_progress,
    tell: Callable[[SyncedTable], None] = lambda _: None,
) -> tuple[SyncedTable, ...]:
    """Plan the safe changes of tables of the catalog, and make them if `apply` is true.

    A table is changed by one commit; if another commit comes first, its change is planned again.
    `tell` is called with each table when it is done.

    Raises:
        OperationError, SinkAccessDeniedError, SinkUnavailableError: see `inspect_tables`.
    """
    clients = clients or Clients()
    found = _find_tables(clients, targets)
    wanted = [(name, each.event) for each in targets for name in each.tables]
    report("tables", 0, len(wanted))
    synced: list[SyncedTable] = []
    for name, event in wanted:
        synced.append(_sync(clients, name, found.get(name), event, apply=apply))
        tell(synced[-1])
        report("tables", len(synced), len(wanted))
    return tuple(synced)


def _find_tables(clients: Clients, targets: Sequence[TableTarget]) -> dict[str, GlueTable]:
    return clients.find_tables([name for each in targets for name in each.tables])


def _open(clients: Clients, name: str, found: GlueTable | None, event: Struct) -> _Opened:
    if found is None:
        place = f"glue {name}"
        missing = Difference(place, "*", "no table", "a table", _NO_TABLE)
        return _Opened(name, clients, (missing,))
    if found.metadata_location is None:
        return _open_files(clients, name, found, event)
    metadata = IcebergMetadata(clients, name, found.metadata_location)
    place = f"iceberg {name}"
    plan = plan_table(place, metadata.schema.columns, event)
    optional = tuple(metadata.schema.required)
    differences = (
        *plan.differences,
        *(Difference(place, path, "required", "optional") for path in optional),
        *compare_copy(f"glue {name}", found.columns, plan.target),
    )
    return _Opened(name, clients, differences, plan.target, plan.growth, optional, found, metadata)


def _open_files(clients: Clients, name: str, found: GlueTable, event: Struct) -> _Opened:
    """Open a table of plain files, whose columns get the names that they have in files."""
    place, keys = f"glue {name}", found.partition_keys
    columns = Struct(tuple(map(read_glue_column, found.storage.get("Columns", ()))))
    named = name_fields(columns, hold_event(Struct(), event, keys), event)
    plan = plan_table(place, named, event, keys)
    partitions, folders = _read_partitions(clients, found, plan.target)
    differences = (*plan.differences, *partitions)
    return _Opened(
        name, clients, differences, plan.target, plan.growth, found=found, folders=folders
    )


def _read_partitions(
    clients: Clients, table: GlueTable, target: Struct
) -> tuple[list[Difference], tuple[str, ...]]:
    """Return the differences of all partitions, and the folders of the table's files.

    A table may have millions of partitions, each with all columns: none is kept.
    """
    counts: Counter[Mismatch] = Counter()
    first: dict[Mismatch, str] = {}
    inside, outside = table.location.rstrip("/") + "/", set()
    compare = lru_cache(lambda text: compare_partition(json.loads(text), target))
    for each in clients.list_partitions(table):
        storage = each.get("StorageDescriptor", {})
        place = storage.get("Location", "").rstrip("/")
        if place and not place.startswith(inside):
            outside.add(place)
        for mismatch in compare(json.dumps(storage.get("Columns", ()))):
            counts[mismatch] += 1
            first.setdefault(mismatch, "/".join(each["Values"]))
    found = [
        Difference(
            f"glue {table.name} {'partition' if count == 1 else 'partitions such as'} {first[it]}",
            *it,
            _PARTITION,
            count,
        )
        for it, count in counts.items()
    ]
    return found, (inside, *sorted(outside))


def _sync(
    clients: Clients, name: str, found: GlueTable | None, event: Struct, *, apply: bool
) -> SyncedTable:
    for _ in ATTEMPTS:
        opened = _open(clients, name, found, event)
        changes = tuple(each for each in opened.differences if each.is_safe)
        left = tuple(each for each in opened.differences if not each.is_safe)
        if not apply or not changes or found is None:
            return SyncedTable(name, changes, left)
        if _change(clients, opened, found):
            return SyncedTable(name, changes, left, applied=True)
        found = clients.find_tables([name]).get(name)
    raise SinkUnavailableError(
        f"the columns of {name} could not be changed for {ATTEMPTS.total_seconds:g} s: each time "
        "other commits came first"
    )


def _change(clients: Clients, opened: _Opened, found: GlueTable) -> bool:
    """Make the safe changes in one call of UpdateTable; return False if the table was changed."""
    if opened.metadata is None:
        columns = write_glue_columns(found.storage.get("Columns", ()), opened.target)
        return clients.set_columns(found, columns)
    if opened.growth == Growth() and not opened.optional:
        return clients.set_columns(found, opened.metadata.glue_columns())
    return opened.metadata.grow(opened.growth, opened.optional)
