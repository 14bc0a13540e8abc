"""localcloud tells what a role has asked for, so that a policy can be trimmed to what is used."""

from __future__ import annotations

import json
import urllib.request

import pytest
from botocore.exceptions import ClientError

from localcloud.identity import decisions
from localcloud.identity.permissions import may
from localcloud.testing.policies import allow, allow_role


def ask(cloud, role):
    """What the control door says of a role."""
    body = json.dumps({"role": role}).encode()
    url = f"{cloud.endpoint}/_localcloud/list-decisions"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_calls_and_questions_of_services_are_listed_once_each(cloud, iam, role, acting):
    topic = "arn:aws:kafka:eu-central-1:111111111111:topic/c/1/readings"
    allow_role(role, iam, allow("sqs:ListQueues"))
    assert ask(cloud, role) == []
    for _ in range(2):
        acting("sqs").list_queues()
    with pytest.raises(ClientError, match="not authorized"):
        acting("dynamodb").list_tables()
    assert not may(role, "kafka-cluster:WriteData", topic)

    assert ask(cloud, role) == [
        {"role": role, "action": "sqs:ListQueues", "resource": None, "allowed": True},
        {"role": role, "action": "dynamodb:ListTables", "resource": None, "allowed": False},
        {"role": role, "action": "kafka-cluster:WriteData", "resource": topic, "allowed": False},
    ]


def test_the_oldest_decisions_are_dropped(cloud, monkeypatch):
    monkeypatch.setattr(decisions, "_decisions", {})
    monkeypatch.setattr(decisions, "_MOST", 2)
    for number in range(3):
        decisions.note_decision(decisions.Decision("a role", f"s3:{number}", None, True))
    assert [told["action"] for told in ask(cloud, "a role")] == ["s3:1", "s3:2"]
