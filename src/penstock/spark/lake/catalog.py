"""The Iceberg catalog of the lake's tables."""

from __future__ import annotations

from typing import Final

LAKE_CATALOG: Final = "lake"


def catalog_settings() -> dict[str, str]:
    """Return the Spark settings that register the Glue catalog under the name `lake`.

    The location of a table follows from the location of its database.
    """
    properties = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "glue",
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        # Commits of other writers must be visible immediately.
        ".cache-enabled": "false",
    }
    return {f"spark.sql.catalog.{LAKE_CATALOG}{name}": text for name, text in properties.items()}


def qualify_table(table: str) -> str:
    """Return a table's name, DATABASE.TABLE, with the catalog in front."""
    return f"{LAKE_CATALOG}.{table}"
