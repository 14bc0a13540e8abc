"""The HTTP server in front of the gateway."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from werkzeug.serving import BaseWSGIServer

import localcloud.jobs.places  # noqa: F401 - its action too
import localcloud.network.actions  # noqa: F401 - its actions too
import localcloud.registry  # noqa: F401 - its action too
from localcloud.cloud import Cloud
from localcloud.door.call_log import CallLog
from localcloud.door.control import ControlDoor
from localcloud.door.gateway import Gateway
from localcloud.door.http_server import serve
from localcloud.door.services import list_services
from localcloud.faults import Faults
from localcloud.moto_repairs import repair_moto
from localcloud.network import VpcBorder

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Server:
    """A localcloud that listens on a loopback port of this process."""

    cloud: Cloud
    _log: CallLog
    _http: BaseWSGIServer

    def stop(self) -> None:
        """Accept no more calls and end everything that was started."""
        self._http.shutdown()
        self._http.server_close()
        self.cloud.state(Faults).clear()
        self.cloud.stop()
        self._log.close()


def start_server(folder: Path, port: int) -> Server:
    """Start a server on a loopback port (0 takes a free one)."""
    repair_moto()
    list_services()  # each descriptor is read at the start
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    cloud = Cloud(endpoint="", folder=folder)
    log = CallLog(folder / "calls.jsonl")
    gateway = Gateway(cloud, log, ControlDoor(cloud))
    door = VpcBorder(cloud, gateway)
    http = serve(_LOOPBACK, port, door)
    cloud.endpoint = f"http://{_LOOPBACK}:{http.port}"
    return Server(cloud, log, http)
