"""Logging in to real brokers and what one may do there: SCRAM with ACLs, IAM with policies."""

from __future__ import annotations

import json
import secrets
from contextlib import closing

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import (
    GroupAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
)

from localcloud.identity.credentials import SessionKeys
from localcloud.testing import wait_until
from localcloud.testing.certificates import PrivateAuthority
from tests.kafka.running_cluster import consume, produce, refused_login

pytestmark = pytest.mark.kafka

_WRITER = ["Connect", "DescribeTopic", "WriteData", "WriteDataIdempotently"]
_READER = ["Connect", "DescribeTopic", "ReadData", "AlterGroup", "DescribeGroup"]


@pytest.fixture
def user(running, keep_secret):
    """A SCRAM user whose secret is associated: name, password, ARN of the secret."""
    name, password = f"u-{secrets.token_hex(4)}", secrets.token_hex(8)
    arn = keep_secret(name, password)
    answer = running.client("kafka").batch_associate_scram_secret(
        ClusterArn=running.arn, SecretArnList=[arn]
    )
    assert answer["UnprocessedScramSecrets"] == []
    return name, password, arn


def test_a_user_of_a_secret_does_what_acls_allow(running, user):
    name, password, _ = user
    topic, settings = running.topic(), running.scram(name, password)
    with pytest.raises(TopicAuthorizationFailedError):
        produce(settings, topic)
    running.allow(name, "TOPIC", topic, "WRITE", "READ", "DESCRIBE")
    produce(settings, topic, b"hello")
    with pytest.raises(GroupAuthorizationFailedError):
        consume(settings, topic, group="g")
    running.allow(name, "GROUP", "g", "READ")
    assert consume(settings, topic, group="g") == b"hello"


def test_a_wrong_password_is_refused(running, user):
    log = refused_login(running.scram(user[0], "wrong"))
    assert "refuses the login by SCRAM-SHA-512" in log


def test_rotation_changes_the_password(running, user):
    name, old, arn = user
    running.client("secretsmanager").put_secret_value(
        SecretId=arn, SecretString=json.dumps({"username": name, "password": "new"})
    )
    KafkaAdminClient(**running.scram(name, "new")).close()
    assert "refuses the login by SCRAM-SHA-512" in refused_login(running.scram(name, old))


def test_a_disassociated_user_is_locked_out(running, user):
    name, password, arn = user
    KafkaAdminClient(**running.scram(name, password)).close()
    running.client("kafka").batch_disassociate_scram_secret(
        ClusterArn=running.arn, SecretArnList=[arn]
    )
    log = refused_login(running.scram(name, password))
    assert "refuses the login by SCRAM-SHA-512" in log


def test_a_client_certificate_does_what_acls_allow(running, authority, tmp_path):
    topic, name = running.topic(), f"c-{secrets.token_hex(4)}"
    settings = running.certificate(_keep(authority.issue(name), tmp_path))
    with pytest.raises(TopicAuthorizationFailedError):
        produce(settings, topic)
    running.allow(f"CN={name},O=Acme", "TOPIC", topic, "WRITE", "READ", "DESCRIBE")
    produce(settings, topic, b"hello")
    assert consume(settings, topic) == b"hello"


def test_other_certificates_are_refused(running, client, tmp_path):
    other = PrivateAuthority.make(client("acm-pca"))
    foreign = running.certificate(_keep(other.issue("orders"), tmp_path))
    assert "ALERT_CERTIFICATE_UNKNOWN" in refused_login(foreign)
    assert "ALERT_BAD_CERTIFICATE" in refused_login(running.certificate())


def _keep(login, folder):
    file = folder / "login.pem"
    file.write_text(f"{login['certificate']}\n{login['privateKey']}")
    return file


def test_iam_does_what_the_role_allows(running):
    topic = running.topic()
    prefix, _, uuid = running.arn.replace(":cluster/", ":{}/").rpartition("/")
    mine = f"{prefix.format('topic')}/{uuid}/{topic}"
    _, keys = running.assume_role(_WRITER, [running.arn, mine])
    produce(running.iam(keys), topic, b"by iam")
    with pytest.raises(TopicAuthorizationFailedError):
        produce(running.iam(keys), running.topic())
    with pytest.raises(TopicAuthorizationFailedError):
        consume(running.iam(keys), topic)
    with pytest.raises(GroupAuthorizationFailedError):
        _, without_group = running.assume_role(["Connect", "DescribeTopic", "ReadData"])
        consume(running.iam(without_group), topic, group="g2")
    _, reader = running.assume_role(_READER)
    assert consume(running.iam(reader), topic, group="g2") == b"by iam"


def test_acls_do_not_concern_iam(running):
    topic = running.topic()
    name, keys = running.assume_role(["Connect", "DescribeTopic"])
    session = f"arn:aws:sts::111111111111:assumed-role/{name}/test"
    running.allow(session, "TOPIC", topic, "WRITE", "READ")
    with pytest.raises(TopicAuthorizationFailedError):
        produce(running.iam(keys) | {"enable_idempotence": False}, topic)


def test_an_idempotent_producer_needs_its_own_permission(running):
    _, keys = running.assume_role(["Connect", "DescribeTopic", "WriteData"])
    topic = running.topic()
    with pytest.raises(KafkaError, match="ClusterAuthorizationFailedError"):
        produce(running.iam(keys) | {"enable_idempotence": True}, topic)
    produce(running.iam(keys) | {"enable_idempotence": False}, topic)


def test_creating_a_topic_needs_permission(running):
    _, keys = running.assume_role(["Connect", "DescribeTopic"])
    with (
        closing(KafkaAdminClient(**running.iam(keys))) as admin,
        pytest.raises(TopicAuthorizationFailedError),
    ):
        admin.create_topics([NewTopic("mine", num_partitions=1, replication_factor=1)])


def test_a_removed_policy_is_felt_within_seconds(running):
    topic = running.topic()
    name, keys = running.assume_role(_WRITER)
    settings = running.iam(keys)
    produce(settings, topic)
    running.permit(name, set(_WRITER) - {"WriteData"})

    def refused():
        try:
            produce(settings, topic)
        except TopicAuthorizationFailedError:
            return True
        return False

    wait_until("the record is refused", refused, 10)


def test_logins_that_iam_refuses(running, cloud):
    _, keys = running.assume_role(["*"])
    forged = refused_login(running.iam(keys | {"SecretAccessKey": "forged"}))
    assert "the signature does not match" in forged
    unknown = refused_login(running.iam(keys | {"AccessKeyId": "ASIAUNKNOWN"}))
    assert "the access key 'ASIAUNKNOWN' does not exist" in unknown
    role = "arn:aws:iam::111111111111:role/deploy"
    old = cloud.state(SessionKeys).make("111111111111", -1, role_arn=role, session_name="old")
    expired = {
        "AccessKeyId": old.access_key,
        "SecretAccessKey": old.secret_key,
        "SessionToken": old.session_token,
    }
    assert "it expired at" in refused_login(running.iam(expired))
    _, keys = running.assume_role(["DescribeTopic"])
    assert "is not allowed kafka-cluster:Connect" in refused_login(running.iam(keys))


def test_another_account_needs_the_policy_of_the_cluster(running):
    topic = running.topic()
    _, keys = running.assume_role(_READER, account="222222222222")
    settings = running.iam(keys)
    assert "is not allowed kafka-cluster:Connect" in refused_login(settings)
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": "222222222222"},
        "Action": "kafka-cluster:*",
        "Resource": "*",
    }
    kafka = running.client("kafka")
    kafka.put_cluster_policy(ClusterArn=running.arn, Policy=json.dumps({"Statement": statement}))
    _, writer = running.assume_role(_WRITER)
    produce(running.iam(writer), topic, b"across")
    assert consume(settings, topic) == b"across"
    kafka.delete_cluster_policy(ClusterArn=running.arn)


def test_aws_msk_iam_logs_in(running, monkeypatch):
    _, keys = running.assume_role(_WRITER)
    _put_in_environment(monkeypatch, keys)
    topic = running.topic()
    produce(running.msk_iam(), topic, b"by payload")
    _, reader = running.assume_role(_READER)
    assert consume(running.iam(reader), topic) == b"by payload"
    _put_in_environment(monkeypatch, keys | {"SecretAccessKey": "forged"})
    log = refused_login(running.msk_iam())
    assert "Access denied: the signature does not match" in log


def _put_in_environment(monkeypatch, keys):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["SecretAccessKey"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", keys["SessionToken"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
