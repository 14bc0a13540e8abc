"""The status function: counts what is open in its account, and publishes each count as a metric."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from typing import Any, Final

from aws_lambda_powertools import Logger, single_metric

from penstock.errors import OperationError
from penstock.operations import Status, StatusReader, StatusSettings

_RESERVE_SECONDS: Final = 10  # for what is left to do after the last count

# Named after the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")
_reader = StatusReader(StatusSettings.from_environ(os.environ))


@_log.inject_lambda_context
def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Publish the counts, and fail at the end if something cannot be counted."""
    found = _reader.read_open()
    _publish(found)
    left = _reader.read_versions(context.get_remaining_time_in_millis() / 1_000 - _RESERVE_SECONDS)
    _publish(left)
    status = replace(found, versions_left=left.versions_left)
    _log.info(told := asdict(status))
    if status.problems:
        raise OperationError(f"not everything was counted: {'; '.join(status.problems)}")
    return told


def _publish(status: Status) -> None:
    for name, unit, value, dimensions in status.list_gauges():
        given = {"namespace": "Penstock", "default_dimensions": dimensions}
        with single_metric(name, unit, value, **given):
            pass
