"""Servers that stand for brokers: each says who it is, then everything back."""

from __future__ import annotations

import contextlib
import socketserver
import threading
from dataclasses import dataclass, field


class _Echo(socketserver.BaseRequestHandler):
    """Says who it is, then everything back."""

    def handle(self):
        with contextlib.suppress(ConnectionResetError):  # tests cut connections
            self.request.sendall(self.server.banner)
            while data := self.request.recv(65536):
                self.request.sendall(data)


class _EchoServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@dataclass
class Broker:
    """What there is of one broker in both accounts."""

    host: str
    interface: str = ""
    ip: str = ""
    server: _EchoServer | None = None
    balancer: str = ""
    group: str = ""
    listener: str = ""
    service: str = ""
    service_name: str = ""
    endpoint: str = ""
    alias: dict = field(default_factory=dict)


def start_echo(address, host):
    """Start the server of one broker; who asked for it ends it."""
    server = _EchoServer(address, _Echo)
    server.banner = f"{host}\n".encode()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
