"""How a mapping logs in, and what it says when it cannot."""

from __future__ import annotations

import json
import secrets
from contextlib import closing, contextmanager

import pytest
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from localcloud.testing import allow, deploy, make_role, wait_until
from localcloud.testing.mappings import (
    PASSWORD,
    USER,
    create_topic,
    get,
    mapped,
    run_broker,
    seen,
    trace_in,
    tracing,
    wait_for_result,
)

pytestmark = pytest.mark.kafka


@pytest.fixture
def function(client, trace):
    """A function whose role may read secrets."""
    role = make_role(client)
    allow(client, role, "secretsmanager:GetSecretValue")
    return deploy(client, tracing(), Role=role, **trace_in(trace))


@pytest.fixture
def keep(client):
    """Keep a JSON object as a secret; returns the ARN."""

    def keep(**values):
        made = client("secretsmanager").create_secret(
            Name=f"s-{secrets.token_hex(4)}", SecretString=json.dumps(values)
        )
        return made["ARN"]

    return keep


@contextmanager
def settings_of_brokers_only_for(user, broker):
    """Let one user read the brokers' settings, which everybody may as long as no list says who."""
    cluster = ResourcePattern(ResourceType.CLUSTER, "kafka-cluster")
    wanted = ACLOperation.DESCRIBE_CONFIGS
    acl = ACL(f"User:{user}", "*", wanted, ACLPermissionType.ALLOW, cluster)
    with closing(broker.open_admin()) as admin:
        assert admin.create_acls([acl])["failed"] == []
        yield
        admin.delete_acls([acl])


def by_scram(broker, login, root):
    """The settings of a mapping that logs in by SCRAM and trusts a certificate."""
    servers = broker.bootstrap_servers("SCRAM").split(",")
    return {
        "SelfManagedEventSource": {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": servers}},
        "SourceAccessConfigurations": [
            {"Type": "SASL_SCRAM_512_AUTH", "URI": login},
            {"Type": "SERVER_ROOT_CA_CERTIFICATE", "URI": root},
        ],
    }


def test_a_mapping_logs_in_by_scram_with_its_secrets(client, broker, function, trace, keep):
    topic = create_topic(broker)
    root = keep(certificate=broker.ca_file.read_text())
    login = keep(username=USER, password=PASSWORD)
    with mapped(client, function, topic, **by_scram(broker, login, root)) as mapping:
        topic.send("a", "b")
        wait_until("both", lambda: seen(trace, f"{topic.name}-0") == ["a", "b"])
        wait_for_result(client, mapping, "OK")


def test_a_wrong_password_is_reported_and_its_correction_used(
    client, broker, function, trace, keep
):
    topic = create_topic(broker)
    root = keep(certificate=broker.ca_file.read_text())
    login = keep(username=USER, password="wrong-password")
    with mapped(client, function, topic, **by_scram(broker, login, root)) as mapping:
        result = get(client, mapping)["LastProcessingResult"]
        assert result.startswith("PROBLEM: ")
        assert "SCRAM-SHA-512" in result
        assert "wrong-password" not in result
        topic.send("late")
        right = json.dumps({"username": USER, "password": PASSWORD})
        client("secretsmanager").put_secret_value(SecretId=login, SecretString=right)
        wait_until("the record", lambda: seen(trace, f"{topic.name}-0") == ["late"])
        wait_for_result(client, mapping, "OK")


def test_a_user_who_may_not_read_the_brokers_settings_gets_no_records(
    client, broker, function, trace, keep
):
    topic = create_topic(broker)
    settings = by_scram(broker, keep(username=USER, password=PASSWORD), "")
    settings["SourceAccessConfigurations"][1]["URI"] = keep(certificate=broker.ca_file.read_text())
    topic.send("a")
    with settings_of_brokers_only_for("somebody", broker):
        with mapped(client, function, topic, **settings) as mapping:
            wait_for_result(client, mapping, "PROBLEM: Cluster failed to authorize Lambda")
            assert seen(trace, f"{topic.name}-0") == []


def test_brokers_with_an_untrusted_certificate_are_reported(client, broker, function, keep):
    topic = create_topic(broker)
    login = keep(username=USER, password=PASSWORD)
    settings = by_scram(broker, login, "")
    del settings["SourceAccessConfigurations"][1]
    with mapped(client, function, topic, **settings) as mapping:
        result = get(client, mapping)["LastProcessingResult"]
        assert result.startswith("PROBLEM: ")
        assert "certificate" in result


@pytest.mark.parametrize(
    ("login", "root", "problem"),
    [
        ({"user": "x"}, None, "a JSON object with username and password"),
        (None, {"pem": "x"}, "a JSON object with certificate"),
        (None, {"certificate": "no pem"}, "holds no PEM certificate"),
    ],
)
def test_secrets_of_another_shape_are_reported(  # noqa: PLR0913, PLR0917 - a table
    client, broker, function, keep, login, root, problem
):
    login = keep(**(login or {"username": USER, "password": PASSWORD}))
    root = keep(**(root or {"certificate": broker.ca_file.read_text()}))
    topic = create_topic(broker)
    with mapped(client, function, topic, **by_scram(broker, login, root)) as mapping:
        result = get(client, mapping)["LastProcessingResult"]
    assert result.startswith("PROBLEM: the secret arn:aws:secretsmanager:")
    assert result.endswith(problem)


def test_unavailable_brokers_are_reported_and_found_again(client, function, trace, tmp_path):
    with run_broker(tmp_path / "own") as own:
        topic = create_topic(own)
        with mapped(client, function, topic) as mapping:
            topic.send("before")
            wait_until("the first", lambda: seen(trace, f"{topic.name}-0") == ["before"])
            own.kill(1)
            wait_until(
                "the problem",
                lambda: get(client, mapping)["LastProcessingResult"].startswith("PROBLEM: "),
            )
            own.restart(1)
            topic.send("after")
            # Once more, where the broker was gone before it was told that the first is done.
            both = {"before": None, "after": None}
            wait_until("both", lambda: dict.fromkeys(seen(trace, f"{topic.name}-0")) == both, 180)
            wait_for_result(client, mapping, "OK")
