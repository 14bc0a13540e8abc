"""Records that a pass keeps for the next one, so that Kafka is not read again for them."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from pyspark.sql import DataFrame

from penstock.framing import SchemaKey
from penstock.records import Record, Source
from penstock.spark.decoding.frames import FINE, RowStatus
from penstock.spark.decoding.jar import CATALOG, CATALOG_CLASS, load_jar
from penstock.spark.rows import to_bytes

_MOST_OF_TASK: Final = 8 * 2**20  # bytes
_MOST: Final = 32 * 2**20  # bytes of a pass, in the driver's memory
# The order of the first five is that of RecordKeeper.java.
_FIRST: Final = ("topic", "partition", "offset", "status", "schema")
_MADE: Final = frozenset(("compression", "payload", "record"))
_DONE: Final = ", ".join(f"'{each}'" for each in FINE if each is not RowStatus.UNKNOWN)


class RecordKeeper:
    """Keeps the records of one pass over decoded frames that need another: unknown and bad ones.

    They are in the driver's memory, up to a limit; beyond it none are kept.
    """

    def __init__(self, checked: DataFrame) -> None:
        self._session = checked.sparkSession
        load_jar(self._session)
        jvm: Any = self._session._jvm
        catalog = getattr(jvm, CATALOG_CLASS)
        # The catalog keeps a function as long as somebody holds it.
        self.keeper = catalog.addKeeper(self._session._jsparkSession, _MOST_OF_TASK, _MOST)
        others = [each for each in checked.columns if each not in {*_FIRST, *_MADE}]
        self.columns = (*_FIRST, *others)

    @property
    def condition(self) -> str:
        """Return the SQL that is always true and keeps the records that need another pass."""
        columns = ", ".join(f"`{each}`" for each in self.columns)
        function = f"{CATALOG.rpartition('.')[2]}.{self.keeper.name()}"
        return f"(status IN ({_DONE}) OR {function}(struct({columns})))"

    def has_all(self, records: int) -> bool:
        """Return whether the pass kept so many records, each of them once."""
        return bool(self.keeper.hasAll(records))

    def read(self) -> DataFrame:
        """Return the records, with their status and schema key."""
        return DataFrame(self.keeper.read(self._session._jsparkSession), self._session)

    def read_records(self) -> DataFrame:
        """Return the records as they were read from Kafka."""
        return self.read().drop("status", "schema")

    def read_bad(self) -> Iterator[tuple[Record, str]]:
        """Yield the bad records with their status, without a job of Spark, a chunk at a time."""
        for chunk in range(self.keeper.chunks()):
            pickled = self.keeper.pickle(chunk, RowStatus.UNKNOWN.value)
            for bad in pickle.loads(pickled):  # noqa: S301 - RecordKeeper.java wrote it
                topic, partition, offset, status, key, value, headers, timestamp_ms = bad
                pairs = tuple((name, to_bytes(each)) for name, each in headers or ())
                source = Source(topic, partition, offset)
                record = Record(source, to_bytes(key), to_bytes(value), pairs, timestamp_ms)
                yield record, status

    def count_unknown(self, takes: Callable[[str], bool] = lambda _: True) -> Counter[SchemaKey]:
        """Return the keys of unknown versions by their number of records, of the chosen topics."""
        found: Counter[SchemaKey] = Counter()
        for line in self.keeper.countSchemas(RowStatus.UNKNOWN.value).splitlines():
            topic, key, many = line.split()
            if takes(topic):
                found[SchemaKey.unpack(bytes.fromhex(key))] += int(many)
        return found
