"""SQL over the tables of a Glue catalog: looked up as the caller, read by Arrow, run by DuckDB.

The libraries take a second to import and 100 MB: `engine` and `tables` are imported at the first
query.
"""

from __future__ import annotations

from localcloud.queries.query import (
    Query,
    QueryFailedError,
    QueryState,
    Result,
    ScanLimitError,
    StatementKind,
)

__all__ = [
    "Query",
    "QueryFailedError",
    "QueryState",
    "Result",
    "ScanLimitError",
    "StatementKind",
]
