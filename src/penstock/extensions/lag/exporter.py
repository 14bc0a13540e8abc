"""A small exporter for Prometheus: each scrape reads the lags anew."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from penstock.errors import PenstockError
from penstock.extensions.lag.report import format_metrics
from penstock.kafka import GroupLag

_log = logging.getLogger(__name__)
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def serve_lags(address: tuple[str, int], read: Callable[[], Sequence[GroupLag]]) -> None:
    """Answer Prometheus until ctrl-C."""
    with make_exporter(address, read) as server:
        host, port = server.server_address[:2]
        print(f"lags at http://{host!s}:{port}/metrics", flush=True)
        server.serve_forever()


def make_exporter(
    address: tuple[str, int], read: Callable[[], Sequence[GroupLag]]
) -> ThreadingHTTPServer:
    """Return a server that answers /metrics, with 503 while Kafka does not answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = _answer(self.path, read)
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", _TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            _log.debug(format, *args)

    return ThreadingHTTPServer(address, Handler)


def _answer(path: str, read: Callable[[], Sequence[GroupLag]]) -> tuple[HTTPStatus, str]:
    if path != "/metrics":
        return HTTPStatus.NOT_FOUND, "the lags are at /metrics\n"
    try:
        return HTTPStatus.OK, "".join(f"{line}\n" for line in format_metrics(read()))
    except PenstockError as error:
        return HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n"
