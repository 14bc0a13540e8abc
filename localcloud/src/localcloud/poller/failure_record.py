"""The failure record of a discarded batch, as AWS writes it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from localcloud.poller.batch import Item
from localcloud.poller.settings import MappingSettings

_LAST_MS: Final = 253_402_300_799_000  # the last of `datetime`; Kafka accepts later ones


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of the last attempt; without an invocation the request id is random."""

    condition: str
    invoke_count: int
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    version: str = "$LATEST"
    function_error: str | None = None


def describe_discarded(
    settings: MappingSettings, items: Sequence[Item], payload_size: int, ending: Ending
) -> dict[str, Any]:
    """Return the failure record: which records were given up, and why, without their content."""
    response = {"statusCode": 200, "executedVersion": ending.version}
    if ending.function_error:
        response["functionError"] = ending.function_error
    return {
        "requestContext": {
            "requestId": ending.request_id,
            "functionArn": settings.function_arn,
            "condition": ending.condition,
            "approximateInvokeCount": ending.invoke_count,
        },
        "responseContext": response,
        "version": "1.0",
        "timestamp": _write_time(datetime.now(UTC).timestamp() * 1000),
        "KafkaBatchInfo": {
            "batchSize": len(items),
            "bootstrapServers": ",".join(settings.bootstrap_servers),
            "payloadSize": payload_size,
            "recordsInfo": _describe_ranges(items),
        },
    }


def _describe_ranges(items: Sequence[Item]) -> dict[str, dict[str, str]]:
    ranges: dict[str, dict[str, str]] = {}
    for item in items:
        offset, when = str(item.offset), _write_time(item.timestamp_ms)
        name = f"{item.place.topic}-{item.place.partition}"
        first = {"firstRecordOffset": offset, "firstRecordTimestamp": when}
        ranges.setdefault(name, first).update(lastRecordOffset=offset, lastRecordTimestamp=when)
    return ranges


def _write_time(milliseconds: float) -> str:
    when = datetime.fromtimestamp(min(milliseconds, _LAST_MS) / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
