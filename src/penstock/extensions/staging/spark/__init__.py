"""The staging job, which needs Spark."""

from __future__ import annotations

from penstock.extensions.staging.spark.job import start_staging
from penstock.extensions.staging.spark.settings import StageSettings, read_stage_job

__all__ = ["StageSettings", "read_stage_job", "start_staging"]
