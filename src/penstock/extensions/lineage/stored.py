"""Tables as they are: their columns, and the schema versions that their rows name.

| kind     | columns                                       | versions of rows     |
| -------- | --------------------------------------------- | -------------------- |
| iceberg  | those of the metadata, at a moment if wanted  | by a query of Athena |
| parquet  | those of the Glue catalog                     | by a query of Athena |
| dynamodb | the attributes of the rows that are read      | by these rows        |
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws import Athena, quote_identifier
from penstock.credentials import load_session
from penstock.errors import OperationError
from penstock.records import DELETED
from penstock.sinks import DynamoDbClient, ObjectStore, name_type
from penstock.tables import Column, Marker, mark_field, read_glue_column

_GZIP: Final = b"\x1f\x8b"
_ROWS_AT_ONCE: Final = 1_000


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table: its columns, and its rows by topic and key of a version, None if not counted.

    `unmarked` says that snapshots have no marker of a job's batch, empty if all have.
    """

    kind: str
    columns: tuple[Column, ...] = ()
    rows: Mapping[tuple[str, str], int] | None = None
    notes: tuple[str, ...] = ()
    unmarked: str = ""


class Tables:
    """Reads tables with the process's credentials.

    Args:
        workgroup: the work group of Athena that counts rows.
        most_rows: the most rows that are read of a table of DynamoDB.
        as_of: the moment of the tables, None for now.
        wait: the most seconds that a query takes.
    """

    def __init__(
        self, workgroup: str, most_rows: int, as_of: datetime | None = None, wait: float = 300
    ) -> None:
        self._athena = Athena(workgroup, wait)
        self._store = ObjectStore("")
        self._dynamodb = DynamoDbClient()
        self._most_rows = most_rows
        self._as_of = as_of

    @cached_property
    def account_id(self) -> str:
        """The account of the process's credentials, whose tables it reads.

        Raises (when read):
            OperationError: it cannot be found.
        """
        return _find_account()

    def read(self, kind: str, name: str) -> StoredTable:
        """Return a table, DATABASE.TABLE of the catalog or one of DynamoDB.

        Raises:
            OperationError: a query or the metadata cannot be read as what it is.
            SinkAccessDeniedError, SinkUnavailableError: AWS denies a call, or does not answer.
        """
        return self._read_rows(name) if kind == "dynamodb" else self._read_catalog(name)

    def _read_catalog(self, name: str) -> StoredTable:
        if not self._athena.has_table(name):
            return StoredTable("", notes=("the table is not there yet",))
        found = self._athena.find_table(name)
        location = found.get("Parameters", {}).get("metadata_location")
        unmarked = ""
        if location is None:
            kind, notes = "parquet", []
            given = found.get("StorageDescriptor", {}).get("Columns", ())
            columns = tuple(map(read_glue_column, given))
            if self._as_of:
                notes.append("its columns are those of now: the catalog keeps no others")
        else:
            kind = "iceberg"
            columns, notes, unmarked = _read_metadata(self._fetch(location), self._as_of)
        if not any(each.name == "_schema_id" for each in columns):
            notes.append("its rows do not say their schema versions: it has no column _schema_id")
            return StoredTable(kind, columns, None, tuple(notes), unmarked)
        return StoredTable(kind, columns, self._count_rows(name), tuple(notes), unmarked)

    def _fetch(self, location: str) -> Any:
        content = self._store.get(location)
        return json.loads(gzip.decompress(content) if content.startswith(_GZIP) else content)

    def _count_rows(self, name: str) -> dict[tuple[str, str], int]:
        answer = self._athena.ask(_write_count(name, self._as_of), name.partition(".")[0])
        return {
            (str(row["topic"]), str(row["id"])): int(row["n"] or 0)
            for row in answer.rows
            if row["id"] is not None
        }

    def _read_rows(self, name: str) -> StoredTable:
        counts: Counter[tuple[str, str]] = Counter()
        types: dict[str, str] = {}
        is_whole = True
        for read, row in enumerate(self._scan(name)):
            if read == self._most_rows:
                is_whole = False
                break
            if DELETED in row:
                continue
            counts[_read_text(row, "_topic"), _read_text(row, "_schemaId")] += 1
            for attribute, value in row.items():
                types.setdefault(attribute, name_type(value))
        columns = tuple(Column(each, type_, mark_field("", each)) for each, type_ in types.items())
        notes = [] if is_whole else [f"only {self._most_rows:,} of its rows were read (--rows)"]
        if self._as_of:
            notes.append("its rows are those of now: it keeps no others")
        return StoredTable("dynamodb", columns, counts, tuple(notes))

    def _scan(self, name: str) -> Iterator[Mapping[str, Any]]:
        # With one row more than wanted, a page tells whether the table has more.
        limit = min(self._most_rows, _ROWS_AT_ONCE) + 1
        start: dict[str, Any] = {}
        while True:
            request = {"TableName": name, "Limit": limit, **start}
            answer = self._dynamodb.call("Scan", json.dumps(request).encode())
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def _find_account() -> str:
    """Return the account of the process's credentials, whose tables it reads."""
    try:
        client: Any = load_session().create_client("sts")
        return str(client.get_caller_identity()["Account"])
    except (BotoCoreError, ClientError) as error:
        said = str(error).rstrip(".")
        raise OperationError(f"the account of the credentials cannot be found: {said}") from error


def _read_text(row: Mapping[str, Any], attribute: str) -> str:
    return str(row.get(attribute, {}).get("S", ""))


def _write_count(name: str, as_of: datetime | None) -> str:
    """Return the query of the rows of each version, which reads two columns."""
    where = ""
    if as_of:
        moment = as_of.astimezone(UTC)
        where = f" WHERE \"_kafka_timestamp\" <= TIMESTAMP '{moment:%Y-%m-%d %H:%M:%S.%f} UTC'"
    table = quote_identifier(name.split("."))
    return (
        'SELECT "_topic" AS "topic", "_schema_id" AS "id", count(*) AS "n" '  # noqa: S608 - quoted
        f'FROM {table}{where} GROUP BY "_topic", "_schema_id"'
    )


def _read_metadata(
    found: Mapping[str, Any], as_of: datetime | None
) -> tuple[tuple[Column, ...], list[str], str]:
    """Return the columns of Iceberg's metadata at a moment, notes, and its unmarked snapshots."""
    notes = []
    schemas = {each["schema-id"]: each for each in found["schemas"]}
    schema = schemas[found["current-schema-id"]]
    snapshots = sorted(found.get("snapshots", ()), key=lambda each: int(each["timestamp-ms"]))
    if as_of:
        moment = as_of.timestamp() * 1_000
        snapshots = [each for each in snapshots if each["timestamp-ms"] <= moment]
        if snapshots:
            schema = schemas[snapshots[-1].get("schema-id", found["current-schema-id"])]
        else:
            notes.append("no snapshot of that time is kept: its columns are those of now")
    foreign = [each for each in snapshots if _is_foreign(each.get("summary", {}))]
    unmarked = (
        "snapshots that another program than a job of Penstock appended: "
        f"{len(foreign)} of the {len(snapshots)} that it keeps"
    )
    columns = (
        Column(each["name"], _describe_type(each["type"]), each.get("doc", ""))
        for each in schema["fields"]
    )
    return tuple(columns), notes, unmarked if foreign else ""


def _is_foreign(summary: Mapping[str, str]) -> bool:
    return summary.get("operation") == "append" and Marker.from_summary(summary) is None


def _describe_type(type_: Any) -> str:
    return type_ if isinstance(type_, str) else str(type_["type"])
