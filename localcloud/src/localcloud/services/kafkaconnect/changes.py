"""Changes of a running connector, each an operation with a state of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.errors import WorkerStartError
from localcloud.services.kafkaconnect.lifecycle import configure
from localcloud.services.kafkaconnect.model import (
    Connector,
    ConnectorOperation,
    KafkaConnect,
    check_current,
    connect_operation,
    cut_page,
    find,
    new_version,
    not_supported,
    now,
)
from localcloud.services.kafkaconnect.requests import check_configuration


@dataclass(frozen=True, slots=True)
class _Change:
    """A kind of change: the verb of its states, and the connector's state before, during, after."""

    kind: str
    verb: str
    during: str
    before: str = "RUNNING"
    after: str = "RUNNING"


_CONFIGURE = _Change("UPDATE_CONNECTOR_CONFIGURATION", "UPDATE", "UPDATING")
_RESIZE = _Change("UPDATE_WORKER_SETTING", "UPDATE", "UPDATING")
_PAUSE = _Change("PAUSE_CONNECTOR", "PAUSE", "PAUSING", after="PAUSED")
_RESUME = _Change("RESUME_CONNECTOR", "RESUME", "RESUMING", before="PAUSED")
_RESTART = _Change("RESTART_CONNECTOR", "RESTART", "RESTARTING")


@connect_operation("UpdateConnector")
def update_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Change the capacity or the settings of the connector."""
    connector = find(state.connectors, call.params["connectorArn"])
    check_current(connector, call.params["currentVersion"])
    if {"plugins", "workerConfiguration", "useDefaultWorkerConfiguration"} & call.params.keys():
        raise not_supported("change of plugins or of the worker configuration of a connector")
    changes: dict[str, Any] = {
        name: call.params[name]
        for name in ("capacity", "connectorConfiguration")
        if name in call.params
    }
    settings = changes.get("connectorConfiguration")
    if settings is not None:
        check_configuration(settings)

    def change() -> None:
        if settings is not None:
            configure(connector, settings)
        connector.settings.update(changes)
        connector.version = new_version()

    made = _begin(connector, _CONFIGURE if settings else _RESIZE, change)
    return {
        "connectorArn": connector.arn,
        "connectorState": connector.state,
        "connectorOperationArn": made.arn,
    }


@connect_operation("PauseConnector")
def pause_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Pause the tasks."""
    return _act(call, state, _PAUSE)


@connect_operation("ResumeConnector")
def resume_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Resume the tasks."""
    return _act(call, state, _RESUME)


@connect_operation("RestartConnector")
def restart_connector(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Restart the connector and its tasks."""
    return _act(call, state, _RESTART)


@connect_operation("ListConnectorOperations")
def list_connector_operations(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """List the operations of a connector, the newest first."""
    connector = find(state.connectors, call.params["connectorArn"])
    page, more = cut_page(call, connector.operations[::-1], lambda each: each.arn)
    return {"connectorOperations": [_show_operation(each) for each in page], **more}


@connect_operation("DescribeConnectorOperation")
def describe_connector_operation(call: Call, state: KafkaConnect) -> dict[str, Any]:
    """Describe an operation of a connector."""
    arn = call.params["connectorOperationArn"]
    known = {each.arn: (c, each) for c in state.connectors.values() for each in c.operations}
    connector, found = find(known, arn)
    return {"connectorArn": connector.arn, **_show_operation(found)}


def _act(call: Call, state: KafkaConnect, change: _Change) -> dict[str, Any]:
    connector = find(state.connectors, call.params["connectorArn"])

    def act() -> None:
        if connector.worker is None:
            raise WorkerStartError("the connector has no worker")
        connector.worker.act(connector.name, change.verb.lower())

    made = _begin(connector, change, act)
    return {"connectorArn": connector.arn, "connectorOperationArn": made.arn}


def _begin(connector: Connector, change: _Change, act: Callable[[], None]) -> ConnectorOperation:
    """Make a change in the background; one that fails leaves the connector as it was."""
    if connector.state != change.before:
        said = f"The connector is {connector.state}; it must be {change.before}"
        raise AwsError("ConflictException", said)
    number = len(connector.operations) + 1
    arn = f"{connector.arn.replace(':connector/', ':connector-operation/')}/{number}"
    made = ConnectorOperation(arn, change.kind, f"{change.verb}_IN_PROGRESS")
    connector.operations.append(made)
    connector.state = change.during

    def run() -> None:
        with connector.lock:
            try:
                act()
            except WorkerStartError as error:
                connector.reason = str(error)
                connector.state, made.state = change.before, f"{change.verb}_FAILED"
            else:
                connector.reason = ""
                connector.state, made.state = change.after, f"{change.verb}_COMPLETE"
            made.ended = now()

    threading.Thread(target=run, name=f"{change.verb} {connector.name}", daemon=True).start()
    return made


def _show_operation(made: ConnectorOperation) -> dict[str, Any]:
    shown = {
        "connectorOperationArn": made.arn,
        "connectorOperationType": made.kind,
        "connectorOperationState": made.state,
        "creationTime": made.created,
    }
    return shown if made.ended is None else {**shown, "endTime": made.ended}
