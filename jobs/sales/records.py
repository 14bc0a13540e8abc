"""Sales as Kafka records, and as rows of CSV files.

The value is JSON with the fields of `SALE`; the key is the payment id as text. `payment_date` is a
time as text, or seconds since 1970 as a number.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

AMOUNT: Final = T.DecimalType(10, 2)  # a float would not add up to the cent
SALE: Final = T.StructType(
    [
        T.StructField("payment_id", T.IntegerType()),
        T.StructField("customer_id", T.IntegerType()),
        T.StructField("amount", AMOUNT),
        T.StructField("payment_date", T.TimestampType()),
        T.StructField("city", T.StringType()),
        T.StructField("district", T.StringType()),
        T.StructField("country", T.StringType()),
    ]
)
# The position of a record in Kafka, and its timestamp there.
POSITION: Final = ("timestamp", "partition", "offset")
_IS_SALE: Final = "payment_id IS NOT NULL AND amount IS NOT NULL AND country IS NOT NULL"


def read_sales(records: DataFrame, watch: Observation | str = "sales") -> DataFrame:
    """Return the sales in Kafka records, with their positions; see `keep_sales`."""
    parsed = F.from_json(F.col("value").cast("string"), SALE).alias("sale")
    return keep_sales(records.select(parsed, *POSITION).select("sale.*", *POSITION), watch)


def keep_sales(rows: DataFrame, watch: Observation | str = "sales") -> DataFrame:
    """Leave out rows that are not sales; `watch` observes how many there are of both."""
    is_sale = F.expr(_IS_SALE)
    counts = {"sales": is_sale, "left_out": ~is_sale}
    counted = rows.observe(watch, *(F.count_if(each).alias(name) for name, each in counts.items()))
    return counted.filter(is_sale)


def load_sales(spark: SparkSession, path: str) -> DataFrame:
    """Return the rows of a `|` CSV file of sales in their order; `payment_date` is its text."""
    schema = T.StructType(
        [
            T.StructField("payment_date", T.StringType()) if field.name == "payment_date" else field
            for field in SALE.fields
        ]
    )
    return spark.read.csv(path, schema=schema, header=True, sep="|")


def load_regions(spark: SparkSession, path: str) -> DataFrame:
    """Return the region of each country in a CSV file; a country has one row."""
    rows = spark.read.csv(
        path,
        schema="country string, region string",
        header=True,
        ignoreLeadingWhiteSpace=True,
        ignoreTrailingWhiteSpace=True,
    )
    # A country with two rows would count each of its sales twice.
    return rows.groupBy("country").agg(F.min("region").alias("region"))
