"""Dashboards: a body that CloudWatch would reject, or store with a warning, is refused."""

from __future__ import annotations

import json

import pytest

from tests.refusals import refusal

_METRIC = {"region": "eu-central-1", "metrics": [["AWS/Kafka", "CpuUser", "Broker ID", "1"]]}


def _put(client, body, name="d"):
    return client("cloudwatch").put_dashboard(DashboardName=name, DashboardBody=body)


def _widget(kind="metric", properties=_METRIC, **place):
    return json.dumps({"widgets": [{"type": kind, "properties": properties, **place}]})


def test_a_dashboard_is_kept(client):
    rate = [{"expression": "RATE(m)", "id": "r"}]
    body = _widget(properties={**_METRIC, "metrics": [*_METRIC["metrics"], rate]}, x=23, width=24)
    _put(client, body, "kept")

    kept = client("cloudwatch").get_dashboard(DashboardName="kept")
    assert json.loads(kept["DashboardBody"]) == json.loads(body)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("{", "/: expected an object of JSON with widgets"),
        ('{"widgets": 1}', "/widgets: expected a list of up to 500"),
        (_widget("chart"), "/widgets/0/type: expected one of alarm, explorer, log, metric, text"),
        (_widget(x=24), "/widgets/0/x: found 24, expected 0 to 23"),
        (_widget(width="6"), "/widgets/0/width: found '6', expected 1 to 24"),
        (_widget(y=-1), "/widgets/0/y: found -1, expected 0 to any"),
        (_widget(properties=None), "/widgets/0/properties: expected an object"),
        (_widget("text", {}), "/widgets/0/properties/markdown: is missing"),
        (_widget(properties={"metrics": []}), "/widgets/0/properties/region: is missing"),
        (_widget(properties={"region": "r"}), "expected metrics or annotations"),
        (_widget(properties={**_METRIC, "metrics": [1]}), "metrics/0: expected a list"),
        (_widget(properties={**_METRIC, "metrics": [["N"]]}), "expected pairs of texts"),
        (_widget(properties={**_METRIC, "metrics": [["N", 1]]}), "metrics/0: expected texts"),
        (
            _widget(properties={**_METRIC, "metrics": [["N", {"expression": "1"}]]}),
            "an expression has neither a namespace nor a name",
        ),
    ],
)
def test_a_body_that_is_not_valid_is_refused(client, body, problem):
    code, message = refusal(_put, client=client, body=body)

    assert code == "InvalidParameterInput"
    assert message.endswith(problem)


def test_a_name_has_letters_digits_and_dashes(client):
    _, message = refusal(_put, client=client, body=_widget(), name="a b")
    assert "The dashboard name 'a b' is not up to 255 of" in message
