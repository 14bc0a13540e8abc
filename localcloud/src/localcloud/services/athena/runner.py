"""Runs a query as its caller, in its own thread, and writes the result to a bucket."""

from __future__ import annotations

import functools
import logging
import threading
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.exceptions import ClientError

from localcloud.cloud import Cloud
from localcloud.door.errors import AwsError
from localcloud.identity.callers import Caller
from localcloud.identity.data_access import find_data_access
from localcloud.queries import (
    Query,
    QueryFailedError,
    QueryState,
    Result,
    ScanLimitError,
    StatementKind,
)
from localcloud.services.athena.model import INVALID, Execution

_log = logging.getLogger(__name__)
_STOP_SECONDS = 10
_SECRET = "localcloud"  # noqa: S105 - signatures are not checked, the key says who calls
_SEALED = {"SSE_S3": "AES256", "SSE_KMS": "aws:kms", "CSE_KMS": "aws:kms"}


def open_client(cloud: Cloud, caller: Caller, service: str) -> Any:
    """Open a client that acts as the caller, as Athena does."""
    return _open(cloud.endpoint, caller.access_key, caller.region, service)


@functools.lru_cache(maxsize=32)  # creating a client takes longer than a small query
def _open(endpoint: str, access_key: str, region: str, service: str) -> Any:
    session: Any = boto3.Session(
        region_name=region, aws_access_key_id=access_key, aws_secret_access_key=_SECRET
    )
    return session.client(service, endpoint_url=endpoint)


def check_output(cloud: Cloud, caller: Caller, location: str) -> None:
    """Refuse a bucket that does not exist or that the caller must not see."""
    bucket = urlsplit(location).netloc
    try:
        open_client(cloud, caller, "s3").get_bucket_location(Bucket=bucket)
    except ClientError as error:
        raise AwsError(INVALID, f"Unable to verify/create output bucket {bucket}") from error


class RunningQueries:
    """The running queries, which end with localcloud: DuckDB's threads must not outlive Python."""

    def __init__(self) -> None:
        self._queries: list[Query] = []
        self._adding = threading.Lock()

    def start(self, cloud: Cloud, caller: Caller, execution: Execution) -> None:
        """Run a query in the background."""
        with self._adding:
            if not self._queries:
                cloud.on_stop(self.stop)
            self._queries.append(execution.query)
        arguments = (cloud, caller, execution)
        threading.Thread(target=_run, args=arguments, name="query", daemon=True).start()

    def stop(self) -> None:
        """Cancel all queries."""
        for query in self._queries:
            query.cancel("localcloud ended", _STOP_SECONDS)


def _run(cloud: Cloud, caller: Caller, execution: Execution) -> None:
    query = execution.query
    query.go_to(QueryState.RUNNING)
    try:
        query.result = _answer(cloud, caller, execution)
        if not query.state.final:
            _write_result(cloud, caller, execution, query.result)
        query.go_to(QueryState.SUCCEEDED)
    except QueryFailedError as error:
        query.go_to(QueryState.FAILED, str(error))
    except ScanLimitError as error:
        query.go_to(QueryState.CANCELLED, str(error))
    except Exception as error:  # a bug of ours: it must be visible in the query
        _log.exception("query %s failed", query.id)
        said = f"localcloud failed: {type(error).__name__}: {error}"
        query.go_to(QueryState.FAILED, f"GENERIC_INTERNAL_ERROR: {said}")
    finally:
        query.over.set()


def _answer(cloud: Cloud, caller: Caller, execution: Execution) -> Result:
    # The import takes a second and 100 MB, which only queries need.
    from localcloud.queries.engine import run_query  # noqa: PLC0415
    from localcloud.queries.tables import Catalog, Files, Granted  # noqa: PLC0415

    def find_granted(table: dict[str, Any]) -> Granted:
        access = find_data_access(cloud, caller, table)
        access_key = access.key.access_key if access.key else caller.access_key
        io = {
            "py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO",
            "s3.endpoint": cloud.endpoint,
            "s3.region": caller.region,
            "s3.access-key-id": access_key,
            "s3.secret-access-key": _SECRET,
        }
        files = Files(_open(cloud.endpoint, access_key, caller.region, "s3"), io)
        return Granted(access.table, access.columns, access.rows, files)

    catalog = Catalog(
        open_client(cloud, caller, "glue"), open_client(cloud, caller, "s3"), find_granted
    )
    return run_query(execution.query, catalog, execution.settings.max_bytes)


def _write_result(cloud: Cloud, caller: Caller, execution: Execution, result: Result) -> None:
    """Write the rows as CSV, or the names of the files that were written."""
    lines: list[tuple[str | None, ...]] = [tuple(name for name, _ in result.columns), *result.rows]
    text = "".join(",".join(map(_quote, line)) + "\n" for line in lines)
    if execution.query.kind is not StatementKind.SELECT:
        text = "".join(f"{file}\n" for file in result.written_files)
    place = urlsplit(execution.output_location)
    encryption = execution.settings.output.get("EncryptionConfiguration", {})
    sealed = {"ServerSideEncryption": _SEALED[encryption["EncryptionOption"]]} if encryption else {}
    if "KmsKey" in encryption:
        sealed["SSEKMSKeyId"] = encryption["KmsKey"]
    try:
        open_client(cloud, caller, "s3").put_object(
            Bucket=place.netloc,
            Key=place.path.lstrip("/"),
            Body=text.encode(),
            **sealed,
        )
    except ClientError as error:
        raise QueryFailedError(
            f"Access denied when writing output to url: {execution.output_location} . Please "
            "ensure you are allowed to access the S3 bucket. If you are encrypting query results "
            "with KMS key, please ensure you are allowed to access your KMS key"
        ) from error


def _quote(value: str | None) -> str:
    """Quote a value; null is empty, without quotes."""
    return "" if value is None else '"' + value.replace('"', '""') + '"'
