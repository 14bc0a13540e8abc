"""DynamoDB on loopback whose every answer is in the test's hands, connections included.

It is S3 too, for the objects that go with rows.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; `sent` is how much of the body goes out before the connection is cut."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    sent: int | None = None


CUT = Reply(sent=-1)


def refusal(code: str, message: str = "told so", status: int = 400, **headers: str) -> Reply:
    """An error as DynamoDB words it."""
    name = f"com.amazonaws.dynamodb.v20120810#{code}"
    body = json.dumps({"__type": name, "message": message}).encode()
    return Reply(status, body, {name.title(): value for name, value in headers.items()})


@dataclass
class DynamoDbApi:
    """Answers from `replies` in their order, then by `otherwise`; keeps what it was asked."""

    replies: list[Reply] = field(default_factory=list)
    otherwise: Callable[[dict[str, Any]], Reply] = lambda _: Reply()
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Message] = field(default_factory=list)
    objects: dict[str, bytes] = field(default_factory=dict)
    connections: int = 0
    endpoint: str = ""

    def next_reply(self, request: dict[str, Any]) -> Reply:
        """Take the next answer."""
        return self.replies.pop(0) if self.replies else self.otherwise(request)


@contextmanager
def serve_dynamodb() -> Iterator[DynamoDbApi]:
    """Serve until the block ends."""
    api = DynamoDbApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            api.connections += 1

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            api.requests.append(request)
            api.headers.append(self.headers)
            reply = api.next_reply(request)
            self.close_connection = reply.sent is not None
            if reply is CUT:
                return
            headers = {
                "x-amz-crc32": str(zlib.crc32(reply.body)),
                "Content-Length": str(len(reply.body)),
            } | reply.headers
            self.send_response_only(reply.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body[: reply.sent])

        def do_PUT(self) -> None:
            api.objects[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response_only(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Keep test output clean."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64  # or who comes beyond 5 at once waits for a second or three

    with Server(("127.0.0.1", 0), Handler) as server:
        api.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()
