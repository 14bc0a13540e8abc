"""The day of a row follows the time of its event in any form, as the key of a row does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import types as T

from penstock.schemas import read_time
from penstock.spark.columns import COMMENT
from penstock.spark.lake.conversion import EventTime
from penstock.spark.rows import EVENT
from penstock.tables import mark_field

pytestmark = pytest.mark.spark

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KAFKA = datetime(2026, 11, 25, 12, tzinfo=UTC)
_TEXTS = [
    "2026-11-25T06:20:00+01:00", "2026-11-25 06:20:00.5-0330", "2026-11-24T23:59:59.123456Z",
    "2026-11-24T23:59:59.123456789Z", "2026-11-25T00:30:00+01:00", "2026-11-25", "soon", "",
    "2026-11-25T06:20:00", "2026-02-30T06:20:00Z", "06:20:00Z", "2026-11-25T25:00:00Z", None,
    "1999-01-01T00:00:00Z",
]  # fmt: skip
_NUMBERS = [
    1795584000, 1795584000500, 1795584000500001, 5, 0, -1, 10**8, 10**11, 10**14, 10**16, 2**63 - 1,
    10**17, 10**13, None,
]  # fmt: skip


def _expect(value):
    """Return the time in microseconds, or Kafka's if it is none, or too far from Kafka's."""
    nanoseconds = None if value is None else read_time(value)
    kafka = (_KAFKA - _EPOCH) // timedelta(microseconds=1)
    day = 86_400_000_000
    if nanoseconds is None or not kafka - 30 * day <= nanoseconds // 1_000 <= kafka + day:
        return kafka
    return nanoseconds // 1_000


@pytest.mark.parametrize(
    ("type_", "values"), [(T.StringType(), _TEXTS), (T.LongType(), _NUMBERS)], ids=["text", "long"]
)
def test_the_time_of_a_row_is_the_one_that_its_key_has(spark, type_, values) -> None:
    event = T.StructType([T.StructField("at", type_)])
    schema = T.StructType(
        [T.StructField(EVENT, event), T.StructField("_kafka_timestamp", T.TimestampType())]
    )
    rows = spark.createDataFrame([((value,), _KAFKA) for value in values], schema)

    told = rows.selectExpr(f"UNIX_MICROS({EventTime('at').write(event)}) AS at").collect()

    assert [row["at"] for row in told] == [_expect(value) for value in values]


def test_the_field_is_found_by_its_name_in_json(spark) -> None:
    comment = {COMMENT: mark_field("time", "at")}
    event = T.StructType([T.StructField("time", T.LongType(), metadata=comment)])
    schema = T.StructType(
        [T.StructField(EVENT, event), T.StructField("_kafka_timestamp", T.TimestampType())]
    )
    rows = spark.createDataFrame([((1795584000500,), _KAFKA)], schema)

    (told,) = rows.selectExpr(f"UNIX_MILLIS({EventTime('at').write(event)}) AS at").collect()

    assert told.at == 1795584000500


def test_the_last_times_of_all_stop_no_batch(spark) -> None:
    last = 2**63 - 1
    event = T.StructType([T.StructField("at", T.TimestampType())])
    times = f"NAMED_STRUCT('at', TIMESTAMP_MICROS({last})) AS {EVENT}"
    rows = spark.range(1).selectExpr(times, f"TIMESTAMP_MICROS({last - 807}) AS _kafka_timestamp")

    told = rows.selectExpr(f"UNIX_MICROS({EventTime('at').write(event)}) AS at").collect()

    assert [row["at"] for row in told] == [last]
