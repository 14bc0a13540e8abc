"""Spark: the job that follows new schemas without a restart."""

from __future__ import annotations

from penstock.spark.admission import admit
from penstock.spark.batch import Batches
from penstock.spark.catalog import catalog_settings, qualify_table
from penstock.spark.checkpoint import Checkpoint
from penstock.spark.contract import contract_environ, read_text
from penstock.spark.decoder import Decoder, RowStatus, write_schemas
from penstock.spark.dynamodb import DynamoDbTables
from penstock.spark.frames import FrameStatus, split_frames
from penstock.spark.giving_up import DynamoDbErrors, ErrorSink, Judge, file_errors
from penstock.spark.inflating import inflate_payloads
from penstock.spark.lake import Lake
from penstock.spark.lease import Lease, LeasedSink
from penstock.spark.ledger import Ledger
from penstock.spark.lessons import Lesson, Lessons, Refusal
from penstock.spark.loss_watch import LossWatch
from penstock.spark.lost import OffsetRange, lost_ranges, parse_offsets, planned_ranges
from penstock.spark.maintenance import MaintainSettings, Upkeep, maintain_table
from penstock.spark.opening import open_sinks
from penstock.spark.parquet import ParquetFiles
from penstock.spark.replay import Ends, FailedAgain, Replay, ReplayCounts
from penstock.spark.replay_settings import ReplaySettings, SelectionSettings, Which
from penstock.spark.report import BatchCounts, ReportListener, write_report
from penstock.spark.route_watch import check_routes
from penstock.spark.rows import BatchId, Sink, event_schema, event_type, name_event
from penstock.spark.session import build_session, check_session, session_settings
from penstock.spark.settings import (
    ConsumeSettings,
    LostOffsets,
    ReadSettings,
    Starting,
    read_settings,
)
from penstock.spark.sink_settings import SinkSettings
from penstock.spark.source import open_stream, read_ranges, source_options
from penstock.spark.state_files import StateFiles
from penstock.spark.topic_watch import TopicChanges, TopicWatch, await_end

__all__ = [
    "BatchCounts",
    "BatchId",
    "Batches",
    "Checkpoint",
    "ConsumeSettings",
    "Decoder",
    "DynamoDbErrors",
    "DynamoDbTables",
    "Ends",
    "ErrorSink",
    "FailedAgain",
    "FrameStatus",
    "Judge",
    "Lake",
    "Lease",
    "LeasedSink",
    "Ledger",
    "Lesson",
    "Lessons",
    "LossWatch",
    "LostOffsets",
    "MaintainSettings",
    "OffsetRange",
    "ParquetFiles",
    "ReadSettings",
    "Refusal",
    "Replay",
    "ReplayCounts",
    "ReplaySettings",
    "ReportListener",
    "RowStatus",
    "SelectionSettings",
    "Sink",
    "SinkSettings",
    "Starting",
    "StateFiles",
    "TopicChanges",
    "TopicWatch",
    "Upkeep",
    "Which",
    "admit",
    "await_end",
    "build_session",
    "catalog_settings",
    "check_routes",
    "check_session",
    "contract_environ",
    "event_schema",
    "event_type",
    "file_errors",
    "inflate_payloads",
    "lost_ranges",
    "maintain_table",
    "name_event",
    "open_sinks",
    "open_stream",
    "parse_offsets",
    "planned_ranges",
    "qualify_table",
    "read_ranges",
    "read_settings",
    "read_text",
    "session_settings",
    "source_options",
    "split_frames",
    "write_report",
    "write_schemas",
]
