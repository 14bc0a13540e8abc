"""The cluster, and the logins that it admits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, NotSeenError, Seen, Side
from penstock.extensions.doctor.hops.secrets import list_secrets

_PRODUCER = Side.PRODUCER
# Brokers serve while MSK works on them, apart from a restart of one at a time.
_SERVES = {"ACTIVE", "UPDATING", "MAINTENANCE", "REBOOTING_BROKER", "HEALING"}


def look_at_cluster(world: World) -> Iterator[Seen | Break]:
    """Check that the cluster is there and serves."""
    found = find_cluster(world)
    state = found["State"] if found else "missing"
    if state not in _SERVES:
        yield Break(
            "cluster-not-active",
            world.contract["cluster"]["name"],
            f"the cluster is {state}",
            "ACTIVE",
            "aws kafka describe-cluster-v2 tells why; wait, or apply",
        )
    else:
        yield Seen(f"{world.contract['cluster']['name']} is {state}")


def look_at_logins(world: World) -> Iterator[Seen | Break]:
    """Check that the cluster admits passwords and IAM, and the secret of each program."""
    found = find_cluster(world) or {}
    sasl = found.get("Provisioned", {}).get("ClientAuthentication", {}).get("Sasl", {})
    for name in ("Scram", "Iam"):
        if found and not sasl.get(name, {}).get("Enabled"):
            yield Break(
                "login-off",
                name.upper(),
                f"the cluster admits no login by {name.upper()}",
                "SCRAM for consumers, IAM for the producer's programs",
            )
    arn = world.contract["cluster"]["arn"]
    answer = world.ask(_PRODUCER, "kafka", "list_scram_secrets", ClusterArn=arn)
    admitted = set((answer or {}).get("SecretArnList", []))
    for name, secret in list_secrets(world).items():
        if secret not in admitted:
            yield Break(
                "login-not-associated",
                name,
                f"the secret of {name} is not associated with the cluster",
                "the secret of each program, else its password is refused",
                f"aws kafka batch-associate-scram-secret --cluster-arn {arn} "
                f"--secret-arn-list {secret}",
                is_symptom=not found,
            )
    yield Seen(f"{len(admitted)} secrets are associated")


def find_nodes(world: World) -> dict[str, Any]:
    """Return the network of the cluster's nodes.

    Raises:
        NotSeenError: there is no cluster.
    """
    cluster = find_cluster(world)
    if cluster is None:
        raise NotSeenError(f"there is no cluster {world.contract['cluster']['arn']}")
    found: dict[str, Any] = cluster["Provisioned"]["BrokerNodeGroupInfo"]
    return found


def find_cluster(world: World) -> dict[str, Any] | None:
    """Return the description of the cluster by MSK; None if the cluster does not exist."""
    arn = world.contract["cluster"]["arn"]
    answer = world.ask(_PRODUCER, "kafka", "describe_cluster_v2", ClusterArn=arn)
    return answer["ClusterInfo"] if answer else None
