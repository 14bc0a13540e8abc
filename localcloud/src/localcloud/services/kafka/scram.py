"""SCRAM users: the contents of the secrets that are associated with a cluster."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.secretsmanager.models import secretsmanager_backends

from localcloud.cloud import Cloud
from localcloud.door.operations import Call, operation
from localcloud.identity.key_states import find_flaw
from localcloud.identity.resource_policies import key_arn
from localcloud.services.kafka.access import find_own_cluster
from localcloud.services.kafka.listeners import is_enabled
from localcloud.services.kafka.model import PAGES, Cluster, all_clusters, bad_request
from localcloud.services.kafka.processes import running

_ARN = re.compile(r"arn:aws:secretsmanager:([a-z0-9-]+):(\d{12}):secret:(.+)")
_PREFIX = "AmazonMSK_"
_AT_ONCE = 10


class _UnusableSecretError(Exception):
    """A secret that MSK cannot use, with the reason."""


@operation("kafka", "BatchAssociateScramSecret")
def batch_associate_scram_secret(call: Call) -> dict[str, Any]:
    """Add the users of secrets to the cluster."""
    cluster, arns = _check(call)
    users, unprocessed = {}, []
    for arn in arns:
        try:
            name, password = _read_user(cluster, arn)
        except _UnusableSecretError as error:
            unprocessed.append(_show_refusal(arn, str(error)))
        else:
            users[name] = password
            cluster.secrets[arn] = name
    running(cluster).set_users(users)
    return {"ClusterArn": cluster.arn, "UnprocessedScramSecrets": unprocessed}


@operation("kafka", "BatchDisassociateScramSecret")
def batch_disassociate_scram_secret(call: Call) -> dict[str, Any]:
    """Lock out the users of secrets."""
    cluster, arns = _check(call)
    unprocessed = [
        _show_refusal(arn, "The secret is not associated with the cluster")
        for arn in arns
        if arn not in cluster.secrets
    ]
    gone = {cluster.secrets.pop(arn) for arn in arns if arn in cluster.secrets}
    running(cluster).set_users(_lock_out(gone - set(cluster.secrets.values())))
    return {"ClusterArn": cluster.arn, "UnprocessedScramSecrets": unprocessed}


@operation("kafka", "ListScramSecrets")
def list_scram_secrets(call: Call) -> dict[str, Any]:
    """List the associated secrets."""
    page, more = PAGES.cut(call, list(find_own_cluster(call).secrets))
    return {"SecretArnList": page, **more}


def follow_secret(cloud: Cloud, arn: str) -> None:
    """Set the users of a secret again in each cluster that it is associated with."""
    for cluster in all_clusters(cloud):
        if arn in cluster.secrets and cluster.brokers is not None:
            try:
                name, password = _read_user(cluster, arn)
            except _UnusableSecretError:
                continue  # as on MSK, the user keeps the last readable password
            old = cluster.secrets[arn]
            cluster.secrets[arn] = name
            cluster.brokers.set_users({**_lock_out({old} - {name}), name: password})


def _check(call: Call) -> tuple[Cluster, list[str]]:
    cluster, arns = find_own_cluster(call), call.params["SecretArnList"]
    if not is_enabled(cluster.settings.get("ClientAuthentication", {}), "Sasl", "Scram"):
        raise bad_request("The cluster does not have SASL/SCRAM authentication enabled")
    if cluster.state != "ACTIVE":
        raise bad_request(f"The cluster must be ACTIVE for this; it is {cluster.state}")
    if not 0 < len(arns) <= _AT_ONCE:
        raise bad_request(f"Specify 1 to {_AT_ONCE} secrets per call, not {len(arns)}")
    return cluster, arns


def _read_user(cluster: Cluster, arn: str) -> tuple[str, str]:
    match = _ARN.fullmatch(arn)
    if match is None:
        raise _UnusableSecretError("The provided secret ARN is invalid.")
    region, account, name = match.groups()
    if (account, region) != (cluster.account, cluster.region):
        raise _UnusableSecretError(
            f"The provided secret belongs to account {account} in {region}; Amazon MSK needs one "
            f"of the cluster's own, {cluster.account} in {cluster.region}."
        )
    if not name.startswith(_PREFIX):
        raise _UnusableSecretError(
            "The provided secret arn cannot be used with Amazon MSK. Secret names must have the "
            f"prefix '{_PREFIX}'."
        )
    backend = secretsmanager_backends[account][region]
    try:
        secret = backend.describe_secret(arn)
        value = backend.get_secret_value(arn, version_id="", version_stage="AWSCURRENT")
    except JsonRESTError as error:
        raise _UnusableSecretError(
            f"Amazon MSK wasn't able to access the provided secret: {error.message}"
        ) from error
    key = secret.to_dict().get("KmsKeyId") or "aws/secretsmanager"
    if key.endswith("aws/secretsmanager"):
        raise _UnusableSecretError(
            "The provided secret is encrypted with the default key of Secrets Manager; Amazon MSK "
            "needs a customer managed key."
        )
    if flaw := find_flaw("kms:Decrypt", key_arn(account, region, key)):
        raise _UnusableSecretError(
            f"Amazon MSK wasn't able to access the provided secret: {flaw.says}"
        )
    return _parse_user(value.get("SecretString", ""))


def _parse_user(text: str) -> tuple[str, str]:
    try:
        content = json.loads(text)
        name, password = content["username"], content["password"]
    except (ValueError, TypeError, KeyError):
        name = password = None
    if not (isinstance(name, str) and isinstance(password, str) and name and password):
        raise _UnusableSecretError(
            "The provided secret's value is not a JSON object with username and password."
        )
    return name, password


def _lock_out(names: set[str]) -> dict[str, str]:
    """Return random passwords: deleting a user may cost Kafka 4.3.1 other users at a start."""
    return {name: secrets.token_hex(32) for name in names}


def _show_refusal(arn: str, message: str) -> dict[str, str]:
    return {"SecretArn": arn, "ErrorCode": "InvalidSecretArn", "ErrorMessage": message}
