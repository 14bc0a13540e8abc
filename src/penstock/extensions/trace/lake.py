"""The file of an Iceberg table that holds the row of a record, and the snapshot that added it.

Manifests have the least and the greatest values of each file's columns, so that few files are read:
those whose topics, partitions, offsets and event times may be the record's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from pyiceberg.catalog.glue import GlueCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import And, BooleanExpression, EqualTo, GreaterThan, LessThan, Or
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import ManifestEntry
from pyiceberg.table import FileScanTask, ManifestGroupPlanner, Table

from penstock.credentials import load_session
from penstock.errors import OperationError
from penstock.records import Source
from penstock.tables import EVENT_TIME

_CONFIG: Final = Config(
    connect_timeout=3, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 3}
)
_MOST_FILES: Final = 50
_WRITTEN: Final = "_kafka_timestamp"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NEAR: Final = timedelta(seconds=1)  # a column holds microseconds, an event nanoseconds


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file with rows of a record, and the snapshot that added it.

    `committed_ms` is None if the snapshot has expired; `operation` is `append` if a job wrote it,
    and `replace` if the file was made of others by the maintenance of the table.
    """

    location: str
    rows: int
    snapshot: int | None
    operation: str = ""
    committed_ms: int | None = None


def find_files(
    name: str, source: Source, written_ms: int | None, event_ms: int | None
) -> tuple[LakeFile, ...]:
    """Return the files of a table DATABASE.TABLE that have rows of a record; usually one.

    Args:
        name: the table.
        source: the place of the record.
        written_ms: Kafka's timestamp of it, if that is known: a topic that was created again has
            other records at its places.
        event_ms: its event time, if that is known: its column `_event_time` has that or, if they
            are too far from each other, Kafka's timestamp.

    Raises:
        OperationError: the table cannot be read, is not there, or too many files may have it.
    """
    with _translated(name):
        table = _load_table(name)
        written = _find_moment(written_ms)
        wanted = _write_filter(source, written, _find_moment(event_ms))
        files, snapshots = _plan_files(table, wanted)
        if len(files) > _MOST_FILES:
            raise OperationError(
                f"{name} cannot be searched: {len(files):,} files may have the record, expected "
                f"at most {_MOST_FILES}"
            )
        place = _write_filter(source, written, None)
        found = ((each.file.file_path, _count_rows(table, each, place)) for each in files)
        return tuple(
            _describe_file(table, path, snapshots[path], rows) for path, rows in found if rows
        )


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Translate errors of pyiceberg, pyarrow and botocore."""
    try:
        yield
    except NoSuchTableError as error:
        raise OperationError(f"{name} is not there yet") from error
    except (BotoCoreError, ClientError, OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise OperationError(f"{name} cannot be read: {reason:.500}") from error


def _load_table(name: str) -> Table:
    session = load_session()
    glue: Any = session.create_client("glue", config=_CONFIG)
    s3: Any = session.create_client("s3", config=_CONFIG)
    credentials = session.get_credentials()
    if credentials is None:
        raise OperationError(f"{name} cannot be read: found no credentials of AWS")
    keys = credentials.get_frozen_credentials()
    properties = {
        "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
        "s3.endpoint": s3.meta.endpoint_url,
        "s3.region": s3.meta.region_name,
        "s3.access-key-id": keys.access_key,
        "s3.secret-access-key": keys.secret_key,
        **({"s3.session-token": keys.token} if keys.token else {}),
    }
    return GlueCatalog("penstock", client=glue, **properties).load_table(tuple(name.split(".")))


def _find_moment(milliseconds: int | None) -> datetime | None:
    """Return the moment; None also for one of a year that no calendar has."""
    try:
        return None if milliseconds is None else _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def _write_filter(
    source: Source, written: datetime | None, event_time: datetime | None
) -> BooleanExpression:
    # pyiceberg's types know the arguments of its JSON alone.
    equal, greater, less = cast(Any, (EqualTo, GreaterThan, LessThan))
    place = And(
        equal("_topic", source.topic),
        equal("_kafka_partition", source.partition),
        equal("_offset", source.offset),
    )
    if written is not None:
        place = And(place, equal(_WRITTEN, written.isoformat()))
    if event_time is None:
        return place
    near = [
        And(
            greater(EVENT_TIME, (time - _NEAR).isoformat()),
            less(EVENT_TIME, (time + _NEAR).isoformat()),
        )
        for time in (event_time, written)
        if time is not None
    ]
    return And(place, Or(*near) if len(near) > 1 else near[0])


def _plan_files(
    table: Table, wanted: BooleanExpression
) -> tuple[list[FileScanTask], dict[str, int | None]]:
    """Return the data files that may have the wanted rows, and the snapshots that added them."""
    snapshot = table.current_snapshot()
    if snapshot is None:
        return [], {}
    snapshots: dict[str, int | None] = {}

    def note(entry: ManifestEntry) -> bool:
        snapshots[entry.data_file.file_path] = entry.snapshot_id
        return True

    planner = ManifestGroupPlanner(table.metadata, table.io, wanted)
    return [*planner.plan_files(snapshot.manifests(table.io), note)], snapshots


def _count_rows(table: Table, file: FileScanTask, place: BooleanExpression) -> int:
    """Return how many rows of a file are of a record, without those that delete files delete."""
    column = table.schema().select("_offset")
    return int(ArrowScan(table.metadata, table.io, column, place).to_table([file]).num_rows)


def _describe_file(table: Table, location: str, number: int | None, rows: int) -> LakeFile:
    snapshot = None if number is None else table.snapshot_by_id(number)
    if snapshot is None:
        return LakeFile(location, rows, number)
    summary = snapshot.summary
    operation = summary.operation.value if summary else ""
    return LakeFile(location, rows, number, operation, snapshot.timestamp_ms)
