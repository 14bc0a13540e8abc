"""A function that schedules invoke, a role for it, and the control door."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request

import pytest

from localcloud.services.scheduler import delivery
from localcloud.testing import deploy
from localcloud.testing.policies import allow, make_role
from tests.scheduler.schedule_roles import ACCOUNT, REGION, trust_of_group

WRITES_EVENTS = """
import json, os
def handler(event, context):
    with open(os.environ["TRACE"], "a") as trace:
        trace.write(json.dumps(event) + "\\n")
"""


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    """Retries without the pauses."""
    monkeypatch.setattr(delivery, "_RETRY_SECONDS", (0.01, 0.01))


@pytest.fixture(scope="module")
def scheduler(client):
    return client("scheduler")


@pytest.fixture(scope="module")
def traced(client, tmp_path_factory):
    """A function's ARN, and a function that returns the events it got."""
    path = tmp_path_factory.mktemp("traced") / "trace"
    name = deploy(client, WRITES_EVENTS, Environment={"Variables": {"TRACE": str(path)}})
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
    return (
        arn,
        lambda: (
            [json.loads(line) for line in path.read_text().splitlines()] if (path.exists()) else []
        ),
    )


@pytest.fixture(scope="module")
def role(client, traced):
    """A role that the scheduler may assume and that may invoke the function."""
    invoking = allow("lambda:InvokeFunction", traced[0])
    return make_role(client("iam"), trust_of_group(), invoking)


@pytest.fixture
def asked(traced, role):
    """A request that is accepted: once a year, so that nothing fires by itself."""
    return {
        "Name": f"s-{secrets.token_hex(4)}",
        "ScheduleExpression": "cron(0 0 1 1 ? *)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {"Arn": traced[0], "RoleArn": role},
    }


@pytest.fixture
def door(cloud):
    """Ask the control door; the faults end with the test."""

    def ask(name, method="POST", **arguments):
        url, body = f"{cloud.endpoint}/_localcloud/{name}", json.dumps(arguments).encode()
        asked = urllib.request.Request(
            url, body, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            return json.load(refused)

    yield ask
    ask("clear-faults")


@pytest.fixture
def fire(door):
    """Fire a schedule now."""

    def now(asked):
        return door("fire-schedule", account=ACCOUNT, region=REGION, schedule=asked["Name"])

    return now
