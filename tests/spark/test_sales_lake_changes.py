"""Totals of a table of the lake whose snapshots expire, and whose columns are widened."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import pytest
from pyspark.errors import StreamingQueryException

from jobs.sales.lake import LakeSettings, LakeStreamSettings, start_lake
from jobs.sales.reports import print_batches
from jobs.sales.settings import FileSettings, RunSettings, TimeSettings
from jobs.sales.summaries import total_sales
from penstock.errors import CheckpointError
from tests.spark.consuming import SECONDS
from tests.spark.lakes import make_rows, part

_SALE = "payment_id bigint, amount bigint, country string"
_TOO_MUCH = 2**53 + 1  # for a total, and for a double
_OTHERS = (
    "the columns amount of lake.*, which this stream reads, were replaced: it would read null in"
    " new rows. Start it again with the same checkpoint, which repeats this batch"
)


class Shop:
    """A table of sales, as the consuming job writes it, and the totals of its streams."""

    def __init__(self, spark, reader, folder):
        self.spark, self.reader, self._folder = spark, reader, folder
        self._table = reader.name.removeprefix("lake.")
        self._written = 0

    def sell(self, *sales, columns=_SALE):
        """Append sales to the table in a batch."""
        rows = make_rows(self.spark, columns, *sales, first=100 * self._written)
        self.reader.again().write(rows, part(self._written, 0))
        self._written += 1

    def expire(self):
        """Expire all snapshots but the newest."""
        self.reader.table().expire(int(time.time() * 1_000) + 1)

    def start(self, name, lines, trigger="available-now"):
        """Start a stream with a checkpoint by a name."""
        lake = LakeSettings(TimeSettings(), self._table, files=FileSettings())
        run = RunSettings(f"{self._folder.as_uri()}/{name}", trigger)
        settings = LakeStreamSettings(lake, run, f"{self._table}_{name}")
        return start_lake(self.spark, settings, total_sales, lines)

    def follow(self, name):
        """Run a stream to the end of the table, and return its totals."""
        with print_batches(self.spark) as lines:
            assert self.start(name, lines).awaitTermination(SECONDS)
        return self.totals(name)

    def totals(self, name):
        """Return the totals of a stream by country."""
        rows = self.spark.table(f"lake.{self._table}_{name}").collect()
        return {row.country: (str(row.sales), row.orders) for row in rows}


@pytest.fixture
def shop(spark, reader, tmp_path, only_full_batches):
    return Shop(spark, reader, tmp_path)


def test_a_stream_goes_on_after_its_first_snapshot_has_expired(shop):
    shop.sell((1, 2, "Peru"))
    shop.sell((2, 3, "Mali"))
    shop.follow("totals")
    shop.expire()
    shop.sell((3, 4, "Peru"))

    assert shop.follow("totals") == {"Peru": ("6.00", 2), "Mali": ("3.00", 1)}


def test_a_new_checkpoint_is_refused_once_a_snapshot_has_expired(shop):
    before = datetime.now(UTC).replace(microsecond=0)
    shop.sell((1, 2, "Peru"))
    shop.sell((2, 3, "Mali"))
    assert shop.follow("totals") == {"Peru": ("2.00", 1), "Mali": ("3.00", 1)}
    shop.expire()

    with pytest.raises(CheckpointError) as caught:
        shop.follow("new")

    found = re.fullmatch(
        rf"the checkpoint file:.*/new is new, and the snapshots of {shop.reader.name} before (\S+)"
        r" have expired: the totals would lack their sales. Go on with the checkpoint of the"
        r" totals, or run lake-summary, which reads all sales that the table has",
        str(caught.value),
    )
    assert before <= datetime.fromisoformat(found[1]) <= datetime.now(UTC)


def test_an_amount_that_no_total_can_hold_is_left_out(shop):
    shop.sell((1, 2, "Peru"), (2, _TOO_MUCH, "Peru"))

    assert shop.follow("totals") == {"Peru": ("2.00", 1)}


def test_a_column_that_is_widened_loses_no_sale(shop):
    widened = _SALE.replace("amount bigint", "amount double")
    shop.sell((1, 2, "Peru"), (2, _TOO_MUCH, "Peru"))
    with print_batches(shop.spark) as lines:
        query = shop.start("totals", lines, "1 second")
        try:
            query.processAllAvailable()
            shop.sell((3, 0.5, "Peru"), columns=widened)
            with pytest.raises(StreamingQueryException, match=_OTHERS):
                query.processAllAvailable()
        finally:
            query.stop()

    assert shop.totals("totals") == {"Peru": ("2.00", 1)}
    assert shop.follow("totals") == shop.follow("new") == {"Peru": ("2.50", 2)}
