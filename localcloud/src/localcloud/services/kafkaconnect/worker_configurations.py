"""Worker configurations: properties of workers, some of which MSK Connect keeps to itself."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from localcloud.door.operations import Call
from localcloud.services.kafkaconnect.model import (
    KafkaConnect,
    WorkerConfiguration,
    bad_request,
    check_new,
    connect_operation,
    cut_page,
    find,
    make_arn,
)

# MSK Developer Guide, "Supported worker configuration properties".
_NOT_ALLOWED = (
    *("access.control.", "admin.", "client.", "connect.", "inter.worker.", "internal."),
    *(
        "listeners.",
        "metrics.",
        "rest.",
        "sasl.",
        "security.",
        "socket.",
        "ssl.",
        "topic.tracking.",
    ),
    *(
        "worker.",
        "bootstrap.servers",
        "config.storage.",
        "group.id",
        "plugin.path",
        "status.storage.",
    ),
)
_CLIENTS = ("producer.", "consumer.")
_OF_CLIENTS = frozenset(
    [
        f"producer.{name}"
        for name in (
            *("acks", "batch.size", "buffer.memory", "compression.type", "enable.idempotence"),
            *("key.serializer", "linger.ms", "max.request.size", "metadata.max.age.ms"),
            *("metadata.max.idle.ms", "partitioner.class", "reconnect.backoff.max.ms"),
            *("reconnect.backoff.ms", "request.timeout.ms", "retry.backoff.ms", "value.serializer"),
        )
    ]
    + [
        f"consumer.{name}"
        for name in (
            *("allow.auto.create.topics", "auto.offset.reset", "check.crcs", "fetch.max.bytes"),
            *("fetch.max.wait.ms", "fetch.min.bytes", "heartbeat.interval.ms", "key.deserializer"),
            *("max.partition.fetch.bytes", "max.poll.interval.ms", "max.poll.records"),
            *("metadata.max.age.ms", "partition.assignment.strategy", "reconnect.backoff.max.ms"),
            *("reconnect.backoff.ms", "request.timeout.ms", "retry.backoff.ms"),
            *("session.timeout.ms", "value.deserializer"),
        )
    ]
)
_REQUIRED = ("key.converter", "value.converter")


@connect_operation("CreateWorkerConfiguration")
def create_worker_configuration(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Check the properties and keep them."""
    params = call.params
    known = [each.name for each in state.configurations.values()]
    check_new(known, params["name"], "worker configuration")
    arn = make_arn(call, "worker-configuration", params["name"])
    content = params["propertiesFileContent"]
    made = WorkerConfiguration(
        arn=arn,
        name=params["name"],
        description=params.get("description", ""),
        content=content,
        properties=_read_properties(content),
        tags=params.get("tags", {}),
    )
    state.configurations[arn] = made
    shown = _show(made)
    del shown["description"]
    return shown


@connect_operation("DescribeWorkerConfiguration")
def describe_worker_configuration(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Describe a worker configuration with its properties."""
    found = find(state.configurations, call.params["workerConfigurationArn"])
    shown = _show(found)
    shown["latestRevision"]["propertiesFileContent"] = found.content
    return shown


@connect_operation("ListWorkerConfigurations")
def list_worker_configurations(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """List the worker configurations, by a prefix of their names."""
    page, more = cut_page(call, list(state.configurations.values()), lambda each: each.name)
    return {"workerConfigurations": [_show(each) for each in page], **more}


@connect_operation("DeleteWorkerConfiguration")
def delete_worker_configuration(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Delete a worker configuration that no connector has."""
    found = find(state.configurations, call.params["workerConfigurationArn"])
    for connector in state.connectors.values():
        used = connector.settings.get("workerConfiguration", {})
        if used.get("workerConfigurationArn") == found.arn:
            raise bad_request(f"The worker configuration is used by {connector.arn}")
    del state.configurations[found.arn]
    return {"workerConfigurationArn": found.arn, "workerConfigurationState": "DELETING"}


def _read_properties(content: str) -> dict[str, str]:
    """Return the properties of a file in Base64."""
    try:
        text = base64.b64decode(content, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise bad_request("propertiesFileContent is not a text in Base64") from error
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    properties = {name.strip(): value.strip() for name, _, value in pairs}
    if missing := [name for name in _REQUIRED if name not in properties]:
        raise bad_request(f"The worker configuration lacks {' and '.join(missing)}")
    if refused := [name for name in properties if _is_refused(name)]:
        raise bad_request(f"The worker configuration has unsupported properties: {refused}")
    return properties


def _is_refused(name: str) -> bool:
    if name.startswith(_CLIENTS):
        return name not in _OF_CLIENTS
    return name.startswith(_NOT_ALLOWED)


def _show(made: WorkerConfiguration) -> dict[str, Any]:
    return {
        "creationTime": made.created,
        "description": made.description,
        "name": made.name,
        "workerConfigurationArn": made.arn,
        "workerConfigurationState": "ACTIVE",
        "latestRevision": {
            "creationTime": made.created,
            "description": made.description,
            "revision": 1,
        },
    }
