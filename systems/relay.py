"""A relay of TCP that can be cut: connections are then refused, and those that exist end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SIZE = 65_536


class Relay:
    """Listens on a free port of loopback, and passes connections on to another port."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._sockets: set[socket.socket] = set()
        self._listener = _listen(0)
        self.port: int = self._listener.getsockname()[1]
        self._serve()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Refuse connections until the block ends."""
        self.close()
        try:
            yield
        finally:
            self._listener = _listen(self.port)
            self._serve()

    def close(self) -> None:
        """End everything."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._sockets.clear()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # it was closed
            while True:
                incoming, _ = listener.accept()
                try:
                    outgoing = socket.create_connection(self._target)
                except OSError:
                    incoming.close()
                    continue
                for source, sink in ((incoming, outgoing), (outgoing, incoming)):
                    self._sockets.add(source)
                    threading.Thread(target=self._pass, args=(source, sink), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_SIZE):
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._sockets.discard(source)
        source.close()


def _listen(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))
