"""Sinks that keep what they are given in files, which Spark's processes share with the tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from penstock.spark.sinks.base import Sink
from penstock.spark.sinks.kinds import list_kinds
from penstock.spark.sinks.settings import SinkSettings


def sink_settings(errors_table, parked_bucket, **given):
    """Settings of the sinks that flags choose, as `lake_table="db.t"` does."""
    return SinkSettings(errors_table, parked_bucket, _choose_sinks(given), **given)


def with_sinks(settings, **given):
    """The settings, with these sinks and others."""
    return replace(settings, sinks={**settings.sinks, **_choose_sinks(given)}, **given)


def _choose_sinks(given):
    """Take the settings of sinks out of what is given."""
    return {
        name: kind(**{each: given.pop(each) for each in own})
        for name, kind in list_kinds().items()
        if (own := {each.name for each in fields(kind)} & given.keys())
    }


@dataclass
class FileSink(Sink):
    """Each part of each batch once, as Iceberg has it; dies before or after what it is told."""

    folder: Path
    fails: Callable[[str], bool] = lambda _: False
    parts: list[tuple[int, int]] = field(default_factory=list)

    def write(self, rows, part):
        batch, part = part.batch, part.number
        path = self.folder / f"{batch.number}-{part}"
        if self.fails(f"before {part}"):
            raise OSError(f"dead before {part}")
        if not path.exists():
            rows.write.mode("error").parquet(str(path))
            self.parts.append((batch.number, part))
        if self.fails(f"after {part}"):
            raise OSError(f"dead after {part}")
        return {}

    def rows(self, spark):
        """All rows, by their offsets; a record that is there twice fails."""
        found = {}
        for path in sorted(self.folder.glob("*-*")):
            for row in spark.read.parquet(str(path)).collect():
                assert row["_offset"] not in found
                found[row["_offset"]] = row["event"].asDict(recursive=True)
        return found


@dataclass(frozen=True)
class FileErrors:
    """A file for each record that was given up."""

    folder: Path

    def keep(self, records):
        for each in records:
            record, failure = each.record, each.failure
            content = {
                "reason": failure.reason, "detail": failure.detail,
                "schema": None if each.schema is None else str(each.schema),
                "key": record.key and record.key.hex(), "value": record.value.hex(),
                "headers": [[name, value.hex()] for name, value in record.headers],
            }  # fmt: skip
            (self.folder / f"{record.source.offset}").write_text(json.dumps(content))

    def read(self):
        """All of them, by the records' offsets."""
        files = {int(path.name): json.loads(path.read_text()) for path in self.folder.iterdir()}
        return {offset: files[offset] for offset in sorted(files)}

    def reasons(self):
        """The reasons by the records' offsets."""
        return {offset: error["reason"] for offset, error in self.read().items()}
