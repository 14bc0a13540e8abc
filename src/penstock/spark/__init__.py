"""Spark: jobs that follow new schemas without a restart."""

from __future__ import annotations

from penstock.spark.lake.followed import FollowedTable
from penstock.spark.lake.maintenance import MaintainSettings, maintain_table
from penstock.spark.lake.merged import MergedTable
from penstock.spark.lake.widening import whole_column
from penstock.spark.query.api import decode, follow, start_consuming
from penstock.spark.query.lines import BatchLines
from penstock.spark.query.replay import run_replay
from penstock.spark.query.settings import ConsumeSettings, ReplaySettings
from penstock.spark.query.source import open_stream, read_topics
from penstock.spark.query.stateful import (
    KnownVersions,
    StatefulQuery,
    ignore_future,
    select_columns,
)
from penstock.spark.session import build_session, read_job
from penstock.spark.settings.consume import ReadSettings, parse_trigger, trigger_options
from penstock.spark.sinks.base import KindSettings, Part, Sink, SinkContext, SinkKind
from penstock.spark.state.checkpoint import Checkpoint
from penstock.spark.state.files import write_text
from penstock.spark.state.topic_watch import await_end
from penstock.tables import BatchId

__all__ = [
    "BatchId",
    "BatchLines",
    "Checkpoint",
    "ConsumeSettings",
    "FollowedTable",
    "KindSettings",
    "KnownVersions",
    "MaintainSettings",
    "MergedTable",
    "Part",
    "ReadSettings",
    "ReplaySettings",
    "Sink",
    "SinkContext",
    "SinkKind",
    "StatefulQuery",
    "await_end",
    "build_session",
    "decode",
    "follow",
    "ignore_future",
    "maintain_table",
    "open_stream",
    "parse_trigger",
    "read_job",
    "read_topics",
    "run_replay",
    "select_columns",
    "start_consuming",
    "trigger_options",
    "whole_column",
    "write_text",
]
