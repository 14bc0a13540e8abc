"""Sales as Kafka records, and as rows of CSV files.

The value is JSON with the fields of `SALE`; the key is the payment id as text. `payment_date` is a
time as text, or seconds since 1970 as a number.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, SparkSession
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
_REQUIRED: Final = ("payment_id", "amount", "country")


def read_sales(records: DataFrame) -> DataFrame:
    """Return the sales in Kafka records, with their positions; other records are left out."""
    parsed = F.from_json(F.col("value").cast("string"), SALE).alias("sale")
    rows = records.select(parsed, *POSITION).select("sale.*", *POSITION)
    return rows.dropna(subset=list(_REQUIRED))


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
