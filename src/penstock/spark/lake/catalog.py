"""The catalog that the lake's tables are in."""

from __future__ import annotations

from typing import Final

LAKE_CATALOG: Final = "lake"


def catalog_settings() -> dict[str, str]:
    """Give the Spark settings that make the Glue catalog known under the name `lake`.

    Where tables are follows from the location of their database.
    """
    properties = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "glue",
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        # What others commit is to be seen at once.
        ".cache-enabled": "false",
    }
    return {f"spark.sql.catalog.{LAKE_CATALOG}{name}": text for name, text in properties.items()}


def qualify_table(table: str) -> str:
    """Put the catalog in front of a table's name, DATABASE.TABLE."""
    return f"{LAKE_CATALOG}.{table}"
