"""A web server that answers as a test says, in place of a registry."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from penstock.registry import ConfluentRegistry, HttpRegistrySettings


@dataclass
class FakeServer:
    """Answers by method and path: a JSON value, or (status, text), or the next of a list of them.

    What is not there is not found, as Confluent says it. None cuts the connection, and `cut` each
    body after that many bytes.
    """

    host: str
    answers: dict[str, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    hold: threading.Event | None = None
    cut: int | None = None
    drip: Callable[[float], None] | None = None

    def find(self, call: str) -> tuple[int, str] | None:
        self.calls.append(call)
        found = self.answers.get(call, (404, '{"error_code": 40403, "message": "none."}'))
        if isinstance(found, list) and found and isinstance(found[0], tuple | None):
            found = found.pop(0) if len(found) > 1 else found[0]
        return found if isinstance(found, tuple | None) else (200, json.dumps(found))

    def put(self, subject: str, number: int, id_: int, schema: Any, **more: Any) -> None:
        """Let the server have a version."""
        version = {"id": id_, "subject": subject, "version": number, "schema": json.dumps(schema)}
        self.answers[f"GET /subjects/{subject}/versions/{number}"] = version | more
        self.answers[f"GET /subjects/{subject}/versions/{number}?deleted=true"] = version | more
        places = self.answers.setdefault(f"GET /schemas/ids/{id_}/versions?deleted=true", [])
        places.append({"subject": subject, "version": number})
        self.answers.setdefault(f"GET /subjects/{subject}/versions", []).append(number)


def serve(context: ssl.SSLContext | None = None) -> Iterator[FakeServer]:
    """Serve until the generator is closed."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # or the body would wait for the acknowledgement of the headers

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fake.authorizations.append(self.headers.get("Authorization"))
            answer = fake.find(f"{self.command} {self.path}")
            if fake.hold is not None:
                fake.hold.wait(30)
            if answer is None:
                self.close_connection = True
                return
            status, text = answer
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            data = text.encode()[: fake.cut]
            size = 1 if fake.drip else len(data) or 1
            for start in range(0, len(data), size):
                self.wfile.write(data[start : start + size])
                if fake.drip is not None:
                    self.wfile.flush()
                    fake.drip(1)
            self.close_connection = fake.cut is not None

        do_POST = do_PUT = do_GET

        def log_message(self, *args: object) -> None:
            """Log no requests."""

    class Server(ThreadingHTTPServer):
        def get_request(self) -> Any:
            connection, address = super().get_request()
            if context is not None:
                connection = context.wrap_socket(
                    connection, server_side=True, do_handshake_on_connect=False
                )
            return connection, address

        def handle_error(self, *_: object) -> None:
            """Print no traceback when a client gives up, as the tests make clients do."""

    with Server(("127.0.0.1", 0), Handler) as server:
        fake = FakeServer(f"127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield fake
        if fake.hold is not None:
            fake.hold.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    yield from serve()


@pytest.fixture
def build(server: FakeServer, attempts: Callable[..., Any]) -> Callable[..., ConfluentRegistry]:
    def build_registry(**settings: Any) -> ConfluentRegistry:
        given = HttpRegistrySettings("confluent+http", server.host, **settings)
        return ConfluentRegistry(given, attempts=attempts())

    return build_registry


@pytest.fixture
def registry(build: Callable[..., ConfluentRegistry]) -> ConfluentRegistry:
    return build()


__all__ = ["FakeServer", "serve"]
