"""Streams for Spark's stateful operators: decoded records with columns that never change.

A window or a join keeps its state in a native query, whose plan is fixed when it starts. So the
columns are chosen once, and a record of a schema version that the plan does not know fails its
micro-batch before anything is committed. The version is looked up, and the query starts again from
its checkpoint, in this process and with the same state (docs/adr/0019-restart-stateful.md).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from penstock.attempts import Attempts
from penstock.errors import PenstockError
from penstock.framing import SchemaKey
from penstock.registry import Registries, SchemaVersion
from penstock.spark.decoding.admission import admit_versions, find_versions
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import FrameStatus, RowStatus, split_frames
from penstock.spark.rows import EVENT, PLACE, event_type

_LOG = logging.getLogger(__name__)
_ATTEMPTS: Final = Attempts(first_seconds=1, longest_seconds=15, total_seconds=300)
_STATUS: Final = "_status"
_KEY: Final = "_schema_key"
_OWN: Final = ("_topic", "_kafka_partition", "_offset", "_kafka_timestamp")
_UNKNOWN: Final = "penstock-unknown-schema"
# With the key: the text of a failure may contain the plan, and so the expression that raises it.
_NAMED: Final = re.compile(rf"{_UNKNOWN} ([0-9A-F]+)")


@dataclass(frozen=True, slots=True)
class KnownVersions:
    """The versions that a plan decodes, and the keys whose records it leaves out."""

    versions: tuple[SchemaVersion, ...] = ()
    refused: frozenset[SchemaKey] = frozenset()

    def answered(self) -> frozenset[SchemaKey]:
        """Return the keys that are either known or refused."""
        return self.refused.union(each.key for each in self.versions)


@dataclass(frozen=True, slots=True)
class StatefulQuery:
    """A query of your own over decoded records, whose schema may change while it runs.

    Records that cannot be decoded are left out. Spark's progress counts them in its observed
    metrics, under `records`.

    Attributes:
        stream: the stream of Spark's Kafka source, with `includeHeaders` for ids in headers.
        registries: the registries in which versions are looked up.
        columns: the SQL type of each column by the field it has; a field that is missing is null.
        start: starts the query, each time with the same checkpoint, on rows of these columns and
            of the coordinates `_topic`, `_kafka_partition`, `_offset` and `_kafka_timestamp`.
        attempts: how long a registry is asked again while it is down.
    """

    stream: DataFrame
    registries: Registries
    columns: Mapping[str, str]
    start: Callable[[DataFrame], StreamingQuery]
    attempts: Attempts = _ATTEMPTS

    def run(self, known: KnownVersions | None = None) -> StreamingQuery:
        """Run the query until it ends or is stopped, and return its last run.

        Args:
            known: the versions that are known from the start; each other one costs a restart.

        Raises:
            StreamingQueryException: it failed, and not because of a new schema version.
            RegistryError: no registry answered in time.
        """
        known = known or KnownVersions()
        while True:
            query = self.start(select_columns(self.stream, self.registries, self.columns, known))
            try:
                query.awaitTermination()
            except StreamingQueryException as error:
                key = _find_unknown(error)
                if key is None or key in known.answered():
                    raise
                known = self._look_up(known, key)
            else:
                return query

    def _look_up(self, known: KnownVersions, key: SchemaKey) -> KnownVersions:
        """Return the known versions with this one, which is either added or refused."""
        down: PenstockError | None = None
        for _ in self.attempts:
            try:
                found, refused = find_versions(self.registries, [key])
            except PenstockError as error:
                _LOG.warning("schema %s is looked up again: %s", key, error)
                down = error
                continue
            admitted, inadmissible = admit_versions(found, known.versions)
            for each, failure in (refused | inadmissible).items():
                _LOG.warning("records of schema %s are left out: %s", each, failure.detail)
            _LOG.warning("the query starts again from its checkpoint with schema %s", key)
            return replace(
                known,
                versions=(*known.versions, *admitted),
                refused=known.refused.union(refused, inadmissible),
            )
        raise down or AssertionError("no attempt")


def select_columns(
    records: DataFrame,
    registries: Registries,
    columns: Mapping[str, str],
    known: KnownVersions,
) -> DataFrame:
    """Return the rows of records, streamed or not, with only these columns, of these types.

    A record of a version that is neither known nor refused fails the job that reads it;
    `StatefulQuery` then starts the query again.
    """
    rows = _decode(split_frames(records, registries.framing), known.versions)
    rows = rows.observe("records", *_counts()).filter(_is_row(known.refused))
    fields = event_type(rows).names if known.versions else ()
    return rows.select(*(_column(name, columns[name], fields) for name in columns), *_OWN)


def ignore_future(rows: DataFrame, timestamp: str, ahead: str) -> DataFrame:
    """Leave out rows that are further in the future than a clock can be wrong.

    A watermark follows the latest timestamp that it has seen, so one far-future record would close
    all windows for those that follow. A micro-batch that is repeated has the same clock as before.

    Args:
        rows: rows, streamed or not, before their watermark.
        timestamp: the column with the time of a row.
        ahead: how far ahead it may be, as in an interval of SQL, such as `5 minutes`.
    """
    limit = F.expr(f"current_timestamp() + INTERVAL {ahead}")
    is_future = F.col(timestamp) > limit
    counted = rows.observe("clock", F.count_if(is_future).alias("future"))
    return counted.filter(~is_future)


def _decode(frames: DataFrame, versions: Collection[SchemaVersion]) -> DataFrame:
    """Return the rows of all frames, with their status and the key of their schema."""
    more = (F.col("status").alias(_STATUS), F.col("schema").alias(_KEY))
    if not versions:
        return frames.select(F.lit(None).alias(EVENT), *map(F.expr, PLACE), *more)
    decoder = Decoder(frames.sparkSession, tuple(versions))
    return decoder.project(decoder.decode(frames), *more)


def _counts() -> list[Column]:
    statuses = {"decoded": RowStatus.DECODED, "tombstones": FrameStatus.TOMBSTONE}
    known = [F.count_if(F.col(_STATUS) == status).alias(name) for name, status in statuses.items()]
    return [*known, F.count_if(~F.col(_STATUS).isin(*statuses.values())).alias("left_out")]


def _is_row(refused: Collection[SchemaKey]) -> Column:
    """Return whether a record is a row; the query fails at a version that it does not know yet."""
    is_refused = " OR ".join(f"{_KEY} = X'{key.pack().hex()}'" for key in refused) or "false"
    return F.expr(f"""
        CASE WHEN {_STATUS} = '{RowStatus.DECODED}' THEN true
             WHEN {_STATUS} NOT IN ('{RowStatus.UNKNOWN}', '{FrameStatus.FRAMED}') THEN false
             WHEN {is_refused} THEN false
             ELSE raise_error(concat('{_UNKNOWN} ', hex({_KEY}))) END""")


def _column(name: str, type_: str, fields: Collection[str]) -> Column:
    value = f"TRY_CAST({EVENT}.`{name}` AS {type_})" if name in fields else f"CAST(NULL AS {type_})"
    return F.expr(value).alias(name)


def _find_unknown(error: StreamingQueryException) -> SchemaKey | None:
    named = _NAMED.search(str(error))
    return None if named is None else SchemaKey.unpack(bytes.fromhex(named[1]))
