"""Real Kafka brokers, and everything needed to log in to them."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import trustme
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from localcloud.brokers import (
    BrokerCluster,
    ClusterSpec,
    choose_network,
    prepare_brokers,
    serve_token_checks,
)
from localcloud.identity import AcceptedToken, KnownKey, check_token
from localcloud.network import resolve_names
from penstock.errors import BrokerError
from penstock.kafka import (
    Consumer,
    KafkaSettings,
    Producer,
    Security,
    Topic,
    ensure_topic,
    open_producer,
)
from systems.sessions import make_session

REGION = "eu-central-1"
OPEN = {"allow.everyone.if.no.acl.found": "true"}  # brokers that need no rules
ANONYMOUS = "ANONYMOUS"  # whoever connects without a login
PATIENCE_SECONDS = 90.0  # with brokers on a busy machine; what is waited for is a state
PRODUCER = KnownKey("arn:aws:sts::111111111111:assumed-role/producer/penstock", "p-secret")
Result = TypeVar("Result")


@dataclass
class Brokers:
    """A running cluster with its names in place, and what its IAM login knows and has seen.

    Its TLS listener admits clients without a certificate, and those with one of `authority`.
    """

    cluster: BrokerCluster
    keys: dict[str, KnownKey]
    logins: Counter[str]
    authority: trustme.CA

    def settings(self, security: Security, **changes: Any) -> KafkaSettings:
        """Settings with which such a client connects, with changes on top."""
        values: dict[str, Any] = {
            "bootstrap_servers": self.cluster.bootstrap_servers(security.name).split(","),
            "security": security,
            "ca_file": "" if security is Security.PLAINTEXT else str(self.cluster.ca_file),
            "region": REGION if security is Security.IAM else "",
        }
        return KafkaSettings(**(values | changes))

    def allow(self, user: str, topics: str | Sequence[str], *operations: str) -> None:
        """Let a user do that with a topic, or with several."""
        names = [topics] if isinstance(topics, str) else topics
        acls = [
            ACL(f"User:{user}", "*", ACLOperation[operation], ACLPermissionType.ALLOW, pattern)
            for pattern in (ResourcePattern(ResourceType.TOPIC, name) for name in names)
            for operation in operations
        ]
        with closing(self.cluster.open_admin()) as admin:
            admin.create_acls(acls)
        self.wait_for_changes()

    def set_user(self, name: str, password: str) -> None:
        """Create a SCRAM user or change its password, on every broker."""
        self.cluster.set_user(name, password)
        self.wait_for_changes()

    def wait_for_changes(self) -> None:
        """Wait until every broker knows what was changed.

        Brokers learn of changes in their order: who knows a new topic knows what was before it.
        """
        self.create_topic(partitions=1)

    def create_topic(self, partitions: int = 3) -> str:
        """Create a topic with a name of its own, which nobody without IAM may use yet.

        It keeps its records, however old their timestamps are.
        """
        name = f"t-{secrets.token_hex(4)}"
        with logged_in(self, PRODUCER):
            keep = {"retention.ms": "-1"}
            ensure_topic(
                self.settings(Security.IAM), Topic(name, partitions=partitions, properties=keep)
            )
        return name


@contextmanager
def running_brokers(
    directory: Path, kind: type[ClusterSpec] = ClusterSpec, **changes: Any
) -> Iterator[Brokers]:
    """Run a cluster of its own, with names that no other one has: three brokers, unless changed."""
    keys: dict[str, KnownKey] = {}
    logins: Counter[str] = Counter()
    jvm = prepare_brokers()
    authority = trustme.CA()

    def find_key(access_key: str) -> KnownKey | None:
        logins[access_key] += 1
        return keys.get(access_key)

    def check(token: str) -> AcceptedToken:
        return check_token(token, find_key, datetime.now(UTC))

    zone = f"local.{secrets.token_hex(3)}.c1.kafka.{REGION}.amazonaws.com"
    with serve_token_checks(check) as url:
        spec = kind(
            zone=zone,
            network=choose_network(),
            plaintext=True,
            token_url=url,
            client_authorities=authority.cert_pem.bytes().decode(),
            **changes,
        )
        with BrokerCluster(directory, spec, jvm=jvm) as cluster, resolve_names(cluster.names):
            yield Brokers(cluster, keys, logins, authority)


@contextmanager
def logged_in(brokers: Brokers, key: KnownKey, *, secret: str | None = None) -> Iterator[str]:
    """Have those AWS credentials, and let the brokers know them; `secret` is a wrong one."""
    access_key = f"AKIA{secrets.token_hex(8).upper()}"
    brokers.keys[access_key] = key
    session = make_session(access_key, secret or key.secret_key, key.session_token)
    with patch("penstock.kafka._aws.load_session", lambda **_: session):
        yield access_key


def at_last(action: Callable[[], Result]) -> Result:
    """Run an action until the brokers are there for it: a busy machine may answer late."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return action()
        except BrokerError as error:
            assert error.retriable, error
            assert time.monotonic() < until, error


def open_patient_producer(settings: KafkaSettings) -> Producer:
    """Open a producer whose sends may take as long as brokers on a busy machine do."""
    return at_last(lambda: open_producer(settings, deadline_seconds=PATIENCE_SECONDS))


def read_to_end(consumer: Consumer) -> list[Any]:
    """Read a topic up to the ends that its partitions have now."""
    client = consumer._client
    records: list[Any] = []
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        records += consumer.poll(1.0)
        ends = client.end_offsets(list(client.assignment()))
        left = {place: end for place, end in ends.items() if client.position(place) < end}
        if ends and not left:
            return records
        assert time.monotonic() < until, f"{len(records)} records came, and not those to {left}"
