"""Metrics in log lines, in CloudWatch's embedded metric format."""

from __future__ import annotations

from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.metrics import record_embedded


@operation("logs", "PutLogEvents")
def put_log_events(call: Call) -> HttpAnswer:
    """Let moto store the lines, and record the metrics in them."""
    answer = call.forward()
    if answer.status == 200:
        lines = (event["message"] for event in call.params["logEvents"])
        record_embedded(call.account, call.region, lines)
    return answer
