"""A function tries its brokers and registries by its own settings, and prints no external id."""

from __future__ import annotations

import json

import pytest

from penstock.errors import BrokerNameError, RegistryAccessDeniedError, TopicForbiddenError
from penstock.extensions.doctor.hops import connection
from penstock.extensions.doctor.program import examine_program

_SERVERS = "b-1.example.com:9096,b-2.example.com:9096"
_REGISTRY = "glue://penstock?region=eu-central-1&role_arn=r&external_id=canary-of-the-role"
_CONSUMER = {
    "KAFKA_BOOTSTRAP_SERVERS": _SERVERS,
    "KAFKA_SECURITY": "tls",
    "PENSTOCK_REGISTRY": _REGISTRY,
}
_PRODUCER = _CONSUMER | {
    "AWS_REGION": "eu-central-1",
    "KAFKA_SECURITY": "iam",
    "PENSTOCK_SCHEMA_NAME": "sensor",
    "PENSTOCK_TOPIC": "sensor",
}


class _Registry:
    def __init__(self, url):
        pass

    def list_names(self):
        return ["sensor"]

    def versions(self, name):
        return [1, 2]


@pytest.fixture
def answers(monkeypatch):
    """Say what brokers and registries answer: at first all is well."""

    def say(tried=None, refused=(), registry=_Registry):
        monkeypatch.setattr(
            connection, "try_login", lambda it: tried or dict.fromkeys(it.bootstrap_servers)
        )
        monkeypatch.setattr(connection, "try_access", lambda settings, *words: [*refused])
        monkeypatch.setattr(connection, "load_admin", registry)
        monkeypatch.setattr(connection, "load_registry", registry)

    say()
    return say


def _states(answer):
    return [(each["hop"], str(each["state"])) for each in answer["findings"]]


def test_a_consumer_function_connects_without_a_login(answers):
    answer = examine_program("consumer", _CONSUMER)
    assert _states(answer) == [
        ("connection", "ok"),
        ("connection", "ok"),
        ("access lists", "not seen"),
        ("schemas", "ok"),
    ]
    assert answer["findings"][-1]["seen"] == "glue://penstock has 1 schemas"
    assert answer["causes"] == []
    assert "run `penstock doctor`" in answer["notLookedAt"]


def test_a_producer_function_logs_in_and_reads_its_own_schema(answers):
    answer = examine_program("producer", _PRODUCER)
    seen = [each["seen"] for each in answer["findings"]]
    assert seen[0] == "b-1.example.com:9096 admits producer"
    assert seen[-2:] == [
        "producer may use its topics and groups",
        "glue://penstock has 2 versions of sensor",
    ]


def test_what_fails_has_the_name_of_its_error_and_the_answer_no_external_id(answers):
    def deny(url):
        raise RegistryAccessDeniedError("AssumeRole was refused")

    broken = {"b-1.example.com:9096": BrokerNameError("no such name"), "b-2.example.com:9096": None}
    answers(broken, [TopicForbiddenError("no READ")], deny)
    answer = examine_program("producer", _PRODUCER)
    assert answer["causes"] == [
        "BrokerNameError",
        "TopicForbiddenError",
        "RegistryAccessDeniedError",
    ]
    assert "canary" not in json.dumps(answer)


def test_settings_that_are_missing_are_named(answers):
    answer = examine_program("retry", {})
    assert _states(answer) == [("connection", "not seen")]
    assert "KAFKA_BOOTSTRAP_SERVERS" in answer["findings"][0]["seen"]
