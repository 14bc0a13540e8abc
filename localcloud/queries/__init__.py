"""SQL over the tables of a Glue catalog: found as the caller, read by Arrow, asked by DuckDB.

The libraries for it take a second to import and 100 MB: `engine` and `tables` are imported when
the first query comes.
"""

from __future__ import annotations

from localcloud.queries.query import Query, QueryFailedError, QueryState, Result, ScanLimitError

__all__ = ["Query", "QueryFailedError", "QueryState", "Result", "ScanLimitError"]
