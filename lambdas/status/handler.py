"""The status function: counts what is open in its account, and publishes each count as a metric."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, single_metric

from penstock.errors import OperationError
from penstock.operations import StatusReader, StatusSettings

# Named after the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")
_reader = StatusReader(StatusSettings.from_environ(os.environ))


@_log.inject_lambda_context
def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Publish the counts, and fail at the end if something cannot be counted."""
    status = _reader.read()
    for name, unit, value, dimensions in status.list_gauges():
        given = {"namespace": "Penstock", "default_dimensions": dimensions}
        with single_metric(name, unit, value, **given):
            pass
    found = asdict(status)
    _log.info(found)
    if status.problems:
        raise OperationError(f"not everything was counted: {'; '.join(status.problems)}")
    return found
