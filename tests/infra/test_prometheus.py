"""Rules and dashboard of Prometheus: series that exporters have, and the limits of the alarms."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.infra.plans import ROOT, find_cases
from tools.check_docs import find_anchors

_FOLDER = ROOT / "infra/prometheus"
_DASHBOARD = json.loads((_FOLDER / "grafana.json").read_text())
_PANELS = [each["expr"] for panel in _DASHBOARD["panels"] for each in panel["targets"]]
_RULES = [
    rule
    for group in yaml.safe_load((_FOLDER / "rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
# A line for each series that the exporters of the demo's brokers and `penstock lag` had.
_SERIES = Path(__file__).with_name("scraped.txt").read_text().splitlines()
_SELECTOR = re.compile(r"\b(up|(?:kafka|node|jvm)_\w+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
_ALARMS = next(case for case in find_cases() if str(case) == "alarms-full")


def _selects(selector, line):
    name, matchers = selector
    found = re.fullmatch(r"(\w+)(?:\{(.*)\})?", line)
    labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[2] or ""))
    return found[1] == name and all(
        bool(re.fullmatch(text if "~" in sign else re.escape(text), labels.get(label, "")))
        == (not sign.startswith("!"))
        for label, sign, text in _MATCHER.findall(matchers)
    )


@pytest.mark.parametrize("query", [*_PANELS, *(rule["expr"] for rule in _RULES)])
def test_a_query_selects_series_that_the_exporters_have(query):
    selectors = _SELECTOR.findall(query)

    assert selectors
    for selector in selectors:
        assert any(_selects(selector, line) for line in _SERIES), selector


def test_the_query_of_the_demo_selects_two_topics_both_ways():
    from demo.watch.story import QUERY  # noqa: PLC0415 - the demo imports much

    (selector,) = _SELECTOR.findall(QUERY)
    assert sum(_selects(selector, line) for line in _SERIES) == 4


@pytest.mark.parametrize("rule", _RULES, ids=lambda rule: rule["alert"])
def test_a_rule_names_the_page_that_says_what_to_do(rule):
    page, _, section = rule["annotations"]["runbook"].partition("#")
    assert section in find_anchors(ROOT / page)


@pytest.mark.terraform
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", [_ALARMS], ids=str)
def test_a_rule_has_the_limit_and_the_time_of_its_alarm(case, plan_case):
    """The lag's limit is a variable, whose default the rule has."""
    resources = plan_case(case).resources.values()
    planned = {made["alarm_name"]: made for made in resources if "alarm_name" in made}
    lag = (ROOT / "infra/modules/alarms/variables.tf").read_text()
    default = re.search(r'variable "lag_records" \{.*?default += (\d+)', lag, re.DOTALL)[1]

    for rule in _RULES:
        if rule["labels"]["alarm"] == "none":
            continue
        name = f"penstock-producer-{rule['labels']['alarm'].replace('-N-', '-1-')}"
        alarm = planned[name]
        limit = int(default) if name.endswith("-lag") else alarm["threshold"]
        assert rule["expr"].endswith(f"> {limit:g}" if limit < 1_000 else f"> {limit}"), name
        assert rule["for"] == f"{alarm['evaluation_periods'] * _period(alarm) // 60}m", name


def _period(alarm):
    """Return the seconds of a period of an alarm, which is on one metric or on an expression."""
    metrics = [query["metric"][0] for query in alarm["metric_query"] or [] if query["metric"]]
    return (metrics or [alarm])[0]["period"]
