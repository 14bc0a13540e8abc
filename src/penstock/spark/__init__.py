"""Spark: the job that follows new schemas without a restart."""

from __future__ import annotations

from penstock.spark.admission import admit
from penstock.spark.checkpoint import Checkpoint
from penstock.spark.contract import contract_environ
from penstock.spark.decoder import Decoder, RowStatus, write_schemas
from penstock.spark.frames import FrameStatus, split_frames
from penstock.spark.lost import OffsetRange, lost_ranges, parse_offsets, planned_ranges
from penstock.spark.report import BatchCounts, ReportListener, write_report
from penstock.spark.session import check_session, session_settings
from penstock.spark.settings import (
    ConsumeSettings,
    LostOffsets,
    ReadSettings,
    SinkSettings,
    Starting,
    read_settings,
)
from penstock.spark.source import open_stream, source_options
from penstock.spark.state_files import StateFiles

__all__ = [
    "BatchCounts",
    "Checkpoint",
    "ConsumeSettings",
    "Decoder",
    "FrameStatus",
    "LostOffsets",
    "OffsetRange",
    "ReadSettings",
    "ReportListener",
    "RowStatus",
    "SinkSettings",
    "Starting",
    "StateFiles",
    "admit",
    "check_session",
    "contract_environ",
    "lost_ranges",
    "open_stream",
    "parse_offsets",
    "planned_ranges",
    "read_settings",
    "session_settings",
    "source_options",
    "split_frames",
    "write_report",
    "write_schemas",
]
