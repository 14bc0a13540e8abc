"""The producer: writes a sensor's events, whose fields may change at any time, to Kafka."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from snapshot_restore_py import register_after_restore

from penstock.producing import IntakeResult, IntakeSettings, Invocation, build_intake
from penstock.rebuilt import Rebuilt

# Named after the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")
_metrics = Metrics(namespace="Penstock")
_settings = IntakeSettings.from_environ(os.environ)
_intake = Rebuilt(partial(build_intake, _settings))
register_after_restore(_intake.rebuild)


@_log.inject_lambda_context
@_metrics.log_metrics
def lambda_handler(event: Any, context: Any) -> Any:
    """Write one or more events to Kafka, and return the place and schema version of each.

    For the event `{"doctor": true}`, try the brokers and the registry, and return what fails.
    """
    if event == {"doctor": True} and event["doctor"] is True:
        from penstock.extensions.doctor import examine_program  # noqa: PLC0415

        return examine_program(context.function_name, os.environ)
    invocation = Invocation(
        context.function_name,
        context.aws_request_id,
        lambda: context.get_remaining_time_in_millis() / 1000,
    )
    result = _intake.value.accept(event, invocation)
    _report(result, context.function_name)
    return result.answer()


def _report(result: IntakeResult, function: str) -> None:
    """Publish metrics, and log each event that was not written, without its content."""
    _metrics.add_dimension("FunctionName", function)
    _metrics.add_dimension("Schema", _settings.producer.schema_name)
    for name, count in result.counts().items():
        _metrics.add_metric(name, "Count", count)
    _metrics.add_metric("Latency", "Milliseconds", round(result.seconds * 1000, 1))
    for index, refusal in result.refusals.items():
        _log.warning(
            "an event was not written",
            extra={
                "event_number": index,
                "reason": refusal.reason,
                "rule": refusal.rule,
                "kept_as": result.kept.get(index),
                "not_kept": "" if index in result.kept else result.not_kept_reason,
            },
        )
