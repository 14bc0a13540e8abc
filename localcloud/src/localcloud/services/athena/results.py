"""Query results, page by page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.queries import QueryState, StatementKind
from localcloud.services.athena.model import INVALID, find_execution
from localcloud.services.athena.runner import open_client

_PAGES = Pages("NextToken", "MaxResults", 1000, INVALID)
_NUMBERS = {"bigint": 19, "integer": 10, "smallint": 5, "tinyint": 3, "double": 17, "float": 17}
_LONGEST = 2_147_483_647


@operation("athena", "GetQueryResults")
def get_query_results(call: Call) -> dict[str, Any]:
    """Return the rows of a result, with the column names first, if the caller may read it."""
    execution = find_execution(call, call.params["QueryExecutionId"])
    query = execution.query
    if not query.state.final:
        said = f"Query has not yet finished. Current state: {query.state}"
        raise AwsError(INVALID, said)
    if query.state is not QueryState.SUCCEEDED or query.result is None:
        said = f"Query did not finish successfully. Final query state: {query.state}"
        raise AwsError(INVALID, said)
    place = urlsplit(execution.output_location)
    try:
        s3 = open_client(call.cloud, call.caller, "s3")
        s3.head_object(Bucket=place.netloc, Key=place.path.lstrip("/"))
    except ClientError as error:
        raise AwsError(INVALID, "Could not find results") from error
    columns = query.result.columns
    header = [[name for name, _ in columns]] if query.kind is StatementKind.SELECT else []
    page, more = _PAGES.cut(call, [*header, *query.result.rows])
    return {
        "ResultSet": {
            "Rows": [{"Data": _show_row(row)} for row in page],
            "ResultSetMetadata": {"ColumnInfo": [_describe_column(*column) for column in columns]},
        },
        "UpdateCount": query.result.written_rows,
        **more,
    }


def _show_row(row: Iterable[str | None]) -> list[dict[str, str]]:
    return [{} if value is None else {"VarCharValue": value} for value in row]


def _describe_column(name: str, kind: str) -> dict[str, Any]:
    return {
        "CatalogName": "hive",
        "SchemaName": "",
        "TableName": "",
        "Name": name,
        "Label": name,
        "Type": kind,
        "Precision": _NUMBERS.get(kind, _LONGEST if kind == "varchar" else 0),
        "Scale": 0,
        "Nullable": "UNKNOWN",
        "CaseSensitive": kind == "varchar",
    }
