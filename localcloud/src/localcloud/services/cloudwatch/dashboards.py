"""The dashboards of CloudWatch: moto keeps them, and a body that CloudWatch rejects is refused.

The rules are those of the API Reference, "Dashboard Body Structure and Syntax". Where CloudWatch
stores a dashboard with a warning, it is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.cloudwatch.alarms import AlarmWatch

_NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")
_MOST_WIDGETS = 500
_TYPES = ("alarm", "explorer", "log", "metric", "text")
_NEEDS = {"alarm": "alarms", "log": "query", "text": "markdown"}
_LIMITS = {"x": (0, 23), "y": (0, None), "width": (1, 24), "height": (1, 1000)}


@operation("cloudwatch", "PutDashboard")
def put_dashboard(call: Call) -> HttpAnswer:
    """Let moto keep a valid dashboard, and record the gauges that it shows from now on."""
    name, body = call.params["DashboardName"], call.params["DashboardBody"]
    problems = list(find_problems(body))
    if not _NAME.fullmatch(name):
        problems.insert(0, f"The dashboard name {name!r} is not up to 255 of A-Z, a-z, 0-9, -, _")
    if problems:
        raise AwsError(
            "InvalidParameterInput",
            f"The field DashboardBody must be valid, {len(problems)} validation errors: "
            f"{'; '.join(problems)}",
        )
    call.cloud.state(AlarmWatch).start(call.cloud, call.account, call.region)
    return call.forward()


def find_problems(body: str) -> Iterator[str]:
    """Yield what is wrong with a body, each with its place."""
    try:
        widgets = json.loads(body)["widgets"]
    except (ValueError, KeyError, TypeError):
        yield "/: expected an object of JSON with widgets"
        return
    if not isinstance(widgets, list) or len(widgets) > _MOST_WIDGETS:
        yield f"/widgets: expected a list of up to {_MOST_WIDGETS}"
        return
    for number, widget in enumerate(widgets):
        for problem in _check_widget(widget):
            yield f"/widgets/{number}{problem}"


def _check_widget(widget: Any) -> Iterator[str]:
    if not isinstance(widget, dict) or widget.get("type") not in _TYPES:
        yield f"/type: expected one of {', '.join(_TYPES)}"
        return
    for name, (least, most) in _LIMITS.items():
        value = widget.get(name, least)
        if type(value) is not int or value < least or (most and value > most):
            yield f"/{name}: found {value!r}, expected {least} to {most or 'any'}"
    properties = widget.get("properties")
    if not isinstance(properties, dict):
        yield "/properties: expected an object"
    elif widget["type"] == "metric":
        yield from _check_metrics(properties)
    elif (needed := _NEEDS.get(widget["type"])) and needed not in properties:
        yield f"/properties/{needed}: is missing"


def _check_metrics(properties: dict[str, Any]) -> Iterator[str]:
    if not isinstance(properties.get("region"), str):
        yield "/properties/region: is missing"
    metrics = properties.get("metrics")
    if metrics is None and "annotations" not in properties:
        yield "/properties: expected metrics or annotations"
    for number, metric in enumerate(metrics or []):
        if problem := _check_metric(metric):
            yield f"/properties/metrics/{number}: {problem}"


def _check_metric(metric: Any) -> str:
    """Return what is wrong with a metric: [namespace, name, (dimension, value)..., {options}]."""
    if not isinstance(metric, list) or not metric:
        return "expected a list"
    *texts, last = metric
    options = last if isinstance(last, dict) else {}
    texts = texts if isinstance(last, dict) else metric
    if "expression" in options:
        return "" if not texts else "an expression has neither a namespace nor a name"
    if not all(isinstance(each, str) and each for each in texts):
        return "expected texts"
    return "" if len(texts) >= 2 and len(texts) % 2 == 0 else "expected pairs of texts"
