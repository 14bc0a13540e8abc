"""Spark: jobs that follow new schemas without a restart."""

from __future__ import annotations

from penstock.spark.failures.judging import DynamoDbErrors, ErrorSink
from penstock.spark.lake.maintenance import MaintainSettings, maintain_table
from penstock.spark.query.batch import Batches
from penstock.spark.query.replay import Ends, FailedAgain, Replay, ReplayCounts
from penstock.spark.query.report import BatchCounts, ReportListener
from penstock.spark.query.sinks import open_sinks
from penstock.spark.query.source import open_stream, read_ranges
from penstock.spark.rows import Fence
from penstock.spark.session import build_session, check_session
from penstock.spark.settings.consume import ConsumeSettings, read_settings
from penstock.spark.settings.contract import read_text
from penstock.spark.settings.replay import ReplaySettings
from penstock.spark.state.checkpoint import Checkpoint, check_routes
from penstock.spark.state.files import StateFiles
from penstock.spark.state.lease import Lease
from penstock.spark.state.losses import LossWatch
from penstock.spark.state.schema_ledger import Ledger, Lesson, Lessons
from penstock.spark.state.topic_watch import TopicWatch, await_end

__all__ = [
    "BatchCounts",
    "Batches",
    "Checkpoint",
    "ConsumeSettings",
    "DynamoDbErrors",
    "Ends",
    "ErrorSink",
    "FailedAgain",
    "Fence",
    "Lease",
    "Ledger",
    "Lesson",
    "Lessons",
    "LossWatch",
    "MaintainSettings",
    "Replay",
    "ReplayCounts",
    "ReplaySettings",
    "ReportListener",
    "StateFiles",
    "TopicWatch",
    "await_end",
    "build_session",
    "check_routes",
    "check_session",
    "maintain_table",
    "open_sinks",
    "open_stream",
    "read_ranges",
    "read_settings",
    "read_text",
]
