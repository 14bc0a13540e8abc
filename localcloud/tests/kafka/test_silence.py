"""Brokers that cannot ask localcloud let nobody in and nobody do anything."""

from __future__ import annotations

from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta

import pytest
import requests
from kafka import KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import TopicAuthorizationFailedError
from kafka.net.sasl.oauth import AbstractTokenProvider

from localcloud.brokers import (
    BrokerCluster,
    ClusterSpec,
    choose_network,
    prepare_brokers,
    serve_token_checks,
)
from localcloud.identity import AcceptedToken
from localcloud.network.names import resolve_names
from localcloud.testing import wait_until
from tests.kafka.running_cluster import refused_login

pytestmark = pytest.mark.kafka


class _AnyToken(AbstractTokenProvider):
    def token(self):
        return "any"


def _accept(_):
    return AcceptedToken("arn:aws:iam::111111111111:user/x", datetime.now(UTC) + timedelta(hours=1))


def test_silence_is_no_permission(tmp_path):
    with ExitStack() as brokers, ExitStack() as answers:
        url = answers.enter_context(serve_token_checks(_accept))
        spec = ClusterSpec(network=choose_network(), broker_count=1, token_url=url)
        cluster = brokers.enter_context(BrokerCluster(tmp_path, spec, jvm=prepare_brokers()))
        brokers.enter_context(resolve_names(cluster.names))
        with closing(cluster.open_admin()) as admin:
            admin.create_topics([NewTopic("t", num_partitions=1, replication_factor=1)])
        settings = {
            "bootstrap_servers": cluster.bootstrap_servers("IAM").split(","),
            "security_protocol": "SASL_SSL",
            "ssl_cafile": str(cluster.ca_file),
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": _AnyToken(),
        }
        with closing(KafkaProducer(**settings, enable_idempotence=False)) as producer:
            producer.send("t", b"1").get(60)
            answers.close()
            wait_until("the login is refused", lambda: _is_refused(producer), 10)
        assert "refuses the login by OAUTHBEARER" in refused_login(settings)


def test_aws_msk_iam_is_rejected_unless_enabled():
    with serve_token_checks(_accept) as url:
        answer = requests.post(f"{url}payload", data="{}", timeout=60)
    assert (answer.status_code, answer.text) == (403, "this cluster has no AWS_MSK_IAM login")


def _is_refused(producer):
    try:
        producer.send("t", b"2").get(60)
    except TopicAuthorizationFailedError:
        return True
    return False
