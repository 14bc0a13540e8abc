"""The job of change data capture, which needs Spark."""

from __future__ import annotations

from penstock.extensions.cdc.spark.job import open_query, start_cdc
from penstock.extensions.cdc.spark.settings import CdcSettings

__all__ = ["CdcSettings", "open_query", "start_cdc"]
