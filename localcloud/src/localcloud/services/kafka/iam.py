"""The brokers' questions about IAM principals: is the login valid, is the action allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from moto.iam.models import iam_backends

from localcloud.brokers import serve_token_checks, vpc_place
from localcloud.cloud import Cloud
from localcloud.errors import TokenRefusedError, UndecidablePolicyError
from localcloud.identity import AcceptedToken, KnownKey, check_payload, check_token
from localcloud.identity.credentials import find_key
from localcloud.identity.permissions import may
from localcloud.identity.policies import (
    Principal,
    Request,
    Verdict,
    judge_resource,
    read_statements,
)
from localcloud.services.kafka.model import Cluster

_SESSION = re.compile(r"arn:aws:sts::(\d{12}):assumed-role/([^/]+)/.+")

# Kafka's operation on a type of resource -> the action of IAM, as in the developer guide.
_ACTIONS = {
    ("CLUSTER", "DESCRIBE"): "DescribeCluster",
    ("CLUSTER", "ALTER"): "AlterCluster",
    ("CLUSTER", "DESCRIBE_CONFIGS"): "DescribeClusterDynamicConfiguration",
    ("CLUSTER", "ALTER_CONFIGS"): "AlterClusterDynamicConfiguration",
    ("CLUSTER", "IDEMPOTENT_WRITE"): "WriteDataIdempotently",
    ("TOPIC", "CREATE"): "CreateTopic",
    ("TOPIC", "DELETE"): "DeleteTopic",
    ("TOPIC", "DESCRIBE"): "DescribeTopic",
    ("TOPIC", "ALTER"): "AlterTopic",
    ("TOPIC", "DESCRIBE_CONFIGS"): "DescribeTopicDynamicConfiguration",
    ("TOPIC", "ALTER_CONFIGS"): "AlterTopicDynamicConfiguration",
    ("TOPIC", "READ"): "ReadData",
    ("TOPIC", "WRITE"): "WriteData",
    ("GROUP", "READ"): "AlterGroup",
    ("GROUP", "DESCRIBE"): "DescribeGroup",
    ("GROUP", "DELETE"): "DeleteGroup",
    ("TRANSACTIONAL_ID", "DESCRIBE"): "DescribeTransactionalId",
    ("TRANSACTIONAL_ID", "WRITE"): "AlterTransactionalId",
}
_RESOURCES = {"TOPIC": "topic", "GROUP": "group", "TRANSACTIONAL_ID": "transactional-id"}


@contextmanager
def serve_iam(cloud: Cloud, cluster: Cluster) -> Iterator[str]:
    """Answer the cluster's brokers while the context lasts; yield the URL for them."""

    def check(token: str) -> AcceptedToken:
        return _admit(cluster, check_token(token, keys, datetime.now(UTC)))

    def check_of_java(payload: str) -> AcceptedToken:
        names = {node.name for node in cluster.nodes}
        names |= {cluster.bootstrap_name}
        names |= {vpc_place(cluster.zone, node.broker_id, "IAM")[0] for node in cluster.nodes}
        accepted = check_payload(payload, cluster.region, names, keys, datetime.now(UTC))
        return _admit(cluster, accepted)

    def authorize(principal: str, operation: str, kind: str, name: str) -> bool:
        asked = find_action(cluster, operation, kind, name)
        return asked is not None and principal_may(cluster, principal, *asked)

    def keys(access_key: str) -> KnownKey | None:
        return find_key(cloud, access_key)

    with serve_token_checks(check, check_payload=check_of_java, may=authorize) as url:
        yield url


def principal_may(cluster: Cluster, principal: str, action: str, resource: str) -> bool:
    """Decide by the principal's own policies and, for another account, also by the cluster's."""
    account = principal.split(":")[4]
    role_arn = _find_role_arn(principal)
    asked = Principal(account, role_arn or principal, session_arn=principal)
    request = Request(action, resource)
    try:
        by_cluster = judge_resource(read_statements(cluster.policy), request, asked)
        # A principal without a role is a user, with all permissions of the account.
        by_identity = role_arn is None or may(role_arn, action, resource)
    except UndecidablePolicyError:
        return False
    if not by_identity or by_cluster is Verdict.DENIED:
        return False
    return account == cluster.account or by_cluster is not Verdict.SILENT


def find_action(cluster: Cluster, operation: str, kind: str, name: str) -> tuple[str, str] | None:
    """Return the action and resource of IAM for Kafka's question, None if IAM has none."""
    action = _ACTIONS.get((kind, operation))
    if action is None:
        return None
    resource = cluster.arn
    if kind in _RESOURCES:
        resource = f"{cluster.arn.replace(':cluster/', f':{_RESOURCES[kind]}/')}/{name}"
    return f"kafka-cluster:{action}", resource


def _admit(cluster: Cluster, accepted: AcceptedToken) -> AcceptedToken:
    action = "kafka-cluster:Connect"
    if not principal_may(cluster, accepted.principal, action, cluster.arn):
        raise TokenRefusedError(f"{accepted.principal} is not allowed {action} on {cluster.arn}")
    return accepted


def _find_role_arn(principal: str) -> str | None:
    """Return the role of a session, whose ARN omits the role's path; None for users."""
    match = _SESSION.fullmatch(principal)
    if match is None:
        return None
    account, name = match.groups()
    for role in list(iam_backends[account]["aws"].roles.values()):
        if role.name == name:
            return str(role.arn)
    return f"arn:aws:iam::{account}:role/{name}"
