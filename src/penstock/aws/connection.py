"""One kept HTTP/1.1 connection to a service whose answers tell their length, as AWS's all do.

`http.client` sends head and body apart and reads the headers of an answer as those of an e-mail:
that took longer than all else that is done for a request.
"""

from __future__ import annotations

import json
import select
import ssl
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

_MAX_LINE = 65_536
_MAX_HEADERS = 100


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for a connection, and for each piece of an answer."""

    connect_seconds: float = 10.0
    read_seconds: float = 10.0


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

    def read_error(self) -> tuple[str, str]:
        """Give code and message of a refusal, as far as it has any: a proxy's is no JSON."""
        try:
            body = json.loads(self.content)
            code = str(body["__type"]).rpartition("#")[2]
            return code, str(body.get("message") or body.get("Message") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            return f"status {self.status}", self.content[:200].decode(errors="replace")


class KeptConnection:
    """Opened by the first request, after each failure and when the service has closed it.

    For one thread at a time.
    """

    def __init__(
        self, endpoint: str, timeouts: Timeouts = Timeouts(), ca_file: str | None = None
    ) -> None:
        """Keep the address; nothing is called yet."""
        parts = urlsplit(endpoint)
        self._connection = (
            HTTPSConnection(
                parts.netloc,
                timeout=timeouts.connect_seconds,
                context=ssl.create_default_context(cafile=ca_file),
            )
            if parts.scheme == "https"
            else HTTPConnection(parts.netloc, timeout=timeouts.connect_seconds)
        )
        self._read_seconds = timeouts.read_seconds
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
            if self._answers is None or self._has_ended():
                self.close()
                self._connection.connect()  # sets TCP_NODELAY and checks certificates
                self._connection.sock.settimeout(self._read_seconds)
                self._answers = self._connection.sock.makefile("rb")
            self._connection.send(request + body)
            answer = _read_answer(self._answers)
        except BaseException:
            self.close()  # what is still under way is no answer to the next request
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def _has_ended(self) -> bool:
        """Whether there is something to read before we ask, which can only be its end."""
        poll = select.poll()
        poll.register(self._connection.sock, select.POLLIN)
        return bool(poll.poll(0))

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
