"""The streamed totals of sales are those of a batch over the same records, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from localcloud.testing import wait_until
from tests.spark.sales_stream import (
    HUNG,
    as_rows,
    make_batches,
    read_newest,
    start,
    sum_up,
    summarize,
)  # fmt: skip

_ROOT = Path(__file__).parents[2]
_SECONDS = 240
_SEED, _BATCHES, _KILLED = 20_261_123, 4, 1


@pytest.fixture
def batches(spark, tmp_path):
    made = make_batches(_SEED, _BATCHES)
    for sales in made:
        as_rows(spark, sales).coalesce(1).write.mode("append").parquet(f"{tmp_path}/sales")
    (tmp_path / "totals").mkdir()
    return made


def run_until_killed(folder):
    """Run a driver of its own, and kill it after a batch is written and before it is committed."""
    words = [sys.executable, "-m", "tests.spark.sales_stream", str(folder), str(_KILLED)]
    with (folder / "output").open("wb") as output:
        driver = subprocess.Popen(
            words, cwd=_ROOT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:

        def is_hung():
            assert driver.poll() is None, (folder / "output").read_text()[-3_000:]
            return (folder / HUNG).exists()

        wait_until("the batch is written", is_hung, _SECONDS)
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()


def test_streamed_totals_are_those_of_a_batch(spark, batches, tmp_path, fault):
    kills = fault("windows-killed")
    *others, (*last, too_late) = batches
    counted = [sale for sale in sum(others, last) if sale.timestamp.year < 2100]
    expected = sum_up(counted)

    run_until_killed(tmp_path)
    commits = {path.name for path in (tmp_path / "checkpoint/commits").iterdir()}
    assert str(_KILLED) not in commits, "the driver was killed in the middle of a batch"
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        query = start(spark, tmp_path, lambda _: None)
        with kills.recovery():
            assert query.awaitTermination(_SECONDS)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")

    kills.count_seen(1)
    kills.check(read_newest(tmp_path).items(), expected)
    batch = summarize(spark, as_rows(spark, counted)).select(
        "region", "window.start", "sales", "orders"
    )
    assert {(row[0], str(row[1])): (row[2], row[3]) for row in batch.collect()} == {
        (region, str(start.replace(tzinfo=None))): total
        for (region, start), total in expected.items()
    }
    operators = [each for progress in query.recentProgress for each in progress["stateOperators"]]
    assert {each["numShufflePartitions"] for each in operators} == {3}, "as the first run had"
    assert sum(each["numRowsDroppedByWatermark"] for each in operators) >= 1, too_late
