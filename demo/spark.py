"""A Spark session in the demo's own process, with the settings and the jars that jobs have."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from demo.accounts import ROOT
from penstock.spark.session import session_settings


def start_spark(folder: Path, more: Mapping[str, str] | None = None) -> SparkSession:
    """Start Spark with its files in a folder, and with more settings."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        **session_settings(),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.jars": ",".join(map(str, sorted(ROOT.glob("jars/spark/lib/*.jar")))),
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "OFF",
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **(more or {}),
    }
    return SparkSession.builder.config(map={**settings}).getOrCreate()
