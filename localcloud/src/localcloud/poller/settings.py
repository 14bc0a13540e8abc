"""The settings of a mapping, for its poller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# AWS collects for half a second if no window is set, and invokes at once if it is 0.
_DEFAULT_WINDOW_SECONDS = 0.5
_RETRIES_WITH_DESTINATION = 10


@dataclass(frozen=True, slots=True)
class MappingSettings:
    """An event source mapping for self-managed Kafka; None means no limit."""

    uuid: str
    function_arn: str
    bootstrap_servers: tuple[str, ...]
    topics: tuple[str, ...]
    group_id: str
    batch_size: int
    window_seconds: float
    starting_position: str
    starting_time_ms: int
    access: tuple[tuple[str, str], ...]
    filters: tuple[str, ...]
    destination: str | None
    max_retries: int | None
    max_age_seconds: int | None
    bisect: bool
    partial_answers: bool
    poller_count: int


def read_settings(view: dict[str, Any]) -> MappingSettings:
    """Return the settings of a mapping as GetEventSourceMapping shows it."""
    endpoints = view["SelfManagedEventSource"]["Endpoints"]["KAFKA_BOOTSTRAP_SERVERS"]
    destination = view.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    retries = _limit(view.get("MaximumRetryAttempts"))
    if retries is None and destination:
        retries = _RETRIES_WITH_DESTINATION
    return MappingSettings(
        uuid=view["UUID"],
        function_arn=view["FunctionArn"],
        bootstrap_servers=tuple(endpoints),
        topics=tuple(view["Topics"]),
        group_id=view["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"],
        batch_size=view["BatchSize"],
        window_seconds=view.get("MaximumBatchingWindowInSeconds", _DEFAULT_WINDOW_SECONDS),
        starting_position=view["StartingPosition"],
        starting_time_ms=int(view.get("StartingPositionTimestamp", 0) * 1000),
        access=tuple((one["Type"], one["URI"]) for one in view["SourceAccessConfigurations"]),
        filters=tuple(one["Pattern"] for one in view.get("FilterCriteria", {}).get("Filters", [])),
        destination=destination or None,
        max_retries=retries,
        max_age_seconds=_limit(view.get("MaximumRecordAgeInSeconds")),
        bisect=view.get("BisectBatchOnFunctionError", False),
        partial_answers="ReportBatchItemFailures" in view.get("FunctionResponseTypes", []),
        poller_count=view.get("ProvisionedPollerConfig", {}).get("MinimumPollers", 1),
    )


def _limit(value: int | None) -> int | None:
    return None if value in {None, -1} else value
