"""A Spark session in which Penstock's consume job runs once for each change.

Its settings are in the environment, as those of a job; the session differs from a job's in its
catalog, which is a folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.spark import ConsumeSettings, start_consuming
from penstock.spark.decoding.jar import load_jar
from penstock.spark.session import keep_lookups, session_settings
from systems.answering import answer, take_output
from systems.place import QUICK, ROOT

_FOLDER = Path(os.environ["PROOF_FOLDER"])


def main() -> None:
    """Answer until the other side ends."""
    answers = take_output()  # before the JVM inherits it
    spark, queries = _open_session(), dict[str, StreamingQuery]()
    failed: dict[str, str] = {}

    def start(change: str) -> str:
        words = [
            *("--topics", change, "--lake-table", f"proof.{change.replace('-', '_')}"),
            *("--checkpoint", f"file://{_FOLDER}/checkpoints/{change}", "--service", change),
        ]
        try:
            queries[change] = start_consuming(spark, ConsumeSettings.from_args(words, os.environ))
            failed.pop(change, None)
        except Exception as error:  # a start that fails is an end
            failed[change] = _shorten(error)
        return ""

    def why_ended(change: str) -> str:
        if change in failed or queries[change].isActive:
            return failed.get(change, "")
        return _shorten(queries[change].exception())

    answer(answers, {"start": start, "why_ended": why_ended})


def _shorten(error: object) -> str:
    """Return the line with Penstock's own error, or the first one."""
    lines = str(error).splitlines()
    own = (line for line in lines if line.startswith("penstock.errors."))
    return next(own, lines[0])[:300]


def _open_session() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folders = ("jars/spark/lib", "localcloud/.cache/jars/s3")
    found = (path for folder in folders for path in ROOT.glob(f"{folder}/*.jar"))
    settings: dict[str, Any] = {
        **session_settings(),
        "spark.master": f"local[{os.cpu_count()}]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join((*QUICK, "-XX:ReservedCodeCacheSize=256m")),
        "spark.driver.memory": "3g",
        "spark.jars": ",".join(sorted({path.name: str(path) for path in found}.values())),
        "spark.local.dir": str(_FOLDER / "local"),
        "spark.scheduler.mode": "FAIR",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.cache-enabled": "false",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(_FOLDER / "lake"),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": str(os.cpu_count()),
        "spark.sql.warehouse.dir": str(_FOLDER / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    spark = SparkSession.builder.config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    keep_lookups(spark)
    load_jar(spark)
    return spark


if __name__ == "__main__":
    main()
