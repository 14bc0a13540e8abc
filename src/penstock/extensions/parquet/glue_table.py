"""A Glue table over a folder of Parquet files: its columns, and its partitions.

Columns are those of Glue's API, as dictionaries. A partition is added when its files are complete,
so that a reader of the table sees whole parts only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from http.client import HTTPException
from typing import Any, Final, TypeAlias

from botocore.exceptions import BotoCoreError, ClientError

from penstock.attempts import Attempts
from penstock.aws import AwsClient, Fault, Service, classify, classify_answer
from penstock.credentials import load_session
from penstock.errors import SettingsError, SinkAccessDeniedError, SinkUnavailableError
from penstock.tables import TABLE_INPUT

_Columns: TypeAlias = list[dict[str, Any]]

_ATTEMPTS: Final = Attempts(first_seconds=0.1, longest_seconds=2, total_seconds=30, jitter=True)
_PARTITIONS_AT_ONCE: Final = 100  # the limit of BatchCreatePartition
_PASSING: Final = frozenset({Fault.THROTTLED, Fault.DOWN, Fault.CONFLICT})
_DENIED: Final = frozenset({Fault.DENIED, Fault.SKEWED})
# What Glue answers without a table, and for a value that has another type than its key.
_INCOMPARABLE: Final = frozenset({Fault.MISSING, Fault.UNKNOWN})
_FORMAT: Final = {
    "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
    "OutputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
    "SerdeInfo": {
        "SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
        "Parameters": {"serialization.format": "1"},
    },
}


class GlueTable:
    """A table of Parquet files, which the first call of `grow` creates.

    Args:
        name: its name, as DATABASE.TABLE.
        location: the folder of its files, as a URL.
        keys: the types of its partition keys, by name.
        client: a client of Glue; by default one with the process's credentials.
        attempts: how long a call is repeated while Glue is down or another writer is faster.
    """

    def __init__(
        self,
        name: str,
        location: str,
        keys: Mapping[str, str],
        client: AwsClient | None = None,
        *,
        attempts: Attempts = _ATTEMPTS,
    ) -> None:
        self.name = name
        database, _, table = name.partition(".")
        self._place = {"DatabaseName": database}
        self._table = table
        self._location = location.rstrip("/")
        self._keys = [{"Name": key, "Type": type_} for key, type_ in keys.items()]
        self._glue = client or _open_client()
        self._attempts = attempts
        self._storage: dict[str, Any] = {}

    def grow(self, plan: Callable[[_Columns], _Columns]) -> _Columns:
        """Make the columns those that `plan` returns for the current ones; return them.

        `plan` is called again after a conflict with another writer.

        Raises:
            SettingsError: the table is one of other files.
            SinkAccessDeniedError, SinkUnavailableError: Glue refuses, or does not answer
                (retriable).
        """
        for _ in self._attempts:
            found = self._find_table()
            before = [] if found is None else self._read_columns(found)
            columns = plan(before)
            changed = found is None or columns != before
            if not changed or self._write_table(found, columns):
                self._storage = self._describe_storage(found, columns)
                return columns
        raise SinkUnavailableError(
            f"the columns of {self.name} could not be changed for "
            f"{self._attempts.total_seconds:g} s: each time another writer came first"
        )

    def has_partition(self, condition: str) -> bool:
        """Return whether a partition matches a condition on the keys, such as `batch = 7`."""
        return any(self._read_partitions(condition))

    def find_partitions(self, condition: str) -> dict[tuple[str, ...], str] | None:
        """Return the partitions that match a condition: their locations, by values of the keys.

        It is None without a table, and if Glue cannot compare: it refuses to if a partition has a
        value that its key's type cannot hold, such as a day after the year 9999.
        """
        found: dict[tuple[str, ...], str] = {}
        try:
            for page in self._read_partitions(condition, _INCOMPARABLE):
                found |= {
                    tuple(each["Values"]): each["StorageDescriptor"]["Location"] for each in page
                }
        except ClientError as error:
            if classify(error) not in _INCOMPARABLE:
                raise
            return None
        return found

    def add_partitions(self, partitions: Mapping[tuple[str, ...], str]) -> None:
        """Add partitions: their locations, by values of the keys; those that exist stay.

        Raises:
            SinkAccessDeniedError, SinkUnavailableError: some may be missing (retriable).
        """
        if not self._storage:
            self.grow(list)
        inputs = [
            {"Values": list(values), "StorageDescriptor": {**self._storage, "Location": place}}
            for values, place in partitions.items()
        ]
        for first in range(0, len(inputs), _PARTITIONS_AT_ONCE):
            some = inputs[first : first + _PARTITIONS_AT_ONCE]
            request = {**self._name(), "PartitionInputList": some}
            errors = self._call("BatchCreatePartition", request).get("Errors", [])
            for error in (each["ErrorDetail"] for each in errors):
                if classify_answer(error["ErrorCode"], 0) is not Fault.EXISTS:
                    raise SinkUnavailableError(
                        f"{self.name}: a partition could not be added: {error['ErrorCode']}: "
                        f"{error.get('ErrorMessage', '')}"
                    )

    def _read_partitions(
        self, condition: str, final: Collection[Fault] = ()
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield the partitions that match a condition, by page."""
        request = {**self._name(), "Expression": condition, "ExcludeColumnSchema": True}
        token: str | None = ""
        while token is not None:
            more = {"NextToken": token} if token else {}
            found = self._call("GetPartitions", {**request, **more}, final)
            yield found["Partitions"]
            token = found.get("NextToken")

    def _name(self) -> dict[str, str]:
        return {**self._place, "TableName": self._table}

    def _find_table(self) -> dict[str, Any] | None:
        request = {**self._place, "Name": self._table}
        try:
            table: dict[str, Any] = self._call("GetTable", request, {Fault.MISSING})["Table"]
        except ClientError as error:
            if classify(error) is not Fault.MISSING:
                raise
            return None
        return table

    def _read_columns(self, table: dict[str, Any]) -> _Columns:
        """Return the columns of a table, after a check that it is one of these files."""
        storage = table.get("StorageDescriptor", {})
        location = str(storage.get("Location", "")).rstrip("/")
        keys = [each["Name"] for each in table.get("PartitionKeys", [])]
        expected = [each["Name"] for each in self._keys]
        is_parquet = "parquet" in str(storage.get("SerdeInfo", {})).lower()
        if not is_parquet or location != self._location or keys != expected:
            raise SettingsError(
                [
                    f"{self.name} is a table of {location or 'no files'} with the partition keys "
                    f"{', '.join(keys) or 'none'}, expected one of Parquet files in "
                    f"{self._location} with {', '.join(expected)}: name another table"
                ]
            )
        columns: _Columns = storage.get("Columns", [])
        return columns

    def _describe_storage(self, table: dict[str, Any] | None, columns: _Columns) -> dict[str, Any]:
        before = {} if table is None else table["StorageDescriptor"]
        return {**_FORMAT, "Location": f"{self._location}/", **before, "Columns": columns}

    def _write_table(self, table: dict[str, Any] | None, columns: _Columns) -> bool:
        """Create or update the table; return False if another writer was faster."""
        storage = self._describe_storage(table, columns)
        if table is None:
            operation, lost = "CreateTable", Fault.EXISTS
            given: dict[str, Any] = {
                "Name": self._table,
                "TableType": "EXTERNAL_TABLE",
                "Parameters": {"EXTERNAL": "TRUE", "classification": "parquet"},
                "PartitionKeys": self._keys,
            }
            more = {}
        else:
            operation, lost = "UpdateTable", Fault.CONFLICT
            given = {name: value for name, value in table.items() if name in TABLE_INPUT}
            more = {"VersionId": table["VersionId"]} if "VersionId" in table else {}
        request = {**self._place, "TableInput": {**given, "StorageDescriptor": storage}, **more}
        try:
            self._call(operation, request, {lost})
        except ClientError as error:
            if classify(error) is not lost:
                raise
            return False
        return True

    def _call(
        self, operation: str, request: Mapping[str, Any], final: Collection[Fault] = ()
    ) -> dict[str, Any]:
        """Make a call; retry a failure that may be temporary, unless its fault is in `final`."""
        problem: Exception | None = None
        for _ in self._attempts:
            try:
                return self._glue.call(operation, request)
            except (ClientError, BotoCoreError, OSError, HTTPException, ValueError) as error:
                problem = error
                fault = classify(error)
                if fault in final and isinstance(error, ClientError):
                    raise
                if fault in _DENIED:
                    raise SinkAccessDeniedError(f"{self.name}: {error}") from error
                if fault not in _PASSING:
                    break
        raise SinkUnavailableError(
            f"{self.name}: Glue's {operation} failed: {problem}"
        ) from problem


def _open_client() -> AwsClient:
    try:
        return AwsClient(Service.GLUE, load_session())
    except (BotoCoreError, ValueError) as error:
        raise SettingsError([f"Glue cannot be used: {error}"]) from error
