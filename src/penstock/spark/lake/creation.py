"""Create tables of the lake, but not over the files of a table that the catalog has lost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from penstock.errors import LakeHistoryError

BOUNDED_METADATA: Final = {
    # One commit per minute would leave half a million metadata files a year.
    "write.metadata.delete-after-commit.enabled": "true",
    # The list of snapshots is most of it, and is written again at each commit.
    "write.metadata.compression-codec": "gzip",
}


def create_table(
    spark: SparkSession,
    name: str,
    columns: str,
    properties: Mapping[str, str],
    partition: str = "",
) -> None:
    """Create the table `catalog.database.table` if it is missing, with bounded metadata.

    Raises:
        LakeHistoryError: its folder has data files; nothing is created.
    """
    if spark.catalog.tableExists(name):
        return
    _check_folder(spark, name)
    given = {**BOUNDED_METADATA, **properties}
    listed = ", ".join(f"'{each}' = '{text}'" for each, text in given.items())
    parts = f" PARTITIONED BY ({partition})" if partition else ""
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {name} ({columns}) USING iceberg{parts} "
        f"TBLPROPERTIES ({listed})"
    )


def _check_folder(spark: SparkSession, name: str) -> None:
    """Check that a new table has a folder without data files.

    A create that was cut off leaves metadata alone.
    """
    catalog, _, table = name.partition(".")
    find: Any = partial(getattr, spark._jvm)
    lake = spark._jsparkSession.sessionState().catalogManager().catalog(catalog).icebergCatalog()
    identifier = find("org.apache.iceberg.catalog.TableIdentifier").parse(table)
    schema = find("org.apache.iceberg.Schema")(find("java.util.ArrayList")())
    # The catalog knows where it would be; nothing is written without a commit.
    planned = lake.buildTable(identifier, schema).createTransaction().table()
    folder = f"{planned.location()}/data"
    try:
        has_files = planned.io().listPrefix(f"{folder}/").iterator().hasNext()
    except Py4JJavaError as error:
        if "java.io.FileNotFoundException" not in str(error):
            raise
        has_files = False
    if has_files and not spark.catalog.tableExists(name):
        raise LakeHistoryError(
            f"found data files in {folder} and no table {table} in the catalog, expected no files "
            "of a table that is to be created: move the folder away if the table was dropped on "
            "purpose, or register it again with its newest file of metadata"
        )
