"""The HTTP server that brokers ask about IAM: is this login valid, is this action allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import TypeAlias

from localcloud.door.web_pages import LocalHandler
from localcloud.errors import TokenRefusedError
from localcloud.identity import AcceptedToken

_May: TypeAlias = Callable[[str, str, str, str], bool]


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # brokers ask by many threads; beyond the queue, one waits a second


@contextmanager
def serve_token_checks(
    check: Callable[[str], AcceptedToken],
    *,
    check_payload: Callable[[str], AcceptedToken] | None = None,
    may: _May | None = None,
) -> Iterator[str]:
    """Answer the brokers' questions on a free loopback port and yield the URL.

    `check` is for OAUTHBEARER and `check_payload` for AWS_MSK_IAM, which is refused without it.
    `may` decides by principal, operation, resource type and name; without it everything is allowed.
    A refusal is answered with 403 and the reason; see `Verdict` in `Broker.java`.
    """

    server = _Server(
        ("127.0.0.1", 0),
        _make_handler(
            {
                "/token": lambda token: _describe_token(check(token)),
                "/payload": lambda payload: _describe_token((check_payload or _refuse)(payload)),
                "/access": lambda question: _decide(may, *question.split("\n")),
            }
        ),
    )
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _make_handler(answers: Mapping[str, Callable[[str], str]]) -> type[LocalHandler]:
    class Handler(LocalHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(int(self.headers["Content-Length"])).decode()
            try:
                self._answer(200, answers[self.path](question))
            except TokenRefusedError as refusal:
                self._answer(403, str(refusal))

        def _answer(self, status: int, text: str) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

    return Handler


def _describe_token(accepted: AcceptedToken) -> str:
    return f"{accepted.principal}\n{int(accepted.expires_at.timestamp() * 1000)}"


def _refuse(payload: str) -> AcceptedToken:
    raise TokenRefusedError("this cluster has no AWS_MSK_IAM login")


def _decide(may: _May | None, principal: str, operation: str, kind: str, name: str) -> str:
    if may is not None and not may(principal, operation, kind, name):
        raise TokenRefusedError(f"{principal} may not {operation} {kind} {name}")
    return "allowed"
