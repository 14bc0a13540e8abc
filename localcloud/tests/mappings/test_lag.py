"""The lag of a mapping: its alarm rings when records wait, and tells when nothing is polled."""

from __future__ import annotations

import urllib.request

import pytest

from localcloud.testing import deploy, wait_until
from localcloud.testing.mappings import create_topic, mapped

pytestmark = pytest.mark.kafka

_ALWAYS_FAILS = "def handler(event, context):\n    raise ValueError('no')\n"


def _pass_a_minute(cloud):
    urllib.request.urlopen(
        urllib.request.Request(
            f"{cloud.endpoint}/_localcloud/pass-minutes",
            b'{"minutes": 1}',
            {"Content-Type": "application/json"},
        ),
        timeout=30,
    ).close()


def test_the_lag_alarm_rings_and_tells_when_the_mapping_is_gone(cloud, client, broker):
    topic = create_topic(broker)
    topic.send("one", "two", "three")
    function = deploy(client, _ALWAYS_FAILS)
    client("cloudwatch").put_metric_alarm(
        AlarmName="lag",
        Namespace="AWS/Lambda",
        MetricName="OffsetLag",
        Dimensions=[{"Name": "FunctionName", "Value": function}],
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=2,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="missing",
    )

    def state_after_a_minute():
        _pass_a_minute(cloud)
        (alarm,) = client("cloudwatch").describe_alarms(AlarmNames=["lag"])["MetricAlarms"]
        return alarm["StateValue"]

    def has_errors():
        dimensions = [{"Name": "FunctionName", "Value": function}]
        found = client("cloudwatch").list_metrics(
            Namespace="AWS/Lambda", MetricName="Errors", Dimensions=dimensions
        )
        return found["Metrics"]

    assert state_after_a_minute() == "INSUFFICIENT_DATA"
    with mapped(client, function, topic):
        wait_until("the alarm rings", lambda: state_after_a_minute() == "ALARM")
        wait_until("an error is counted", has_errors)
    wait_until("it tells", lambda: state_after_a_minute() == "INSUFFICIENT_DATA")
