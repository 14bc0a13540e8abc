"""The active session of a thread: the one whose settings Spark and Iceberg read."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def set_active(session: SparkSession) -> None:
    """Make a session the active one of this thread, as it is in the thread of its query."""
    jvm: Any = session._jvm
    kind = getattr(jvm, "org.apache.spark.sql.classic.SparkSession")
    kind.setActiveSession(session._jsparkSession)
