"""The HTTP server in front of the gateway."""

from __future__ import annotations

import threading
from pathlib import Path

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import BaseWSGIServer, make_server

from localcloud.call_log import CallLog
from localcloud.cloud import Cloud
from localcloud.faults import Faults
from localcloud.gateway import Gateway

_LOOPBACK = "127.0.0.1"


def start_server(folder: Path, port: int) -> tuple[Cloud, BaseWSGIServer]:
    """Answer on a loopback port (0 takes a free one) until the server is shut down."""
    folder.mkdir(parents=True, exist_ok=True)
    cloud = Cloud(endpoint="", folder=folder)
    gateway = Gateway(cloud, CallLog(folder / "calls.jsonl"), Faults(), lambda *_: [])
    server = make_server(
        _LOOPBACK, port, gateway, threaded=True, request_handler=MotoRequestHandler
    )
    cloud.endpoint = f"http://{_LOOPBACK}:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return cloud, server
