"""The Runtime API for the processes of functions, one port for each.

The port identifies the process: AWS's client takes an address without a path.

    GET  /2018-06-01/runtime/invocation/next            blocks; the first one means "ready"
    POST /2018-06-01/runtime/invocation/<id>/response   202
    POST /2018-06-01/runtime/invocation/<id>/error      202
    POST /2018-06-01/runtime/init/error                 202, then the process ends
    GET  /2018-06-01/runtime/restore/next               blocks until a snapshot is restored
    POST /2018-06-01/runtime/restore/error              202, then the process ends
    GET  /credentials                                   the role's, for a process with SnapStart
"""

from __future__ import annotations

import json
import queue
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from http.server import ThreadingHTTPServer
from typing import Any, TypeAlias

from localcloud.door.web_pages import LocalHandler

_OK = 200
_ACCEPTED = 202
_FORBIDDEN = 403
_GONE = 410
CREDENTIALS_PATH = "/credentials"


# Returns new keys of the role, for before or after the restore of a snapshot.
LoadKeys: TypeAlias = Callable[[bool], Mapping[str, str]]


class ReportKind(Enum):
    """The kinds of reports about a function's process."""

    READY = auto()
    INITIALIZED = auto()  # waits to be restored
    RESPONSE = auto()
    ERROR = auto()
    INIT_ERROR = auto()
    RESTORE_ERROR = auto()
    EXITED = auto()


@dataclass(frozen=True, slots=True)
class Report:
    """A report of the process, or its end; only answers have a `request_id`."""

    kind: ReportKind
    body: bytes = b""
    request_id: str = ""
    return_code: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """An event for the function, with the headers for its context."""

    body: bytes
    headers: dict[str, str]


class RuntimeApi:
    """The server of one process, on a free port: events go in, reports come out, both in order."""

    def __init__(self, load_keys: LoadKeys | None = None) -> None:
        self.token = secrets.token_urlsafe(32)
        self.load_keys = load_keys
        self._restored = threading.Event()
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._ready = False
        self._server = _Server(self)
        self._accepting = threading.Thread(target=self._server.accept, daemon=True)
        self._accepting.start()

    @property
    def address(self) -> str:
        """The host and port for the process."""
        return f"127.0.0.1:{self._server.server_port}"

    def send(self, event: Event) -> None:
        """Queue an event; the process takes it with its next request."""
        self._events.put(event)

    @property
    def is_restored(self) -> bool:
        """True after the process was restored from its snapshot."""
        return self._restored.is_set()

    def credentials_variables(self) -> dict[str, str]:
        """Return the variables by which AWS's SDKs load the role's keys from here."""
        return {
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": self.token,
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://{self.address}{CREDENTIALS_PATH}",
        }

    def restore(self) -> None:
        """Let a process go on that waits to be restored."""
        self._restored.set()

    def wait_restore(self) -> None:
        """Report that the process has initialized, and return when it is restored."""
        self.reports.put(Report(ReportKind.INITIALIZED))
        self._restored.wait()

    def close(self) -> None:
        """Close the port."""
        self._events.put(None)
        self._restored.set()
        self._server.socket.shutdown(socket.SHUT_RDWR)
        # The next socket may get this one's number, and the thread would accept its connections.
        self._accepting.join()
        self._server.server_close()

    def wait_event(self) -> Event | None:
        """Return the next event for the process, None at the end."""
        if not self._ready:
            self._ready = True
            self.reports.put(Report(ReportKind.READY))
        return self._events.get()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: RuntimeApi) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Handler)

    def accept(self) -> None:
        """Serve until the socket is shut down; serve_forever would wake up twice a second."""
        with suppress(OSError):
            while True:
                self.process_request(*self.get_request())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore it: a killed process resets its connection."""


class _Handler(LocalHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    # With Nagle's algorithm an event of some kilobytes waits 40 ms for a delayed acknowledgement.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == CREDENTIALS_PATH:
            return self._answer_keys()
        if self.path.endswith("/restore/next"):
            self.server.api.wait_restore()
            return self._answer(_OK)
        event = self.server.api.wait_event()
        if event is None:
            self.close_connection = True
            self._answer(_GONE)
        else:
            self._answer(_OK, event.body, event.headers)
        return None

    def _answer_keys(self) -> None:
        """Answer as the endpoint of container credentials does, to whoever knows the token."""
        api = self.server.api
        if api.load_keys is None or self.headers.get("Authorization") != api.token:
            return self._answer(_FORBIDDEN)
        headers = {"Content-Type": "application/json"}
        return self._answer(_OK, json.dumps(api.load_keys(api.is_restored)).encode(), headers)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        *_, request_id, what = self.path.split("/")
        kinds = {"response": ReportKind.RESPONSE, "error": ReportKind.ERROR}
        report = Report(kinds[what], body, request_id)
        if request_id == "init":
            report = Report(ReportKind.INIT_ERROR, body)
        if request_id == "restore":
            report = Report(ReportKind.RESTORE_ERROR, body)
        self.server.api.reports.put(report)
        self._answer(_ACCEPTED)

    def _answer(
        self, status: int, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
