"""CloudWatch: moto keeps metrics, alarms and dashboards, and alarms are evaluated here."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.services.cloudwatch.iam_resources import list_resources

SERVICE = Service(
    "cloudwatch",
    endpoint="monitoring",
    throttle=ErrorCode("Throttling", 400),
    resources=list_resources,
    operations=("alarms", "dashboards"),
    signing_names=("monitoring",),
    status=("alarms",),
    moto=Moto(
        keeps=(
            "DisableAlarmActions EnableAlarmActions PutDashboard PutMetricData SetAlarmState "
            "TagResource"
        ),
    ),
    ignored={
        "DescribeAlarmHistory": "AlarmContributorId AlarmTypes",
        "PutMetricAlarm": (
            "ActionConfiguration EvaluationCriteria EvaluationInterval EvaluationWindow "
            "WarmUpConfiguration"
        ),
    },
)
