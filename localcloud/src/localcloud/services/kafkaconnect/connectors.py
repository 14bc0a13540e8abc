"""Connectors: create, describe, list, delete."""

from __future__ import annotations

import threading
from typing import Any

from localcloud.door.operations import Call
from localcloud.services.kafkaconnect.lifecycle import begin_connector, end_connector
from localcloud.services.kafkaconnect.model import (
    Connector,
    KafkaConnect,
    check_current,
    check_new,
    connect_operation,
    cut_page,
    find,
    make_arn,
)
from localcloud.services.kafkaconnect.requests import check_connector

_SHOWN = (
    "capacity",
    "kafkaCluster",
    "kafkaClusterClientAuthentication",
    "kafkaClusterEncryptionInTransit",
    "kafkaConnectVersion",
    "logDelivery",
    "plugins",
    "serviceExecutionRoleArn",
    "workerConfiguration",
)


@connect_operation("CreateConnector")
def create_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Start a worker with the connector."""
    name = call.params["connectorName"]
    check_new([each.name for each in state.connectors.values()], name, "connector")
    check_connector(call, state)
    arn = make_arn(call, "connector", name)
    connector = Connector(arn, name, dict(call.params), call.params.get("tags", {}))
    state.connectors[arn] = connector
    begin_connector(call.cloud, connector)
    return {"connectorArn": arn, "connectorName": name, "connectorState": "CREATING"}


@connect_operation("DescribeConnector")
def describe_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Describe a connector, with what failed."""
    connector = find(state.connectors, call.params["connectorArn"])
    shown = {
        **_sum_up(connector),
        "connectorConfiguration": connector.settings["connectorConfiguration"],
    }
    if connector.failure is not None:
        code, message = connector.failure
        shown["stateDescription"] = {"code": code, "message": message}
    return shown


@connect_operation("ListConnectors")
def list_connectors(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """List the connectors, by a prefix of their names."""
    page, more = cut_page(call, list(state.connectors.values()), lambda each: each.name)
    return {"connectors": [_sum_up(each) for each in page], **more}


@connect_operation("DeleteConnector")
def delete_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """End the worker; its topics stay, and so does what its connector has in a database."""
    connector = find(state.connectors, call.params["connectorArn"])
    check_current(connector, call.params.get("currentVersion", connector.version))
    connector.state = "DELETING"

    def delete() -> None:
        end_connector(call.cloud, connector)
        with state.lock:
            state.connectors.pop(connector.arn, None)

    threading.Thread(target=delete, name=f"delete {connector.name}", daemon=True).start()
    return {"connectorArn": connector.arn, "connectorState": "DELETING"}


def _sum_up(connector: Connector) -> dict[str, Any]:
    shown = {name: connector.settings[name] for name in _SHOWN if name in connector.settings}
    return {
        **shown,
        "connectorArn": connector.arn,
        "connectorDescription": connector.settings.get("connectorDescription", ""),
        "connectorName": connector.name,
        "connectorState": connector.state,
        "creationTime": connector.created,
        "currentVersion": connector.version,
        "networkType": "IPV4",
    }
