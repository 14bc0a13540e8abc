"""One Spark job that decodes frames and writes the files of many tables.

Spark's cost of a query does not depend on its rows: 60 ms of CPU for each table of a batch. So the
expressions of a table are analysed once (RowPlan.java) and applied in the one job of a batch
(TablePass.java), which writes files with the writers of the tables' own format.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark.sql import DataFrame

from penstock.framing import SchemaKey
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import FINE, RowStatus
from penstock.spark.decoding.jar import load_jar
from penstock.spark.decoding.keeper import RecordKeeper

_PLAN: Final = "penstock.spark.RowPlan"
_CLASS: Final = "penstock.spark.TablePass"
_NO_TABLE: Final = -1
_ALL: Final = "*"


def start_rows(like: DataFrame) -> DataFrame:
    """Return a table without rows, and with the columns of another one, to make a plan of."""
    session = like.sparkSession
    load_jar(session)
    jvm: Any = session._jvm
    type_ = like._jdf.schema().asNullable()
    made = getattr(jvm, _PLAN).start(session._jsparkSession, type_)
    return DataFrame(made, session)


def plan_rows(rows: DataFrame, columns: Iterable[str]) -> Any:
    """Return the plan of columns of decoded rows, which begin as those of `start_rows`."""
    jvm: Any = rows.sparkSession._jvm
    return getattr(jvm, _PLAN).of(rows.selectExpr(*columns, "_is_empty")._jdf)


class TablePass:
    """One job over frames, and what it found.

    Args:
        frames: the split frames of records.
        keeper: keeps the records of unknown versions, and the bad ones.
    """

    def __init__(self, frames: DataFrame, keeper: RecordKeeper) -> None:
        jvm: Any = frames.sparkSession._jvm
        columns = " ".join(keeper.columns)
        self._pass = getattr(jvm, _CLASS)(frames._jdf, keeper.keeper, columns)
        self.found: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.others: defaultdict[int, Counter[str]] = defaultdict(Counter)

    def add_group(self, topics: Iterable[str] | None, *, is_first: bool) -> int:
        """Add tables that share topics; None for all."""
        lines = _ALL if topics is None else "\n".join(topics)
        return int(self._pass.addGroup(lines, is_first))

    def add_table(
        self, group: int, keys: Iterable[SchemaKey], decoder: Decoder, rows: Any, files: Any
    ) -> int:
        """Add a table of a group; without a factory of files, its records are only counted."""
        function = decoder.function
        return int(self._pass.addTable(group, _write_keys(keys), function, rows, files))

    def leave(self, group: int, keys: Iterable[SchemaKey]) -> None:
        """Count the records with these keys as elsewhere."""
        self._pass.leave(group, _write_keys(keys))

    def run(self) -> None:
        """Run the job, and take its counts by status: of tables, and of groups without a table."""
        for line in self._pass.run().splitlines():
            group, table, status, count = line.split()
            of = self.others[int(group)] if int(table) == _NO_TABLE else self.found[int(table)]
            of[status] += int(count)

    @property
    def kept(self) -> int:
        """Return how many records the keeper should have."""
        counts = sum((*self.found.values(), *self.others.values()), Counter[str]())
        return count_bad(counts) + counts[RowStatus.UNKNOWN]

    def messages(self, table: int) -> Any:
        """Return what the tasks say of the files of a table."""
        return self._pass.messages(table)


def count_bad(counts: Mapping[str, int]) -> int:
    """Return how many records of these, by status, are bad."""
    return sum(many for status, many in counts.items() if status not in FINE)


def _write_keys(keys: Iterable[SchemaKey]) -> str:
    return " ".join(each.pack().hex() for each in keys)
