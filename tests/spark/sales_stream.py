"""Sales that arrive in trouble, and a driver of its own that is killed in the middle of a window.

    python -m tests.spark.sales_stream FOLDER BATCH

It sums up the micro-batches in FOLDER/sales, and hangs once it has written the totals of BATCH.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from jobs.sales import enrichment
from localcloud.jobs import archive_options
from penstock.spark.session import session_settings

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
REGIONS = {"Peru": "Latin America", "Chile": "Latin America", "Japan": "Asia", "Mali": "Africa"}
_COLUMNS = (
    "payment_id int, amount decimal(10,2), country string, timestamp timestamp, partition int, "
    "offset bigint"
)
HUNG = "hung"


@dataclass(frozen=True)
class Sale:
    """A record of a sale."""

    payment_id: int
    amount: Decimal
    country: str
    timestamp: datetime
    partition: int = 0
    offset: int = 0


def make_batches(seed: int, count: int) -> list[list[Sale]]:
    """Make micro-batches of an hour: late and repeated sales, a partition that falls silent."""
    dice = random.Random(seed)
    sales = []
    for number in range(count * 40):
        minute = 60 * number / (count * 40)
        country = dice.choice([*REGIONS, "Yugoslavia"])
        cents = Decimal(dice.randrange(1, 2_000)) / 100
        partition = dice.randrange(3 if number < 40 else 2)
        sales.append(Sale(number, cents, country, NOON + timedelta(minutes=minute), partition))
    # In the order of arrival: some are late, though less than a watermark waits.
    batches: list[list[Sale]] = [[] for _ in range(count)]
    for each in sales:
        is_late = dice.random() < 0.2
        delay = timedelta(minutes=dice.uniform(0, 9)) if is_late else timedelta()
        arrival = min((each.timestamp + delay - NOON) / timedelta(hours=1), 0.999)
        batches[int(arrival * count)].append(each)
        if dice.random() < 0.1:  # its producer sends it again, soon after
            batches[min(int(arrival * count) + dice.randrange(2), count - 1)].append(each)
    batches[1].append(Sale(10_001, Decimal(1000), "Peru", NOON.replace(year=2100)))
    batches[-1].append(Sale(10_002, Decimal(2000), "Peru", NOON))  # later than anyone waits
    return batches


def sum_up(sales: list[Sale]) -> dict[tuple[str, datetime], tuple[Decimal, int]]:
    """Return sales and orders by region and start of the window, computed without Spark."""
    totals: dict[tuple[str, datetime], tuple[Decimal, int]] = defaultdict(lambda: (Decimal(), 0))
    for each in {sale.payment_id: sale for sale in sales}.values():
        minutes = int((each.timestamp - NOON) / timedelta(minutes=1))
        last = NOON + timedelta(minutes=minutes // 5 * 5)
        for start in (last, last - timedelta(minutes=5)):
            key = REGIONS.get(each.country, "Unassigned"), start
            sum_, orders = totals[key]
            totals[key] = sum_ + each.amount, orders + 1
    return dict(totals)


def summarize(spark: SparkSession, sales: DataFrame) -> DataFrame:
    """Return the totals by region and window, as the enrichment stream does."""
    regions = spark.createDataFrame([*REGIONS.items()], "country string, region string")
    return enrichment.summarize(sales, regions, "5 minutes")


def as_rows(spark: SparkSession, sales: list[Sale]) -> DataFrame:
    """Return sales as rows."""
    return spark.createDataFrame([astuple(each) for each in sales], _COLUMNS)


def start(spark: SparkSession, folder: Path, written: Callable[[int], None]) -> StreamingQuery:
    """Start the stream over the micro-batches in a folder; `written` is called after a batch."""
    stream = spark.readStream.schema(_COLUMNS).option("maxFilesPerTrigger", 1)
    totals = summarize(spark, stream.parquet(f"{folder}/sales"))

    def take(rows: DataFrame, number: int) -> None:
        found = rows.select("region", "window.start", "sales", "orders").collect()
        path = folder / "totals" / f"{number}.json"
        path.write_text(json.dumps([[*map(str, row)] for row in found]))
        written(number)

    writer = totals.writeStream.outputMode("update").foreachBatch(take)
    writer = writer.option("checkpointLocation", f"file://{folder}/checkpoint")
    return writer.trigger(availableNow=True).start()


def read_newest(folder: Path) -> dict[tuple[str, datetime], tuple[Decimal, int]]:
    """Return the newest total of each region and window, of each batch once."""
    found = {}
    for path in sorted((folder / "totals").iterdir(), key=lambda path: int(path.stem)):
        for region, start_, sales, orders in json.loads(path.read_text()):
            key = region, datetime.fromisoformat(start_).replace(tzinfo=UTC)
            found[key] = Decimal(sales), int(orders)
    return found


def main(folder: Path, last: int) -> None:
    """Run the stream until a batch has written its totals, and hang before it is committed."""

    def hang(number: int) -> None:
        if number == last:
            (folder / HUNG).touch()
            time.sleep(600)

    settings = {
        **session_settings(),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 {archive_options()}",
        "spark.local.dir": str(folder / "local"),
        "spark.master": "local[1]",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.ui.enabled": "false",
    }
    spark = SparkSession.builder.config(map=settings).getOrCreate()
    start(spark, folder, hang).awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
