"""Metrics of CloudWatch: what the services record here, in moto's store, by minutes of one clock.

The clock is the machine's until it is put forward for the first time; then it stands still
between two such calls, so that a test decides how many minutes have passed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.cloudwatch.models import MetricDatum, cloudwatch_backends

from localcloud.cloud import Cloud

_writing = threading.Lock()


class Clock:
    """The time of metrics and alarms, without a time zone, as moto has it."""

    def __init__(self) -> None:
        self._set: datetime | None = None

    def now(self) -> datetime:
        """Return the time in UTC."""
        return self._set or datetime.now(UTC).replace(tzinfo=None)

    def forward(self, minutes: int) -> None:
        """Put the clock forward, and stop it there."""
        self._set = self.now() + timedelta(minutes=minutes)


clock = Clock()


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of an account and region."""

    account: str
    region: str
    namespace: str
    name: str
    dimensions: Mapping[str, str]

    def record(self, value: float) -> None:
        """Record a value now."""
        datum = {
            "MetricName": self.name,
            "Dimensions": [{"Name": n, "Value": v} for n, v in self.dimensions.items()],
            "Value": value,
            "Timestamp": clock.now(),
        }
        with _writing:
            backend = cloudwatch_backends[self.account][self.region]
            backend.put_metric_data(self.namespace, [datum])

    def values(self, end: datetime, length: timedelta, periods: int) -> list[list[float]]:
        """Return the values of each of the last periods before a time, the newest period first.

        Those that were put as statistics are left out.
        """
        with _writing:
            data = list(cloudwatch_backends[self.account][self.region].metric_data)
        found: list[list[float]] = [[] for _ in range(periods)]
        for each in data:
            if isinstance(each, MetricDatum) and self._has(each):
                period = -((each.timestamp.replace(tzinfo=None) - end) // length) - 1
                if 0 <= period < periods:
                    found[period].append(each.value)
        return found

    def _has(self, datum: MetricDatum) -> bool:
        named = (datum.namespace, datum.name) == (self.namespace, self.name)
        return named and {one.name: one.value for one in datum.dimensions} == self.dimensions


Gauge = Callable[[Cloud], Iterable[tuple[Metric, float]]]
_GAUGES: list[Gauge] = []


def gauge(function: Gauge) -> Gauge:
    """Register a function that is asked for its metrics each minute."""
    _GAUGES.append(function)
    return function


def record_gauges(cloud: Cloud) -> None:
    """Record what the gauges show now."""
    for function in _GAUGES:
        for metric, value in function(cloud):
            metric.record(value)


def record_embedded(account: str, region: str, lines: Iterable[str]) -> None:
    """Record the metrics in log lines that have CloudWatch's embedded metric format."""
    for line in lines:
        if '"_aws"' in line and line.startswith("{"):
            for metric, value in _read_embedded(account, region, line):
                metric.record(value)


def _read_embedded(account: str, region: str, line: str) -> Iterator[tuple[Metric, float]]:
    try:
        found: dict[str, Any] = json.loads(line)
        directives = found["_aws"]["CloudWatchMetrics"]
    except (ValueError, KeyError, TypeError):  # another line
        return
    for directive in directives:
        for names in directive["Dimensions"]:
            dimensions = {name: str(found[name]) for name in names}
            for each in directive["Metrics"]:
                values = found[each["Name"]]
                for value in values if isinstance(values, list) else [values]:
                    place = (account, region, directive["Namespace"], each["Name"])
                    yield Metric(*place, dimensions), float(value)
