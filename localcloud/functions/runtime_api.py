"""The Runtime API: what the process of a function talks to, one port for each.

One port, because a process is known by it: AWS's client takes an address and no path.

    GET  /2018-06-01/runtime/invocation/next            blocks; the first one says "I am ready"
    POST /2018-06-01/runtime/invocation/<id>/response   202
    POST /2018-06-01/runtime/invocation/<id>/error      202
    POST /2018-06-01/runtime/init/error                 202, then the process ends
"""

from __future__ import annotations

import queue
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from localcloud.door.web_pages import find_objection

_OK = 200
_ACCEPTED = 202
_GONE = 410


class ReportKind(Enum):
    """What there is to hear of a function's process."""

    READY = auto()
    RESPONSE = auto()
    ERROR = auto()
    INIT_ERROR = auto()
    EXITED = auto()


@dataclass(frozen=True, slots=True)
class Report:
    """Something that the process said, or that it ended; `request_id` is empty but for answers."""

    kind: ReportKind
    body: bytes = b""
    request_id: str = ""
    return_code: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """An event for the function, with the headers that its context is made of."""

    body: bytes
    headers: dict[str, str]


class RuntimeApi:
    """The server of one process: events go in, reports come out, both in order."""

    def __init__(self) -> None:
        """Listen on a free port."""
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._ready = False
        self._server = _Server(self)
        threading.Thread(target=self._server.accept, daemon=True).start()

    @property
    def address(self) -> str:
        """Where the process finds it."""
        return f"127.0.0.1:{self._server.server_port}"

    def send(self, event: Event) -> None:
        """Hand over an event; the process takes it when it asks for the next one."""
        self._events.put(event)

    def close(self) -> None:
        """Listen no more."""
        self._events.put(None)
        self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.server_close()

    def wait_event(self) -> Event | None:
        """Return the next event for the process, or None at the end."""
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
        """Say nothing: a process that is killed resets its connection."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    # Without it an event of some kilobytes waits 40 ms for a delayed acknowledgement.
    disable_nagle_algorithm = True

    def parse_request(self) -> bool:
        """Read the head of a request, and refuse one that a web page sent."""
        if not super().parse_request():
            return False
        if objection := find_objection(self.headers):
            self.send_error(403, explain=objection)
            return False
        return True

    def do_GET(self) -> None:
        event = self.server.api.wait_event()
        if event is None:
            self.close_connection = True
            self._answer(_GONE)
        else:
            self._answer(_OK, event.body, event.headers)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        *_, request_id, what = self.path.split("/")
        kinds = {"response": ReportKind.RESPONSE, "error": ReportKind.ERROR}
        report = Report(kinds[what], body, request_id)
        if request_id == "init":
            report = Report(ReportKind.INIT_ERROR, body)
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

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the function's own log is what counts."""
