"""A broker, and a registry with one schema, for the rungs that measure producers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import boto3

from localcloud.door.server import start_server
from penstock.registry import load_registry
from systems.accounts import REGION, environ_of
from systems.brokers import running_broker

TOPIC: Final = "bench"
URL: Final = f"glue://bench?region={REGION}"


@contextmanager
def running_world(schema: dict[str, Any]) -> Iterator[tuple[Path, dict[str, str]]]:
    """Let this process work in an account, and yield a folder and the settings of a producer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = start_server(folder / "cloud", 0)
        account = patch.dict(os.environ, environ_of(server.cloud.endpoint))
        try:
            with account, running_broker(folder / "broker") as servers:
                boto3.client("glue").create_registry(RegistryName="bench")
                load_registry(URL).register("sensor", schema)
                yield (
                    folder,
                    {
                        "KAFKA_BOOTSTRAP_SERVERS": servers,
                        "KAFKA_SECURITY": "plaintext",
                        "PENSTOCK_REGISTRY": URL,
                        "PENSTOCK_TOPIC": TOPIC,
                    },
                )
        finally:
            server.stop()
