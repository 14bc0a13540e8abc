"""Data quality of a table, with Kafka where the operator can reach it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from penstock.extensions.quality.check import TableCheck
from penstock.extensions.quality.report import Report
from penstock.extensions.quality.settings import QualitySettings
from penstock.extensions.quality.store import save_report
from penstock.kafka import FoundOffsets, KafkaSettings, look_up_offsets, read_offsets
from penstock.progress import ReportProgress, ignore_progress
from penstock.settings import Settings, nested


@dataclass(frozen=True, slots=True)
class TopicSettings(Settings):
    """The brokers of the topics that a table is written from."""

    kafka: KafkaSettings = nested(KafkaSettings)


@dataclass(frozen=True, slots=True)
class StoredReport:
    """The report of a check, and where it was written."""

    report: Report
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kafka:
    """The topics of the brokers that the settings name."""

    settings: KafkaSettings

    def read_ends(self, topics: Iterable[str]) -> Mapping[tuple[str, int], int]:
        found = read_offsets(self.settings, topics)
        return {(each.topic, each.partition): each.end for each in found}

    def look_up(
        self, ranges: Mapping[tuple[str, int], Sequence[range]]
    ) -> Mapping[tuple[str, int], FoundOffsets]:
        return look_up_offsets(self.settings, ranges)


def check_quality(
    settings: QualitySettings,
    table: str,
    topics: TopicSettings | None,
    into: str = "",
    *,
    report: ReportProgress = ignore_progress,
) -> StoredReport:
    """Check a table DATABASE.TABLE, and write the report below a folder or an s3:// URL.

    `report` is called with the number of queries that are done, and before Kafka is asked.

    Raises:
        SettingsError: a registry's URL or a backup cannot be used.
        OperationError, SinkError, RegistryError, BrokerError: see `TableCheck.run` and
            `save_report`.
    """
    kafka = None if topics is None else _Kafka(topics.kafka)
    found = TableCheck(settings, table, kafka=kafka).run(report=report)
    return StoredReport(found, save_report(found, into) if into else ())
