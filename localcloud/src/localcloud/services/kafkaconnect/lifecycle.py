"""The life of a connector: its worker, its network and role, and its states."""

from __future__ import annotations

import logging
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.errors import JobFailedError, LocalcloudError, WorkerStartError
from localcloud.jobs import Place, driver_variables, take_role
from localcloud.metrics import Metric, gauge
from localcloud.network.loopback import LoopbackAddresses
from localcloud.services.kafkaconnect.log_delivery import LogDelivery
from localcloud.services.kafkaconnect.model import Connector, CustomPlugin, KafkaConnect
from localcloud.services.kafkaconnect.worker import ConnectWorker, WorkerSpec

_log = logging.getLogger(__name__)
_SERVICE = "kafkaconnect.amazonaws.com"
_REST_PORT = 8083
_WATCH_SECONDS = 0.5
# As connectors of users ended: assumption `connect-failures`.
_INVALID = "InvalidInput.InvalidConnectorConfiguration"
_UNKNOWN = "UnknownError.UnknownError"
_NO_REASON = "The last operation failed. Retry the operation."
_IAM = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "AWS_MSK_IAM",
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
    "sasl.client.callback.handler.class": ("software.amazon.msk.auth.iam.IAMClientCallbackHandler"),
}


class _Addresses(LoopbackAddresses):
    """The addresses of the workers' REST interfaces, which no VPC sees."""


def begin_connector(cloud: Cloud, connector: Connector) -> None:
    """Start the worker in the background: CREATING, then RUNNING or FAILED; and watch it."""
    if not cloud.states(_Addresses):
        cloud.on_stop(cloud.state(_Addresses).close)
    cloud.on_stop(lambda: end_connector(cloud, connector))
    name = f"connector {connector.name}"
    threading.Thread(target=_live, args=(cloud, connector), name=name, daemon=True).start()


def end_connector(cloud: Cloud, connector: Connector) -> None:
    """End the worker and remove what it has on this machine, once."""
    connector.ended.set()
    with connector.lock:
        if connector.worker is not None:
            connector.worker.stop()
            cloud.state(_Addresses).give_back(connector.worker.address)
            connector.worker = None
            shutil.rmtree(_home(cloud, connector), ignore_errors=True)


def configure(connector: Connector, settings: dict[str, str]) -> None:
    """Give the worker the settings of the connector, and wait until its tasks run.

    Raises:
        WorkerStartError: Kafka Connect refuses the settings, or a task failed.
    """
    worker = connector.worker
    if worker is None:
        raise WorkerStartError("the connector has no worker")
    if not worker.running:  # it was killed a moment ago
        worker.start()
    worker.put_connector(connector.name, settings)
    worker.await_tasks(connector.name)


def _live(cloud: Cloud, connector: Connector) -> None:
    try:
        delivery = _create(cloud, connector)
    except Exception as error:
        _fail(connector, error)
        return
    while not connector.ended.wait(_WATCH_SECONDS):
        delivery.deliver()
        with connector.lock:
            worker = connector.worker
            if worker is not None and not worker.running and not connector.ended.is_set():
                worker.start()  # MSK Connect replaces a worker that ends


def _create(cloud: Cloud, connector: Connector) -> LogDelivery:
    home = _home(cloud, connector)
    home.mkdir(parents=True)
    worker = ConnectWorker(home, _make_spec(cloud, connector, home))
    delivery = LogDelivery(connector, worker.log)
    with connector.lock:
        if connector.ended.is_set():
            return delivery
        connector.worker = worker
        try:
            worker.start()
            configure(connector, connector.settings["connectorConfiguration"])
        finally:
            delivery.deliver()
        connector.state = "RUNNING"
    return delivery


def _fail(connector: Connector, error: Exception) -> None:
    """End as FAILED, with AWS's words for the caller, and the reason in localcloud's status."""
    if not isinstance(error, LocalcloudError):  # a bug of ours: it must be visible
        _log.exception("connector %s failed", connector.name, exc_info=error)
    with connector.lock:
        if connector.worker is not None:
            connector.worker.kill()
            connector.worker = None
        connector.reason = str(error)
        said = str(error)
        connector.failure = (
            (_INVALID, f"The connector configuration is invalid. Message: {said}")
            if said.startswith("Connector configuration is invalid")
            else (_UNKNOWN, said if isinstance(error, JobFailedError) else _NO_REASON)
        )
        connector.state = "FAILED"


def _make_spec(cloud: Cloud, connector: Connector, home: Path) -> WorkerSpec:
    asked = connector.settings
    cluster = asked["kafkaCluster"]["apacheKafkaCluster"]
    place = Place(
        asked["serviceExecutionRoleArn"],
        _SERVICE,
        "MSK Connect",
        tuple(cluster["vpc"]["subnets"]),
        tuple(cluster["vpc"].get("securityGroups", ())),
        trust_context={"aws:SourceArn": connector.arn},
    )
    key = take_role(cloud, place, connector.name)
    state = cloud.state(KafkaConnect, connector.account, connector.region)
    plugins = home / "plugins"
    for each in asked["plugins"]:
        plugin = state.plugins[each["customPlugin"]["customPluginArn"]]
        _unpack(plugin, plugins / plugin.name)
    configuration = asked.get("workerConfiguration")
    return WorkerSpec(
        connector=connector.id,
        client={"bootstrap.servers": cluster["bootstrapServers"], **_read_login(asked)},
        settings=(
            state.configurations[configuration["workerConfigurationArn"]].properties
            if configuration
            else {}
        ),
        plugins=plugins,
        address=cloud.state(_Addresses).take(),
        port=_REST_PORT,
        # No region: MSK Connect gives its workers none (assumption `connect-region`).
        variables=driver_variables(cloud, place, key, home),
    )


def _read_login(asked: dict[str, Any]) -> dict[str, str]:
    if asked["kafkaClusterClientAuthentication"]["authenticationType"] == "IAM":
        return _IAM
    transit = asked["kafkaClusterEncryptionInTransit"]["encryptionType"]
    return {"security.protocol": {"TLS": "SSL", "PLAINTEXT": "PLAINTEXT"}[transit]}


def _unpack(plugin: CustomPlugin, folder: Path) -> None:
    folder.mkdir(parents=True)
    if plugin.asked["contentType"] == "ZIP":
        with zipfile.ZipFile(plugin.file) as archive:
            archive.extractall(folder)
    else:
        shutil.copy(plugin.file, folder)


def _home(cloud: Cloud, connector: Connector) -> Path:
    return cloud.folder.resolve() / "kafkaconnect" / connector.id


@action("kill-connect-worker")
def kill_connect_worker(cloud: Cloud, *, connector: str) -> dict[str, Any]:
    """Kill the worker of a connector; it is replaced, as on MSK Connect."""
    found = [each for each in _list_all(cloud) if connector in {each.name, each.arn}]
    workers = [worker for each in found if (worker := each.worker) is not None]
    if len(workers) != 1:
        raise LookupError(f"{len(workers)} running connectors are named {connector!r}")
    workers[0].kill()
    return {"killed": connector}


@describe("connectors")
def describe_connectors(cloud: Cloud) -> list[dict[str, Any]]:
    """List the connectors with their workers."""
    return [
        {
            "name": each.name,
            "arn": each.arn,
            "state": each.state,
            **({"reason": each.reason} if each.reason else {}),
            **({"pid": worker.pid, "log": str(worker.log)} if worker is not None else {}),
        }
        for each in _list_all(cloud)
        for worker in [each.worker]
    ]


@gauge
def measure_connectors(cloud: Cloud) -> Iterator[tuple[Metric, float]]:
    """Yield how many tasks and workers of a connector run, as MSK Connect reports them."""
    for each in _list_all(cloud):
        worker = each.worker
        if worker is None:
            continue
        status = worker.describe_connector(each.name) or {"tasks": []}
        states = [task["state"] for task in status["tasks"]]
        for name, value in (
            ("RunningTaskCount", states.count("RUNNING")),
            ("ErroredTaskCount", states.count("FAILED")),
            ("WorkerCount", int(worker.running)),
        ):
            names = {"ConnectorName": each.name}
            yield Metric(each.account, each.region, "AWS/KafkaConnect", name, names), value


def _list_all(cloud: Cloud) -> list[Connector]:
    return [
        connector
        for _, _, state in cloud.states(KafkaConnect)
        for connector in list(state.connectors.values())
    ]
