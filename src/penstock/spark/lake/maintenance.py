"""Maintenance of a lake table: compaction, and removal of old snapshots and orphan files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from pyspark.sql import SparkSession

from penstock.settings import Settings, parse_names, parse_switch, setting
from penstock.spark.lake.expiration import expire_snapshots
from penstock.spark.lake.iceberg import LAKE_CATALOG, IcebergTable, qualify_table, repeat_commit
from penstock.spark.lake.widening import refill_columns
from penstock.tables import LEAST_KEPT_HOURS

_CALL: Final = f"CALL {LAKE_CATALOG}.system"
_HOUR: Final = 3_600

_Step = Callable[[], Any]


def _parse_tables(text: str) -> str:
    return ",".join(parse_names(text))


@dataclass(frozen=True, slots=True)
class MaintainSettings(Settings):
    """All settings of jobs/maintain_lake.py."""

    lake_table: str = setting(
        "PENSTOCK_LAKE_TABLE",
        "Iceberg table, as DATABASE.TABLE, or several with commas",
        parse=_parse_tables,
    )
    keep_hours: int = setting(
        "PENSTOCK_KEEP_HOURS",
        f"hours that snapshots are kept, {LEAST_KEPT_HOURS} or more",
        parse=int,
        default=120,
    )
    orphan_hours: int = setting(
        "PENSTOCK_ORPHAN_HOURS",
        f"hours after which files of no snapshot are removed, {LEAST_KEPT_HOURS} or more",
        parse=int,
        default=72,
    )
    file_mib: int = setting(
        "PENSTOCK_FILE_MIB", "size in MiB that small files grow to", parse=int, default=512
    )
    delete_files: int = setting(
        "PENSTOCK_DELETE_FILES",
        "delete files of a data file that is rewritten without its deleted rows, 1 or more",
        parse=int,
        default=3,
    )
    if_there: bool = setting(
        "PENSTOCK_IF_THERE",
        "true to leave out tables that are not there, as before their first record",
        parse=parse_switch,
        default=False,
    )

    def by_table(self) -> list[MaintainSettings]:
        """Return the same settings once for each table."""
        return [replace(self, lake_table=table) for table in self.lake_table.split(",")]

    def problems(self) -> Iterator[str]:
        """Yield each value that is too small to keep markers and files of running commits."""
        for flag, value, least in (
            ("--keep-hours", self.keep_hours, LEAST_KEPT_HOURS),
            ("--orphan-hours", self.orphan_hours, LEAST_KEPT_HOURS),
            ("--file-mib", self.file_mib, 1),
            ("--delete-files", self.delete_files, 1),
        ):
            if value is not None and value < least:
                yield f"{flag} is {value}, expected {least} or more"


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The numbers of files and snapshots before and after maintenance."""

    table: str
    files_before: int
    files_after: int
    snapshots_before: int
    snapshots_after: int
    orphans_removed: int


def maintain_table(
    spark: SparkSession, settings: MaintainSettings, clock: Callable[[], float] = time.time
) -> Upkeep:
    """Refill widened columns, compact files, then expire old snapshots and remove orphan files.

    Jobs may write to the table meanwhile; they find their markers, or records of them. A table
    without a snapshot has nothing to do, nor one that need not be there and is not.

    Raises:
        ExceptionGroup: steps failed; the others are done.
        SinkUnavailableError: see `IcebergTable.check_time`.
    """
    name = qualify_table(settings.lake_table)
    if settings.if_there and not spark.catalog.tableExists(name):
        return Upkeep(name, 0, 0, 0, 0, 0)
    found = IcebergTable(spark, name)
    files, snapshots = found.count_files(), found.count_snapshots()
    if not snapshots:
        return Upkeep(found.name, 0, 0, 0, 0, 0)
    found.check_time()
    done = _take_steps(found.name, _list_steps(spark, found, settings, int(clock())))
    found.refresh()
    after = found.count_files(), found.count_snapshots()
    return Upkeep(found.name, files, after[0], snapshots, after[1], done["orphan files"])


def _list_steps(
    spark: SparkSession, found: IcebergTable, settings: MaintainSettings, now: int
) -> dict[str, _Step]:
    """Return the steps of maintenance in their order, each by the name of what it is about."""
    table, run = settings.lake_table, partial(repeat_commit, spark, table=found)
    options = {
        "target-file-size-bytes": settings.file_mib * 2**20,
        "delete-file-threshold": settings.delete_files,
    }
    data, deletes = write_compaction(table, options)
    expire_before = (now - settings.keep_hours * _HOUR) * 1_000

    def remove_orphans() -> int:
        return spark.sql(
            f"{_CALL}.remove_orphan_files(table => '{table}', prefix_listing => true, "
            f"older_than => TIMESTAMP_SECONDS({now - settings.orphan_hours * _HOUR}))"
        ).count()

    return {
        # The driver of another query may have died before it did so itself.
        "widened columns": lambda: refill_columns(spark, found),
        "data files": lambda: run(data),
        "delete files": lambda: run(deletes),
        "manifests": lambda: run(f"{_CALL}.rewrite_manifests(table => '{table}')"),
        "snapshots": lambda: expire_snapshots(found, expire_before),
        "orphan files": remove_orphans,
    }


def _take_steps(table: str, steps: Mapping[str, _Step]) -> dict[str, Any]:
    """Take all steps, also after one that failed, and return what each has returned."""
    done, failed = dict[str, Any](), dict[str, Exception]()
    for name, step in steps.items():
        try:
            done[name] = step()
        except Exception as error:  # whatever Spark, Iceberg or S3 refuse
            failed[name] = error
    if failed:
        raise ExceptionGroup(f"{table}: {', '.join(failed)} failed", [*failed.values()])
    return done


def write_compaction(table: str, options: Mapping[str, int]) -> tuple[str, str]:
    """Return the SQL that compacts the data files of a table, and then its delete files."""
    given = ", ".join(f"'{name}', '{value}'" for name, value in options.items())
    return (
        f"{_CALL}.rewrite_data_files(table => '{table}', options => map({given}))",
        # Delete files of data files that were written again stay otherwise.
        f"{_CALL}.rewrite_position_delete_files("
        f"table => '{table}', options => map('rewrite-all', 'true'))",
    )
