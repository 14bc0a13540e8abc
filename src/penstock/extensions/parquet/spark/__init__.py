"""The sink of plain Parquet files, which needs Spark."""

from __future__ import annotations

from penstock.extensions.parquet.spark.sink import ParquetSettings

__all__ = ["ParquetSettings"]
