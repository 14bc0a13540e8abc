"""The HTTP server: connections stay open, and only complete requests are handled.

Werkzeug's own handler closes the connection after each answer and waits 10 ms for more input; an
SDK then reconnects for every call, and retries one whose answer was lost on the way.
"""

from __future__ import annotations

import io
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer

from localcloud.door.web_pages import find_objection
from localcloud.errors import AddressInUseError

Wsgi: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_log = logging.getLogger(__name__)
_PLAIN_TEXT = [("Content-Type", "text/plain")]
_FAILED = ("500 Internal Server Error", _PLAIN_TEXT, b"localcloud failed\n")
_BACKLOG = 256
_IDLE_SECONDS = 120  # longer than SDKs keep an unused connection


class CutConnectionError(Exception):
    """Raised by an application to close the connection without an answer."""


def serve(host: str, port: int, application: Wsgi) -> BaseWSGIServer:
    """Serve on a port (0 takes a free one) with one thread per connection.

    Raises:
        AddressInUseError: another program listens there.
    """
    try:
        listener = socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise AddressInUseError(
            f"port {port} of {host} cannot be used ({reason}): choose another with --port "
            "or the variable LOCALCLOUD_PORT"
        ) from error
    with listener:  # the server duplicates the descriptor
        server = _Server(host, port, application, handler=_Handler, fd=listener.fileno())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class _Server(ThreadedWSGIServer):
    block_on_close = False  # an idle connection must not delay the end

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print no stack trace when a client disconnects; other errors are answered."""


class _Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body of an answer in one packet

    def handle_expect_100(self) -> bool:
        """Send 100-continue at once: SDKs wait a second for it."""
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def run_wsgi(self) -> None:
        """Read one request, refuse it if a web page sent it, otherwise answer it."""
        environ = self.make_environ()
        body = self._read_body(environ)
        if body is None:  # incomplete: a cut-off request has no effect
            self.close_connection = True
            return
        if objection := find_objection(self.headers):
            self._send("403 Forbidden", _PLAIN_TEXT, f"{objection}\n".encode())
            return
        environ["wsgi.input"] = io.BytesIO(body)
        environ["wsgi.input_terminated"] = True  # the body is whole: nothing must count its bytes
        environ["CONTENT_LENGTH"] = str(len(body))
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        try:
            status, headers, answer = _call(self.server.app, environ)
        except CutConnectionError:
            self._cut()
            return
        except Exception:
            _log.exception("%s %s failed", self.command, self.path)
            status, headers, answer = _FAILED
        self._send(status, headers, answer)

    def _read_body(self, environ: dict[str, Any]) -> bytes | None:
        if environ.get("wsgi.input_terminated"):
            try:
                return bytes(environ["wsgi.input"].read())
            except OSError:
                return None
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = self.rfile.read(length) if length else b""
        return body if len(body) == length else None

    def _send(self, status: str, headers: list[tuple[str, str]], answer: bytes) -> None:
        code, _, phrase = status.partition(" ")
        self.send_response(int(code), phrase)
        for name, value in headers:
            if name.lower() not in {"connection", "content-length", "transfer-encoding"}:
                self.send_header(name, value)
        chunked = ("Transfer-Encoding", "chunked") in headers
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
            answer = b"".join(b"%x\r\n%b\r\n" % (len(it), it) for it in _chunks(answer))
        else:
            self.send_header("Content-Length", self._length(headers, answer))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)
        self.wfile.flush()

    def _length(self, headers: list[tuple[str, str]], answer: bytes) -> str:
        """Return the length of the answer; for HEAD, that of the omitted body."""
        told = next((value for name, value in headers if name.lower() == "content-length"), None)
        return told if told is not None and self.command == "HEAD" else str(len(answer))

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_error(self, format: str, *args: object) -> None:
        """Log nothing about a connection that was idle for too long: SDKs leave theirs open."""
        if not any(isinstance(arg, TimeoutError) for arg in args):
            super().log_error(format, *args)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing here: there is a call log."""


def _chunks(answer: bytes) -> Iterator[bytes]:
    """Yield an answer in two halves, and the empty chunk that ends it."""
    half = len(answer) // 2
    yield from filter(None, (answer[:half], answer[half:]))
    yield b""


def _call(application: Wsgi, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
    head: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> None:
        head[:] = [status, headers]

    body = b"".join(application(environ, start_response))
    return head[0], head[1], body
