"""Limits of an answer over HTTP: until when it is waited for, and how large it may be.

A server may send a byte now and then, which no timeout of a socket notices, and an answer of a few
kilobytes may inflate to gigabytes. So each read waits until the deadline at most, and
`read_content` inflates itself, no further than the limit.
"""

from __future__ import annotations

import http.client
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ProtocolError

from penstock.errors import RegistryAnswerError

_PART_SIZE = 2**16
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_NAMES = ("gzip", "x-gzip")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time of a clock until which answers are waited for."""

    at: float
    clock: Callable[[], float]

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.at - self.clock()


_DEADLINE: ContextVar[Deadline | None] = ContextVar("_DEADLINE", default=None)


@contextmanager
def limited(seconds: float, clock: Callable[[], float]) -> Iterator[Deadline]:
    """Limit the time of all calls in the block, which ends no later than a block around it."""
    around, deadline = _DEADLINE.get(), Deadline(clock() + seconds, clock)
    if around is not None and around.at < deadline.at:
        deadline = around
    token = _DEADLINE.set(deadline)
    try:
        yield deadline
    finally:
        _DEADLINE.reset(token)


def build_pool(size: int, ssl_context: Any) -> urllib3.PoolManager:
    """Return a pool of connections whose answers are waited for until the deadline at most."""
    pool = urllib3.PoolManager(maxsize=size, retries=False, ssl_context=ssl_context)
    pool.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return pool


def read_content(response: Any, deadline: Deadline, most: int, source: str) -> bytes:
    """Return the content of an answer.

    Raises:
        RegistryAnswerError: it has more bytes than `most`, or an encoding that was not asked for.
        TimeoutError: it comes too slowly.
    """
    # `read` waits until the part is full; older versions of urllib3 have no `read1`.
    read = getattr(response, "read1", response.read)
    unpacker, data = _Unpacker(response.headers.get("Content-Encoding", ""), source), bytearray()
    while part := read(_PART_SIZE, decode_content=False):
        data += unpacker.unpack(part, most + 1 - len(data))
        if len(data) > most:
            raise RegistryAnswerError(f"{source} answered with more than {most} bytes")
        if response.length_remaining != 0 and deadline.left() < 0:
            raise TimeoutError(f"read {len(data)} bytes of an answer that comes too slowly")
    unpacker.check_end()
    return bytes(data)


class _Unpacker:
    """Inflates gzip, which a proxy may apply although no encoding is asked for."""

    def __init__(self, encoding: str, source: str) -> None:
        encoding = encoding.strip().lower()
        self._source = source
        self._stream = zlib.decompressobj(_GZIP) if encoding in _GZIP_NAMES else None
        if self._stream is None and encoding not in {"", "identity"}:
            raise RegistryAnswerError(
                f"{source} answered with the content encoding {encoding!r}, expected none or gzip"
            )

    def unpack(self, part: bytes, most: int) -> bytes:
        """Return the inflated bytes of a part, at most `most` of them."""
        if self._stream is None:
            return part
        try:
            return self._stream.decompress(part, most)
        except zlib.error as error:
            raise RegistryAnswerError(
                f"{self._source} answered with gzip that cannot be inflated: {error}"
            ) from error

    def check_end(self) -> None:
        """Raise ProtocolError if bytes are missing."""
        if self._stream is not None and not self._stream.eof:
            raise ProtocolError("the gzip stream of the answer is cut")


class _TimedStream(io.RawIOBase):
    """The bytes of a socket, none of which is waited for after the deadline."""

    def __init__(self, stream: io.RawIOBase, sock: Any, deadline: Deadline) -> None:
        self._stream, self._sock, self._deadline = stream, sock, deadline
        self._seconds = sock.gettimeout()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline.left()
        if left <= 0:
            raise TimeoutError("the answer comes too slowly")
        self._sock.settimeout(min(left, self._seconds))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """An answer, from its first line on, as http.client reads it."""

    def __init__(self, sock: Any, *args: Any, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        deadline = _DEADLINE.get()
        if deadline is not None:
            self.fp = io.BufferedReader(_TimedStream(self.fp.detach(), sock, deadline))


class _Http(HTTPConnection):
    response_class = _TimedResponse


class _Https(HTTPSConnection):
    response_class = _TimedResponse


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https
