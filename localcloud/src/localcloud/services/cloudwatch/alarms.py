"""The alarms of CloudWatch: each minute they look at their metrics, and publish to SNS.

moto stores alarms and metrics. An alarm looks at the periods that it evaluates and no further back;
one on an expression, a percentile or other alarms is not evaluated, and `status` says so.
"""

from __future__ import annotations

import json
import logging
import operator
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from moto.cloudwatch.models import cloudwatch_backends

from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.door.pages import Pages
from localcloud.metrics import Metric, clock, record_gauges
from localcloud.notices import NotPublishedError, publish

_log = logging.getLogger(__name__)
_MINUTE_SECONDS = 60
_MOST_MINUTES = 1440
_SHORT_PERIODS = (10, 20, 30)
_HOUR, _DAY, _WEEK = 3_600, 86_400, 604_800
_PAGES = Pages("NextToken", "MaxRecords", 100, "InvalidNextToken")
_MOST_HISTORY = 10_000  # of an account and region; CloudWatch keeps 30 days
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanOrEqualToThreshold": operator.le,
    "LessThanThreshold": operator.lt,
}
_STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "Average": lambda values: sum(values) / len(values),
    "Maximum": max,
    "Minimum": min,
    "SampleCount": len,
    "Sum": sum,
}
_OK, _ALARM, _UNKNOWN = "OK", "ALARM", "INSUFFICIENT_DATA"


class AlarmWatch:
    """Evaluates the alarms of all accounts each minute, from the first alarm on."""

    def __init__(self) -> None:
        self.places: set[tuple[str, str]] = set()
        self.history: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, cloud: Cloud, account: str, region: str) -> None:
        """Watch the alarms of an account and region."""
        with self._lock:
            self.places.add((account, region))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, args=(cloud,), daemon=True)
                self._thread.start()
                cloud.on_stop(self.stop)

    def stop(self) -> None:
        """End the watch."""
        self._stopping.set()
        if self._thread:
            self._thread.join()

    def look(self, cloud: Cloud) -> None:
        """Record the gauges, and evaluate every alarm."""
        with self._lock:
            record_gauges(cloud)
            for account, region in sorted(self.places):
                history = self.history.setdefault((account, region), [])
                for alarm in list(cloudwatch_backends[account][region].alarms.values()):
                    history += _evaluate(account, region, alarm)
                del history[:-_MOST_HISTORY]

    def _run(self, cloud: Cloud) -> None:
        while not self._stopping.wait(_MINUTE_SECONDS):
            self.look(cloud)


@operation("cloudwatch", "PutMetricAlarm")
def put_metric_alarm(call: Call) -> HttpAnswer:
    """Let moto store the alarm; a new one has no data yet, and a changed one keeps its state."""
    alarms, name = cloudwatch_backends[call.account][call.region].alarms, call.params["AlarmName"]
    if "Period" in call.params:
        _check_periods(int(call.params["Period"]), int(call.params["EvaluationPeriods"]))
    known = alarms.get(name)
    answer = call.forward()
    if name in alarms:
        alarms[name].state_value = known.state_value if known else _UNKNOWN
    call.cloud.state(AlarmWatch).start(call.cloud, call.account, call.region)
    return answer


def _check_periods(period: int, periods: int) -> None:
    """Refuse periods of other lengths, and a look back over more than a day or a week."""
    if period not in _SHORT_PERIODS and (period < _MINUTE_SECONDS or period % _MINUTE_SECONDS):
        raise AwsError("ValidationError", "Period must be 10, 20, 30 or a multiple of 60")
    limit, time, which = (_DAY, "a day", "<") if period < _HOUR else (_WEEK, "a week", ">=")
    if period * periods > limit:
        raise AwsError(
            "ValidationError",
            f"Metrics cannot be checked across more than {time} (EvaluationPeriods * Period must "
            f"be <= {limit}) for alarms using period {which} {_HOUR}",
        )


@operation("cloudwatch", "DescribeAlarmHistory")
def describe_alarm_history(call: Call) -> dict[str, Any]:
    """Return the changes of states and their notices, newest first unless asked otherwise."""
    params = call.params
    kinds, name = {params.get("HistoryItemType")} - {None}, params.get("AlarmName")
    start, end = params.get("StartDate"), params.get("EndDate")
    found = [
        each
        for each in call.cloud.state(AlarmWatch).history.get((call.account, call.region), [])
        if name in {None, each["AlarmName"]}
        and (not kinds or each["HistoryItemType"] in kinds)
        and (start is None or each["Timestamp"] >= start)
        and (end is None or each["Timestamp"] <= end)
    ]
    if params.get("ScanBy") != "TimestampAscending":
        found.reverse()
    page, more = _PAGES.cut(call, found)
    return {"AlarmHistoryItems": page, **more}


@action("pass-minutes")
def pass_minutes(cloud: Cloud, *, minutes: int) -> dict[str, Any]:
    """Put the clock of metrics forward, minute by minute, evaluating the alarms at each."""
    if not 1 <= minutes <= _MOST_MINUTES:
        raise ValueError(f"minutes is {minutes}, expected 1 to {_MOST_MINUTES}")
    watch = cloud.state(AlarmWatch)
    for _ in range(minutes):
        clock.forward(1)
        watch.look(cloud)
    return {"now": clock.now()}


@describe("alarms")
def describe_alarms(cloud: Cloud) -> list[dict[str, Any]]:
    """List the alarms with their states, and those that are not evaluated with the reason."""
    return [
        {
            "account": account,
            "region": region,
            "name": alarm.name,
            "state": alarm.state_value,
            "not_evaluated": _why_not(alarm),
        }
        for account, region in sorted(cloud.state(AlarmWatch).places)
        for alarm in list(cloudwatch_backends[account][region].alarms.values())
    ]


def _why_not(alarm: Any) -> str:
    """Return why an alarm is not evaluated, empty for one that is."""
    if alarm.rule:
        return "it is composed of other alarms"
    if alarm.metric_data_queries:
        return "it is on an expression"
    if alarm.statistic not in _STATISTICS or alarm.comparison_operator not in _COMPARE:
        return f"it is on {alarm.extended_statistic or alarm.comparison_operator}"
    return ""


@dataclass(frozen=True, slots=True)
class Found:
    """How many of an alarm's periods breach its threshold, and how many have no data."""

    breaching: int
    missing: int
    periods: int

    def judge(self, needed: int, treatment: str, state: str) -> str:
        """Return the new state of an alarm that is in a state and treats missing data so."""
        possible = self.breaching + (0 if treatment == "notBreaching" else self.missing)
        if possible < needed:
            return _OK
        if self.breaching >= needed or treatment == "breaching":
            return _ALARM
        if treatment == "ignore":
            return state
        if self.breaching:  # every datapoint that is there
            return _ALARM
        return _UNKNOWN if self.missing == self.periods else _OK


def _evaluate(account: str, region: str, alarm: Any) -> Iterator[dict[str, Any]]:
    """Set the new state of an alarm, and yield the items for its history."""
    if _why_not(alarm):
        return
    found = _look_back(account, region, alarm)
    needed = int(alarm.datapoints_to_alarm or alarm.evaluation_periods)
    old = alarm.state_value
    new = found.judge(needed, alarm.treat_missing_data or "missing", old)
    if new != old:
        reason = (
            f"{found.breaching} of the last {found.periods} datapoints breached the threshold "
            f"{alarm.threshold}, {found.missing} were missing"
        )
        alarm.update_state(reason, "{}", new)
        changed = {
            "version": "1.0",
            "oldState": {"stateValue": old},
            "newState": {"stateValue": new, "stateReason": reason},
        }
        yield _tell(alarm, "StateUpdate", f"Alarm updated from {old} to {new}", changed)
        if alarm.actions_enabled:
            yield from _publish(account, region, alarm, old)


def _tell(alarm: Any, kind: str, summary: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        "AlarmName": alarm.name,
        "AlarmType": "MetricAlarm",
        "Timestamp": clock.now(),
        "HistoryItemType": kind,
        "HistorySummary": summary,
        "HistoryData": json.dumps(data),
    }


def _look_back(account: str, region: str, alarm: Any) -> Found:
    dimensions = {one.name: one.value for one in alarm.dimensions}
    metric = Metric(account, region, alarm.namespace, alarm.metric_name, dimensions)
    periods, length = int(alarm.evaluation_periods), timedelta(seconds=int(alarm.period))
    end = clock.now().replace(second=0, microsecond=0)  # the minute that is not over is left out
    compare, summarize = _COMPARE[alarm.comparison_operator], _STATISTICS[alarm.statistic]
    values = metric.values(end, length, periods)
    breaching = [each for each in values if each and compare(summarize(each), alarm.threshold)]
    return Found(len(breaching), values.count([]), periods)


def _publish(account: str, region: str, alarm: Any, old: str) -> Iterator[dict[str, Any]]:
    """Carry out the actions of an alarm, and yield an item for its history for each."""
    message = {
        "AlarmName": alarm.name,
        "AlarmDescription": alarm.description,
        "AWSAccountId": account,
        "NewStateValue": alarm.state_value,
        "NewStateReason": alarm.state_reason,
        "StateChangeTime": f"{clock.now():%Y-%m-%dT%H:%M:%S.000+0000}",
        "Region": region,
        "AlarmArn": alarm.alarm_arn,
        "OldStateValue": old,
    }
    subject = f'{alarm.state_value}: "{alarm.name}" in {region}'[:100]
    context = {"aws:SourceArn": alarm.alarm_arn, "aws:SourceAccount": account}
    actions = {
        _ALARM: alarm.alarm_actions,
        _OK: alarm.ok_actions,
        _UNKNOWN: alarm.insufficient_data_actions,
    }
    for target in actions[alarm.state_value]:
        try:
            if target.split(":")[2] != "sns":
                raise NotPublishedError(f"localcloud carries out no {target}")
            service = "cloudwatch.amazonaws.com"
            publish(target, service, context, subject, json.dumps(message))
            state, said = "Succeeded", "Successfully executed action"
        except NotPublishedError as error:
            state, said = "Failed", "Failed to execute action"
            _log.warning("the alarm %s was not published: %s", alarm.name, error)
        data = {"version": "1.0", "actionState": state, "notificationResource": target}
        yield _tell(alarm, "Action", f"{said} {target}", data)
