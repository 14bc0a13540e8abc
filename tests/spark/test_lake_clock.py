"""The clock of a machine that committed to a table was ahead of this one's."""

from __future__ import annotations

import json

import pytest

from penstock.errors import SinkUnavailableError
from penstock.spark.lake.maintenance import MaintainSettings, maintain_table
from tests.spark.lakes import make_rows, part


def _postpone(table, seconds: int) -> None:
    """Let the last commit to a table be later than it was."""
    operations = table._table.operations()
    now, parser = operations.current(), table._spark._jvm.org.apache.iceberg.TableMetadataParser
    given = json.loads(parser.toJson(now))
    for entry in (given["snapshots"][-1], given["snapshot-log"][-1]):
        entry["timestamp-ms"] += seconds * 1_000
    given["last-updated-ms"] += seconds * 1_000
    operations.commit(now, parser.fromJson(json.dumps(given)))


def test_a_job_waits_until_it_may_commit(spark, reader):
    """Iceberg takes a commit that is up to a minute older than the last one."""
    reader.lake.write(make_rows(spark, "n int", (1,)), part(0, 0))
    _postpone(reader.table(), 240)
    said = (
        rf"^the last commit to {reader.name} is 2\d\d s later than the time of this machine, "
        "expected 60 s at most; set its clock, or that of the other machine that commits$"
    )
    settings = MaintainSettings(lake_table=reader.name.removeprefix("lake."))
    for rows in (make_rows(spark, "n int", (2,)), make_rows(spark, "n int, new int", (2, 3))):
        with pytest.raises(SinkUnavailableError, match=said):
            reader.lake.write(rows, part(1, 0))
    with pytest.raises(SinkUnavailableError, match=said):
        maintain_table(spark, settings)

    _postpone(reader.table(), -240)
    reader.again().write(make_rows(spark, "n int", (2,)), part(1, 0))
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,)]
