"""Keeps a table of the lake in shape: compacts its files and drops history that is old enough.

    spark-submit --py-files penstock-pyfiles.zip --jars ... jobs/maintain_lake.py \\
        --lake-table DATABASE.TABLE

Prints one line of JSON that says what it did. Runs beside the jobs that write.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pyspark.sql import SparkSession

from penstock.spark import (
    MaintainSettings,
    catalog_settings,
    maintain_table,
    session_settings,
)


def build_session() -> SparkSession:
    """Start Spark, or take the session that there is."""
    settings: dict[str, Any] = {**session_settings(), **catalog_settings()}
    return SparkSession.builder.appName("maintain-lake").config(map=settings).getOrCreate()


def main(argv: Sequence[str] | None = None) -> None:
    """Maintain one table."""
    settings = MaintainSettings.from_args(sys.argv[1:] if argv is None else argv)
    done = maintain_table(build_session(), settings)
    print(json.dumps(asdict(done)))


if __name__ == "__main__":
    main()
