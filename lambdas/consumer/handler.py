"""The consumer: writes the records of a Kafka event source mapping as rows to DynamoDB."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools import Logger, Metrics, single_metric
from snapshot_restore_py import register_after_restore

from penstock.consuming import (
    Consumed,
    ConsumerSettings,
    answer_mapping,
    build_consumer,
    count_waiting,
    read_records,
)
from penstock.rebuilt import Rebuilt
from penstock.records import Record

# Named after the package, so that the logs of its modules have the same format.
_log = Logger(service="penstock")
_metrics = Metrics(namespace="Penstock")
_consumer = Rebuilt(lambda: build_consumer(ConsumerSettings.from_environ(os.environ), "lambda"))
register_after_restore(_consumer.rebuild)


@_log.inject_lambda_context
@_metrics.log_metrics
def lambda_handler(event: Any, context: Any) -> dict[str, Any]:
    """Write a row for each record; after an error, the mapping delivers the batch again.

    For the event `{"doctor": true}`, try the brokers and registries, and return what fails.
    """
    if event == {"doctor": True} and event["doctor"] is True:
        from penstock.extensions.doctor import examine_program  # noqa: PLC0415

        return examine_program(context.function_name, os.environ)
    started, function = time.monotonic(), context.function_name
    _metrics.add_dimension("FunctionName", function)
    records: Sequence[Record] = ()
    try:
        records = read_records(event)
        consumed = _consumer.value.consume(records, context.get_remaining_time_in_millis)
    except Exception as error:
        kind = type(error).__name__
        _log.error("the batch must be delivered again: %.500s", error, extra={"kind": kind})
        _count("BatchesFailed", 1, FunctionName=function, Error=kind)
        _metrics.add_metric("PartitionsHeld", "Count", count_waiting(records, error))
        raise
    finally:
        _metrics.add_metric("Latency", "Milliseconds", 1e3 * (time.monotonic() - started))
    _report(consumed, records, function)
    return answer_mapping(consumed.held)


def _report(consumed: Consumed, records: Sequence[Record], function: str) -> None:
    """Publish the counts of a batch and the age of its oldest record."""
    for name, count in (
        ("RowsWritten", consumed.written),
        ("Tombstones", consumed.tombstones),
        ("PartitionsHeld", len(consumed.held)),
        # In addition to those by reason, because an alarm on one metric cannot add up several.
        ("RecordsGivenUp", sum(consumed.given_up.values())),
    ):
        _metrics.add_metric(name, "Count", count)
    for reason, count in consumed.given_up.items():
        _count("RecordsGivenUp", count, FunctionName=function, Reason=reason.value)
    if records:
        lag = time.time() * 1e3 - min(record.timestamp_ms for record in records)
        _metrics.add_metric("Lag", "Milliseconds", max(lag, 0))


def _count(name: str, count: int, **dimensions: str) -> None:
    """Publish a metric with its own dimensions."""
    with single_metric(name, "Count", count, namespace="Penstock", default_dimensions=dimensions):
        pass
