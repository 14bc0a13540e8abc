"""Sales in Kafka records and in CSV files.

The value is JSON with the fields of `SALE`; the key is the payment id as text. `payment_date` is a
time as text, or seconds since 1970 as a number.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

AMOUNT: Final = T.DecimalType(10, 2)  # sums of floats would not be exact
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
# The timestamp and the position of a record in Kafka.
POSITION: Final = ("timestamp", "partition", "offset")
_IS_SALE: Final = "payment_id IS NOT NULL AND amount IS NOT NULL AND country IS NOT NULL"


def read_sales(records: DataFrame, observation: Observation | str = "sales") -> DataFrame:
    """Return the sales in Kafka records, with their positions; see `keep_sales`."""
    parsed = F.from_json(F.col("value").cast("string"), SALE).alias("sale")
    return keep_sales(records.select(parsed, *POSITION).select("sale.*", *POSITION), observation)


def keep_sales(rows: DataFrame, observation: Observation | str = "sales") -> DataFrame:
    """Leave out rows that are not sales; `observation` counts the sales and the rows left out."""
    is_sale = F.expr(_IS_SALE)
    counts = {"sales": is_sale, "left_out": ~is_sale}
    counted = rows.observe(
        observation, *(F.count_if(each).alias(name) for name, each in counts.items())
    )
    return counted.filter(is_sale)


def load_sales(spark: SparkSession, path: str) -> DataFrame:
    """Return the sales of a CSV file with `|` between columns, in order; `payment_date` is text."""
    schema = T.StructType(
        [
            T.StructField("payment_date", T.StringType()) if field.name == "payment_date" else field
            for field in SALE.fields
        ]
    )
    return spark.read.csv(path, schema=schema, header=True, sep="|")


def make_sale(row: Any, paid: str | int) -> dict[str, Any]:
    """Return the fields of the sale in a row of a CSV file, with another payment date."""
    return {
        "payment_id": row.payment_id,
        "customer_id": row.customer_id,
        "amount": float(row.amount),  # its shortest text is the amount again
        "payment_date": paid,
        "city": row.city,
        "district": row.district,
        "country": row.country,
    }


def load_regions(spark: SparkSession, path: str) -> DataFrame:
    """Return the countries and regions of a CSV file, with one row for each country."""
    rows = spark.read.csv(
        path,
        schema="country string, region string",
        header=True,
        ignoreLeadingWhiteSpace=True,
        ignoreTrailingWhiteSpace=True,
    )
    # A country with two rows would count each of its sales twice.
    return rows.groupBy("country").agg(F.min("region").alias("region"))
