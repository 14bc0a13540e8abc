"""The clock of a machine that committed to a table was ahead of this one's."""

from __future__ import annotations

import json
import secrets

import pytest
from pyspark.errors import IllegalArgumentException

from penstock.errors import SinkUnavailableError
from penstock.extensions.cdc.spark.current import CurrentTable
from penstock.extensions.cdc.spark.history import HistoryTable
from penstock.extensions.cdc.spark.settings import UNAVAILABLE
from penstock.spark.lake.iceberg import IcebergTable, qualify_table
from penstock.spark.lake.maintenance import MaintainSettings, maintain_table
from tests.spark.changes import CdcJob, Source
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
    rows = make_rows(spark, "n int", (2,))
    reader.lake.write(make_rows(spark, "n int", (1,)), part(0, 0))
    _postpone(reader.table(), 3_600)
    with pytest.raises(IllegalArgumentException):
        rows.selectExpr("3 AS n").writeTo(reader.name).append()
    said = (
        rf"^the last commit to {reader.name} is 3\d{{3}} s later than the time of this machine, "
        "expected 60 s at most: Iceberg would refuse a commit; set its clock, or that of the other "
        "machine that commits$"
    )
    for lake in (reader.lake, reader.again()):
        with pytest.raises(SinkUnavailableError, match=said):
            lake.write(rows, part(1, 0))
    with pytest.raises(SinkUnavailableError, match=said):
        maintain_table(spark, MaintainSettings(lake_table=reader.name.removeprefix("lake.")))

    _postpone(reader.table(), -3_600)
    reader.again().write(rows, part(1, 0))
    assert reader.query("SELECT n FROM t ORDER BY n") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("open_output", "where"),
    [(CurrentTable, "TRUE"), (lambda name: HistoryTable(name, UNAVAILABLE), "_valid_to IS NULL")],
    ids=["current", "history"],
)
def test_a_capture_waits_too(spark, lake_folder, tmp_path, open_output, where):
    name = f"cdc.film_{secrets.token_hex(4)}"
    job, film = CdcJob(spark, tmp_path, name, lambda: [open_output(name)]), Source()
    film.insert(id=1, title="a")
    job.take(job.place(film.log))
    _postpone(IcebergTable(spark, qualify_table(name)), 3_600)
    film.log.clear()
    film.truncate()
    film.insert(id=2, title="b")
    placed = job.place(film.log)
    with pytest.raises(SinkUnavailableError, match="later than the time of this machine"):
        job.take(placed, 1)

    _postpone(IcebergTable(spark, qualify_table(name)), -3_600)
    job.take(placed, 1)
    assert [row.id for row in spark.table(qualify_table(name)).filter(where).collect()] == [2]
