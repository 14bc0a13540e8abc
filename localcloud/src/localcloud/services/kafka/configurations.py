"""Configurations: server properties for the brokers, under a name and in revisions."""

from __future__ import annotations

import re
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.services.kafka.model import (
    PAGES,
    Configuration,
    Revision,
    bad_request,
    new_identity,
    now,
    own_state,
    state_of,
)

_NAME = re.compile(r"[0-9A-Za-z-]{1,255}")

# The list under "Custom MSK configurations" in the developer guide; MSK refuses all others.
_SETTABLE = frozenset(
    """
    allow.everyone.if.no.acl.found auto.create.topics.enable compression.type
    connections.max.idle.ms default.replication.factor delete.topic.enable
    group.initial.rebalance.delay.ms group.max.session.timeout.ms group.min.session.timeout.ms
    leader.imbalance.per.broker.percentage log.cleaner.delete.retention.ms
    log.cleaner.min.cleanable.ratio log.cleanup.policy log.flush.interval.messages
    log.flush.interval.ms log.message.timestamp.after.max.ms log.message.timestamp.before.max.ms
    log.message.timestamp.difference.max.ms log.message.timestamp.type log.retention.bytes
    log.retention.hours log.retention.minutes log.retention.ms log.roll.ms log.segment.bytes
    max.incremental.fetch.session.cache.slots message.max.bytes min.insync.replicas num.io.threads
    num.network.threads num.partitions num.recovery.threads.per.data.dir num.replica.fetchers
    offsets.retention.minutes offsets.topic.replication.factor replica.fetch.max.bytes
    replica.fetch.response.max.bytes replica.lag.time.max.ms replica.selector.class
    replica.socket.receive.buffer.bytes socket.receive.buffer.bytes socket.request.max.bytes
    socket.send.buffer.bytes transaction.max.timeout.ms transaction.state.log.min.isr
    transaction.state.log.replication.factor transactional.id.expiration.ms
    unclean.leader.election.enable
    """.split()
)


@operation("kafka", "CreateConfiguration")
def create_configuration(call: Call) -> dict[str, Any]:
    """Create a configuration with its first revision."""
    name, kafka = call.params["Name"], own_state(call)
    if not _NAME.fullmatch(name):
        raise bad_request(f"The configuration name {name!r} is not letters, digits and hyphens")
    read_properties(call.params["ServerProperties"])
    with kafka.lock:
        if any(known.name == name for known in kafka.configurations.values()):
            raise AwsError("ConflictException", f"A configuration named {name} already exists")
        identity, _ = new_identity()
        arn = f"arn:aws:kafka:{call.region}:{call.account}:configuration/{name}/{identity}"
        configuration = kafka.configurations[arn] = Configuration(
            arn=arn,
            name=name,
            description=call.params.get("Description", ""),
            kafka_versions=call.params.get("KafkaVersions", []),
            revisions=[_make_revision(call, 1)],
        )
    return _show(configuration)


@operation("kafka", "UpdateConfiguration")
def update_configuration(call: Call) -> dict[str, Any]:
    """Add a revision."""
    read_properties(call.params["ServerProperties"])
    with own_state(call).lock:
        configuration = _find_configuration(call, call.params["Arn"])
        revision = _make_revision(call, len(configuration.revisions) + 1)
        configuration.revisions.append(revision)
    return {"Arn": configuration.arn, "LatestRevision": _show_revision(revision)}


@operation("kafka", "DescribeConfiguration")
def describe_configuration(call: Call) -> dict[str, Any]:
    """Describe a configuration with its latest revision."""
    return _show(_find_configuration(call, call.params["Arn"]))


@operation("kafka", "DescribeConfigurationRevision")
def describe_configuration_revision(call: Call) -> dict[str, Any]:
    """Describe one revision with its properties."""
    _, revision = find_revision(call, call.params)
    return {
        "Arn": call.params["Arn"],
        "ServerProperties": revision.properties,
        **_show_revision(revision),
    }


@operation("kafka", "ListConfigurations")
def list_configurations(call: Call) -> dict[str, Any]:
    """List all configurations of the account and region."""
    known = [_show(configuration) for configuration in own_state(call).configurations.values()]
    page, more = PAGES.cut(call, known)
    return {"Configurations": page, **more}


@operation("kafka", "ListConfigurationRevisions")
def list_configuration_revisions(call: Call) -> dict[str, Any]:
    """List the revisions of a configuration."""
    revisions = [
        _show_revision(each) for each in _find_configuration(call, call.params["Arn"]).revisions
    ]
    page, more = PAGES.cut(call, revisions)
    return {"Revisions": page, **more}


@operation("kafka", "DeleteConfiguration")
def delete_configuration(call: Call) -> dict[str, Any]:
    """Delete a configuration that no cluster uses."""
    kafka, arn = own_state(call), call.params["Arn"]
    configuration = _find_configuration(call, arn)
    for cluster in kafka.clusters.values():
        if cluster.settings["CurrentBrokerSoftwareInfo"].get("ConfigurationArn") == arn:
            raise bad_request(f"The configuration is used by the cluster {cluster.name}")
    del kafka.configurations[arn]
    return {"Arn": configuration.arn, "State": "DELETING"}


def find_revision(call: Call, wanted: dict[str, Any]) -> tuple[list[str], Revision]:
    """Return the Kafka versions and the revision of {Arn, Revision}."""
    configuration, number = _find_configuration(call, wanted["Arn"]), wanted["Revision"]
    if not 0 < number <= len(configuration.revisions):
        raise bad_request(
            f"The configuration has no revision {number}; the latest is "
            f"{len(configuration.revisions)}"
        )
    return configuration.kafka_versions, configuration.revisions[number - 1]


def read_properties(text: bytes) -> dict[str, str]:
    """Parse `name = value` lines.

    Raises:
        AwsError: a line is invalid, or MSK does not allow the property.
    """
    properties = {}
    for line in text.decode().splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        name, separator, value = (part.strip() for part in line.partition("="))
        if not separator:
            raise bad_request(f"The server properties hold {line!r}, which is not name=value")
        if name not in _SETTABLE:
            raise bad_request(f"Amazon MSK does not let the server property {name!r} be set")
        properties[name] = value
    return properties


def _find_configuration(call: Call, arn: str) -> Configuration:
    found = state_of(call.cloud, arn, "configuration").configurations.get(arn)
    if found is None or arn.split(":")[4] != call.account:
        # Not NotFoundException: Terraform's provider waits for this text after a deletion.
        raise bad_request(f"Configuration ARN does not exist: {arn}")
    return found


def _make_revision(call: Call, number: int) -> Revision:
    return Revision(
        number, call.params.get("Description", ""), call.params["ServerProperties"], now()
    )


def _show(configuration: Configuration) -> dict[str, Any]:
    return {
        "Arn": configuration.arn,
        "Name": configuration.name,
        "Description": configuration.description,
        "KafkaVersions": configuration.kafka_versions,
        "State": "ACTIVE",
        "CreationTime": configuration.revisions[0].created_at,
        "LatestRevision": _show_revision(configuration.revisions[-1]),
    }


def _show_revision(revision: Revision) -> dict[str, Any]:
    return {
        "Revision": revision.number,
        "Description": revision.description,
        "CreationTime": revision.created_at,
    }
