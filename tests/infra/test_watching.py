"""Dashboards and alarms have metrics that somebody publishes, and alarms say where to read on."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.infra.planned import UNKNOWN
from tests.infra.plans import ROOT, find_cases
from tools.check_docs import find_anchors

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_NAMED = {str(case): case for case in find_cases()}
_WITH_DASHBOARDS = ("dashboard-full", "dashboard-smallest")
_ALARM = "aws_cloudwatch_metric_alarm"
# Their cases make up the alarms.
_OF_CALLERS = ("metric-alarms", "platform-function")
_WITH_ALARMS = [
    case
    for case in _NAMED.values()
    if case.name in ("full", "staging")
    and case.module not in _OF_CALLERS
    and _ALARM in case.expected.read_text()
]
_AWS = tomllib.loads(Path(__file__).with_name("aws_metrics.toml").read_text())
_PUBLISHING = ("add_metric", "CloudWatchMetrics", "list_gauges", "single_metric")
_SEARCH = re.compile(r"\{([^}]+)\}.*?MetricName=\"(\w+)\"")
_PAGE = re.compile(r" See (docs/[a-z/-]+\.md)#([a-z-]+)\.$")


@cache
def _constants():
    """The texts in the modules of the code that publish metrics."""
    files = [path for room in ("src", "lambdas") for path in (ROOT / room).rglob("*.py")]
    trees = [
        ast.parse(text)
        for text in (path.read_text() for path in files)
        if any(word in text for word in _PUBLISHING)
    ]
    trees.append(ast.parse((ROOT / "src/penstock/producing/intake.py").read_text()))
    nodes = [node for tree in trees for node in ast.walk(tree)]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    # Of _count(name, 1, FunctionName=...).
    return texts | {node.arg for node in nodes if isinstance(node, ast.keyword)}


def _is_published(namespace, metric, dimensions):
    if namespace == "Penstock":
        return {metric, *dimensions} <= _constants()
    known = _AWS.get(namespace, {"metrics": {}})["metrics"]
    return metric in known.get(", ".join(sorted(dimensions)), [])


def _metrics(body):
    """Go through the metrics of a dashboard: namespace, name and names of dimensions."""
    widgets = [each for each in json.loads(body)["widgets"] if each["type"] == "metric"]
    for *texts, options in (
        [*metric, {}] if isinstance(metric[-1], str) else metric
        for widget in widgets
        for metric in widget["properties"]["metrics"]
    ):
        if texts:
            yield texts[0], texts[1], set(texts[2::2])
        for schema, metric in _SEARCH.findall(options.get("expression", "")):
            namespace, *dimensions = [each.strip('"') for each in schema.split(",")]
            yield namespace, metric, set(dimensions)


@pytest.mark.parametrize("case", [_NAMED[name] for name in _WITH_DASHBOARDS], ids=str)
def test_a_dashboard_shows_no_metric_that_nothing_publishes(case, plan_case):
    plan = plan_case(case)
    (body,) = [
        made["dashboard_body"]
        for address, made in plan.resources.items()
        if plan.types[address] == "aws_cloudwatch_dashboard"
    ]
    shown = list(_metrics(body))

    assert len(shown) > 10
    assert [each for each in shown if not _is_published(*each)] == []


def _alarms(plan):
    return [made for address, made in plan.resources.items() if plan.types[address] == _ALARM]


@pytest.mark.parametrize("case", _WITH_ALARMS, ids=str)
def test_an_alarm_has_a_metric_and_names_the_section_that_says_what_to_do(case, plan_case):
    alarms = _alarms(plan_case(case))

    assert alarms
    for alarm in alarms:
        name, text = alarm["alarm_name"], alarm["alarm_description"]
        assert [each for each in _watched(alarm) if not _is_published(*each)] == [], name
        if text != UNKNOWN:  # it names what the apply makes
            found = _PAGE.search(text)
            assert found, f"{name} names no section: {text}"
            assert found[2] in find_anchors(ROOT / found[1]), name


def _watched(alarm):
    """Go through the metrics of an alarm, which is on one or on an expression."""
    queries = [query["metric"][0] for query in alarm.get("metric_query") or [] if query["metric"]]
    for metric in queries or [alarm]:
        dimensions = metric["dimensions"]
        # Until the apply, some are only known by the metric.
        if dimensions == UNKNOWN:
            known = _AWS[metric["namespace"]]["metrics"]
            (dimensions,) = [
                d.split(", ") for d, names in known.items() if metric["metric_name"] in names
            ]
        yield metric["namespace"], metric["metric_name"], set(dimensions)
