"""Workers of Kafka Connect with Iceberg's sink: their settings, and their REST API."""

from __future__ import annotations

import json
import socket
import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

from systems.jars import find_plugins
from systems.place import Place

LETTERS: Final = "-dead-letters"
_START_SECONDS: Final = 600
_COMMIT_MS: Final = 5_000


def await_worker(url: str, has_ended: Callable[[], bool]) -> None:
    """Wait until a worker answers.

    Raises:
        TimeoutError: it has ended, or does not answer.
    """
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            ask_worker("GET", f"{url}/connectors")
            return
        except OSError as error:
            if has_ended() or time.monotonic() > until:
                raise TimeoutError(f"no worker answers at {url}") from error
            time.sleep(1)


def ask_worker(method: str, url: str, body: Mapping[str, str] | None = None) -> Any:
    """Ask a worker by its REST API."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
            return json.loads(text) if text else None
        except HTTPError as error:  # a status that is not there yet
            if error.code not in {404, 409} or time.monotonic() > until:
                raise
            time.sleep(1)


def find_failure(status: Mapping[str, Any]) -> str:
    """Return the error of the first part of a connector that has failed, or nothing."""
    parts = (status["connector"], *status["tasks"])
    return next((_last_cause(each["trace"]) for each in parts if each["state"] == "FAILED"), "")


def worker_settings(place: Place, folder: Path, port: int) -> dict[str, str]:
    """Return the settings of a standalone worker."""
    return {
        "bootstrap.servers": place.servers,
        "plugin.path": str(find_plugins(folder)),
        "listeners": f"http://127.0.0.1:{port}",
        "offset.storage.file.filename": str(folder / "offsets"),
        "offset.flush.interval.ms": str(_COMMIT_MS),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "io.apicurio.registry.utils.converter.AvroConverter",
        "value.converter.apicurio.registry.url": f"http://{place.registry}/apis/registry/v2",
        "value.converter.apicurio.registry.headers.enabled": "false",
    }


def connector_settings(place: Place, folder: Path, change: str) -> dict[str, str]:
    """Return the settings of the sink from a topic to a table of a folder."""
    return {
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "tasks.max": "1",
        "topics": change,
        "consumer.override.auto.offset.reset": "earliest",
        "iceberg.tables": f"proof.{change.replace('-', '_')}",
        "iceberg.tables.auto-create-enabled": "true",
        "iceberg.tables.evolve-schema-enabled": "true",
        "iceberg.tables.schema-force-optional": "true",
        "iceberg.control.topic": f"{change}-control",
        "iceberg.control.commit.interval-ms": str(_COMMIT_MS),
        "iceberg.catalog.type": "hadoop",
        "iceberg.catalog.warehouse": str(folder / "lake"),
        "errors.retry.timeout": "60000",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{change}{LETTERS}",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def _last_cause(trace: str) -> str:
    causes = [line for line in trace.splitlines() if line.startswith("Caused by: ")]
    return (causes or trace.splitlines())[-1].removeprefix("Caused by: ")[:300]


def find_port() -> int:
    """Return a free port of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
