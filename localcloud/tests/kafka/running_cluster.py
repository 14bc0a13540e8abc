"""A running cluster as tests of real brokers use it: ways to log in, topics, records."""

from __future__ import annotations

import json
import os
import secrets
import ssl
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
from botocore.credentials import CredentialProvider, Credentials
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    NewTopic,
    ResourcePattern,
    ResourceType,
)
from kafka.net.sasl.oauth import AbstractTokenProvider

from localcloud.cloud import Cloud
from localcloud.jars import JARS
from localcloud.poller.access import AccessError
from localcloud.poller.probe import check_topics
from localcloud.services.kafka.directory import ClusterDirectory
from tests.java_options import SHORT_LIVED

REGION = "eu-central-1"
_PATIENCE_MS = 3_000
_JAVA_PATH = f"{JARS}/tests/*:{JARS}/broker/*"


@dataclass
class Running:
    """The cluster, and the clients of AWS to change what is around it."""

    cloud: Cloud
    arn: str
    client: Callable[..., object]
    names: dict[str, str] = field(default_factory=dict)

    @property
    def endpoint(self):
        """Where localcloud answers."""
        return self.cloud.endpoint

    @property
    def view(self):
        """The cluster as the rest of localcloud sees it."""
        return next(c for c in ClusterDirectory(self.cloud).clusters() if c.arn == self.arn)

    def learn_names(self):
        """Let the names of all brokers resolve; of those that were added, too."""
        self.names.update({node.name: node.loopback_address for node in self.view.nodes})

    def scram(self, user, password):
        """Settings of a Kafka client that logs in by user and password."""
        return self._common("SCRAM") | {
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_plain_username": user,
            "sasl_plain_password": password,
        }

    def certificate(self, file=None):
        """Settings of a Kafka client with a certificate and its key in a file, or with none."""
        shown = {"ssl_certfile": str(file), "ssl_keyfile": str(file)} if file else {}
        return self._common("TLS") | {"security_protocol": "SSL", **shown}

    def iam(self, keys):
        """Settings of a Kafka client that shows tokens, as Python clients of MSK do."""
        return self._common("IAM") | {
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": _Tokens(keys),
        }

    def msk_iam(self):
        """Settings of a Kafka client with AWS_MSK_IAM and the environment's keys."""
        return self._common("IAM") | {"sasl_mechanism": "AWS_MSK_IAM"}

    def assume_role(self, actions, resources=("*",), account="111111111111"):
        """Make a role that may do that with Kafka; returns its name and keys of a session."""
        name = f"r-{secrets.token_hex(4)}"
        iam = self.client("iam", account=account)
        trust = _document(["sts:AssumeRole"], {"Principal": {"AWS": account}})
        arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        self.permit(name, actions, resources, account)
        sts = self.client("sts", account=account)
        keys = sts.assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
        return name, keys

    def permit(self, role, actions, resources=("*",), account="111111111111"):
        """Let a role do that with Kafka, and nothing else."""
        policy = _document([f"kafka-cluster:{a}" for a in actions], {"Resource": list(resources)})
        self.client("iam", account=account).put_role_policy(
            RoleName=role, PolicyName="kafka", PolicyDocument=policy
        )

    def allow(self, user, kind, name, *operations):
        """Let a SCRAM user do that with a topic or group."""
        pattern = ResourcePattern(ResourceType[kind], name)
        _, keys = self.assume_role(["Connect", "AlterCluster", "DescribeCluster"])
        with closing(KafkaAdminClient(**self.iam(keys))) as admin:
            admin.create_acls(
                [
                    ACL(f"User:{user}", "*", ACLOperation[o], ACLPermissionType.ALLOW, pattern)
                    for o in operations
                ]
            )

    def topic(self, **settings):
        """Make a topic; returns its name."""
        name = f"t-{secrets.token_hex(4)}"
        given = {"num_partitions": 1, "replication_factor": 2} | settings
        _, keys = self.assume_role(["*"])
        with closing(KafkaAdminClient(**self.iam(keys))) as admin:
            admin.create_topics([NewTopic(name, **given)])
        return name

    def _common(self, listener):
        port = self.view.ports[listener]
        return {
            "bootstrap_servers": [f"{node.name}:{port}" for node in self.view.nodes],
            "security_protocol": "SASL_SSL",
            "ssl_cafile": str(self.view.ca_file),
            "bootstrap_timeout_ms": _PATIENCE_MS,
        }


class _Tokens(AbstractTokenProvider):
    def __init__(self, keys):
        class Given(CredentialProvider):
            def load(self):
                return Credentials(
                    keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"]
                )

        self._given = Given()
        super().__init__()

    def token(self):
        token, _ = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(
            REGION, self._given
        )
        return token


def produce(settings, topic, value=b"v"):
    """Write one record and wait until it is acknowledged."""
    with closing(KafkaProducer(**settings, max_block_ms=_PATIENCE_MS)) as producer:
        producer.send(topic, value).get(60)


def produce_to_each(settings, topic, *values):
    """Write a value to each partition and wait until they are acknowledged."""
    with closing(KafkaProducer(**settings, max_block_ms=60_000)) as producer:
        for partition, value in enumerate(values):
            producer.send(topic, value.encode(), partition=partition).get(60)


@dataclass(frozen=True, slots=True)
class JavaProducer:
    """Produce.java, compiled once into a folder."""

    folder: Path

    def compile(self):
        """Compile it; returns itself."""
        source = Path(__file__).with_name("Produce.java")
        command = ["javac", f"-J{SHORT_LIVED[0]}", "-d", self.folder, "-cp", _JAVA_PATH, source]
        subprocess.run(command, check=True, timeout=60)
        return self

    def produce(self, settings, keys, topic, mechanism, environ):
        """Write one record with those keys to those servers; returns what it printed."""
        done = subprocess.run(
            [
                "java",
                *SHORT_LIVED,
                f"-Daws.accessKeyId={keys['AccessKeyId']}",
                f"-Daws.secretAccessKey={keys['SecretAccessKey']}",
                f"-Daws.sessionToken={keys['SessionToken']}",
                "-Daws.region=eu-central-1",
                "-cp",
                f"{self.folder}:{_JAVA_PATH}",
                "Produce",
                ",".join(settings["bootstrap_servers"]),
                settings["ssl_cafile"],
                topic,
                mechanism,
            ],
            env={"PATH": os.environ["PATH"], **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def consume(settings, topic, group=None):
    """Read the first record of a topic."""
    with closing(
        KafkaConsumer(
            topic,
            **settings | {"bootstrap_timeout_ms": 60_000},  # of a broker that has just started
            group_id=group,
            auto_offset_reset="earliest",
            consumer_timeout_ms=180_000,
        )
    ) as consumer:
        return next(consumer).value


def refused_login(settings):
    """Log in, which must be refused; returns the reason."""
    context = ssl.create_default_context(cafile=settings["ssl_cafile"])
    if "ssl_certfile" in settings:
        context.load_cert_chain(settings["ssl_certfile"])
    server = settings["bootstrap_servers"][0]
    options = {
        "bootstrap_servers": [server],
        "host": server.partition(":")[0],  # AWS_MSK_IAM signs it
        "client_id": "test",
        "ssl_context": context,
    }
    with pytest.raises(AccessError) as refusal:
        check_topics(settings | options, ())
    return str(refusal.value)


def _document(actions, more):
    statement = {"Effect": "Allow", "Action": actions} | more
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
