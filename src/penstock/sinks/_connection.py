"""One kept HTTP/1.1 connection to a service whose answers tell their length, as AWS's all do.

`http.client` sends head and body apart and reads the headers of an answer as those of an e-mail:
that took longer than all else that is done for a request.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import (
    BadStatusLine,
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    IncompleteRead,
    LineTooLong,
    RemoteDisconnected,
)
from typing import BinaryIO
from urllib.parse import urlsplit

_TIMEOUT_SECONDS = 10.0
_MAX_LINE = 65_536
_MAX_HEADERS = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service said; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def is_whole(self) -> bool:
        """Compare the checksum, which covers what TCP's lets through."""
        told = self.headers.get("x-amz-crc32")
        return told is None or told == str(zlib.crc32(self.content))


class KeptConnection:
    """Opened by the first request and after each failure, for one thread."""

    def __init__(self, endpoint: str) -> None:
        """Keep the address; nothing is called yet."""
        parts = urlsplit(endpoint)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.netloc, timeout=_TIMEOUT_SECONDS)
        self._answers: BinaryIO | None = None

    def post(self, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a request and read its answer.

        Raises:
            OSError, HTTPException: there was none; the connection is closed, and whether the
                request had its effect is not known.
        """
        head = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        # A checksum is of what is not compressed.
        head = f"POST / HTTP/1.1\r\n{head}Accept-Encoding: identity\r\n"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1")
        try:
            if self._answers is None:
                self._connection.connect()  # sets TCP_NODELAY and checks certificates
                self._answers = self._connection.sock.makefile("rb")
            self._connection.send(request + body)
            answer = _read_answer(self._answers)
        except BaseException:
            self.close()  # what is still under way is no answer to the next request
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._answers is not None:
            self._answers.close()
            self._answers = None
        self._connection.close()


def _read_answer(stream: BinaryIO) -> Answer:
    line = _read_line(stream)
    if not line:
        raise RemoteDisconnected("the connection was closed without an answer")
    version, _, rest = line.partition(b" ")
    if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
        raise BadStatusLine(repr(line))
    headers: dict[str, str] = {}
    while line := _read_line(stream).rstrip(b"\r\n"):
        name, _, value = line.partition(b":")
        headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
        if len(headers) > _MAX_HEADERS:
            raise HTTPException(f"found more than {_MAX_HEADERS} headers")
    length = headers.get("content-length", "")
    if not length.isdecimal():
        raise HTTPException(f"found an answer of length {length!r}, expected a number")
    content = stream.read(int(length))
    if len(content) < int(length):
        raise IncompleteRead(content, int(length) - len(content))
    return Answer(int(rest[:3]), headers, content)


def _read_line(stream: BinaryIO) -> bytes:
    line = stream.readline(_MAX_LINE + 1)
    if len(line) > _MAX_LINE:
        raise LineTooLong("header line")
    return line
