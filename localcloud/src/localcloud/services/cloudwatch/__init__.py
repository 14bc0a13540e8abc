"""CloudWatch: moto keeps metrics, alarms and dashboards, and alarms are evaluated here."""

from __future__ import annotations

from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.identity.access import by_action

SERVICE = Service(
    "cloudwatch",
    endpoint="monitoring",
    throttle=ErrorCode("Throttling", 400),
    resources=by_action,
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
