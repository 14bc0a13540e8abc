"""The little HTTP server that brokers ask whether an IAM token holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from localcloud.errors import TokenRefusedError
from localcloud.identity import AcceptedToken


@contextmanager
def serve_token_checks(check: Callable[[str], AcceptedToken]) -> Iterator[str]:
    """Answer token checks on a free loopback port while the context lasts; yields the URL.

    What `check` refuses is answered 403 with the reason; see `TokenCheck` in `Broker.java`.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            token = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                accepted = check(token)
            except TokenRefusedError as refusal:
                self._answer(403, str(refusal))
            else:
                expires_ms = int(accepted.expires_at.timestamp() * 1000)
                self._answer(200, f"{accepted.principal}\n{expires_ms}")

        def _answer(self, status: int, text: str) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a token is in no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
