"""A sink of your own: rows as lines of JSON, in a folder for each part of a batch.

Installed in a package, with this entry point, each job takes `--json-path` beside the flags of the
other sinks:

    [project.entry-points."penstock.sinks"]
    json-lines = "own_sink:JSON_LINES"

A part of a batch that comes again after a crash has the same rows, so a part that is there whole is
not written again: each row is there once. A replay of dead letters that comes again has other
batches, so it leaves out the records that the folder has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from pyspark.sql import DataFrame

from penstock.errors import Reason
from penstock.settings import setting
from penstock.spark import KindSettings, Part, Sink, SinkContext, SinkKind

_PLACE: Final = ["_topic", "_kafka_partition", "_offset"]
_PLACES: Final = "_topic string, _kafka_partition int, _offset bigint"


@dataclass(frozen=True, slots=True)
class JsonSettings(KindSettings):
    """The folder of a job; with `--route`, it has {table} in it."""

    NAMES: ClassVar = ("json_path",)

    json_path: str = setting("JSON_PATH", "folder for rows as lines of JSON", default="")


@dataclass(frozen=True, slots=True)
class JsonLines(Sink):
    """A folder on this machine."""

    path: Path

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write the rows of a part, unless Spark has marked it as complete."""
        batch = part.batch
        folder = self.path / batch.query / f"{batch.number}-{part.number}"
        if not (folder / "_SUCCESS").exists():
            chosen = rows.select("event.*", *_PLACE)
            chosen.write.mode("overwrite").json(f"file://{folder.absolute()}")
        return {}


@dataclass(frozen=True, slots=True)
class ReplayedLines(Sink):
    """The same folder, for records that it may have already."""

    lines: JsonLines

    def write(self, rows: DataFrame, part: Part) -> Mapping[Reason, int]:
        """Write the rows of a part that no whole part has."""
        parts = [
            f"file://{mark.parent.absolute()}" for mark in self.lines.path.glob("*/*/_SUCCESS")
        ]
        if parts:
            written = rows.sparkSession.read.schema(_PLACES).json(parts)
            rows = rows.join(written, _PLACE, "left_anti")
        return self.lines.write(rows, part)


def _open(settings: JsonSettings, context: SinkContext) -> JsonLines:
    return JsonLines(Path(settings.json_path))


def _open_replayed(settings: JsonSettings, context: SinkContext) -> ReplayedLines:
    return ReplayedLines(_open(settings, context))


JSON_LINES = SinkKind("json-lines", JsonSettings, _open, _open_replayed)
