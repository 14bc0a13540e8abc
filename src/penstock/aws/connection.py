"""A persistent HTTP/1.1 connection to a service; AWS's answers have a Content-Length, a proxy's may
be chunked.

`http.client` sends headers and body separately and parses the headers of an answer as those of an
e-mail. That took longer than all other work for a request.
"""

from __future__ import annotations

import json
import select
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http.client import (
    BadStatusLine,
    HTTPConnection,
    HTTPException,
    HTTPSConnection,
    IncompleteRead,
    LineTooLong,
    RemoteDisconnected,
)
from typing import Any, BinaryIO
from urllib.parse import urlsplit

_MAX_LINE = 65_536
_MAX_HEADERS = 100
# Glue's longest answer has 16 MiB, and so has a page of DynamoDB's, whose 1 MB may be 16 times as
# long in JSON. An answer with rows by their keys may be longer: then fewer are asked for.
_MAX_CONTENT = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The timeouts for a connection and for each read of an answer."""

    connect_seconds: float = 10.0
    read_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer of a service; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def is_whole(self) -> bool:
        """Return whether the CRC-32 checksum matches; it finds errors that TCP's checksum does not.

        An answer without a checksum counts as whole.
        """
        expected = self.headers.get("x-amz-crc32")
        return expected is None or expected == str(zlib.crc32(self.content))

    def read_object(self) -> dict[str, Any]:
        """Return the JSON object that the answer consists of.

        Raises:
            ValueError: the content is not a JSON object.
        """
        try:
            found = json.loads(self.content)
        except RecursionError as error:
            raise ValueError("found JSON that is nested too deeply") from error
        if not isinstance(found, dict):
            raise ValueError(f"found JSON of type {type(found).__name__}, expected an object")
        return found

    def read_error(self) -> tuple[str, str]:
        """Return the code and message of an error, or the status and body if it is not JSON.

        A proxy's error, for example, is not JSON.
        """
        try:
            body = self.read_object()
            code = str(body["__type"]).rpartition("#")[2]
            return code, str(body.get("message") or body.get("Message") or "")
        except (ValueError, KeyError):
            return f"status {self.status}", self.content[:200].decode(errors="replace")


@lru_cache(maxsize=8)
def trusted_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return the TLS context that trusts a CA bundle, or the system's, and checks host names.

    It is the same one for all connections, which must not change it: reading the bundle of the
    system takes 20 ms of CPU time.
    """
    return ssl.create_default_context(cafile=ca_file)


class KeptConnection:
    """A persistent connection, for one thread at a time.

    A request opens it if it is not open: the first one, one after a failure, and one after the
    service has closed it.
    """

    def __init__(
        self, endpoint: str, timeouts: Timeouts = Timeouts(), ca_file: str | None = None
    ) -> None:
        parts = urlsplit(endpoint)
        self._connection = (
            HTTPSConnection(
                parts.netloc,
                timeout=timeouts.connect_seconds,
                context=trusted_context(ca_file),
            )
            if parts.scheme == "https"
            else HTTPConnection(parts.netloc, timeout=timeouts.connect_seconds)
        )
        self._timeouts = timeouts
        self._answers: BinaryIO | None = None

    def send(self, headers: Mapping[str, str], body: bytes) -> None:
        """Send a request, whose answer must be received before the next one.

        Raises:
            OSError, HTTPException: the request was not sent as a whole; the connection is closed.
        """
        head = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        # The checksum is computed over the uncompressed content.
        head = f"POST / HTTP/1.1\r\n{head}Accept-Encoding: identity\r\n"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1")
        try:
            if self._answers is None or self._has_ended():
                self.close()
                self._connection.connect()  # sets TCP_NODELAY and checks certificates
                self._answers = self._connection.sock.makefile("rb")
            self._connection.sock.settimeout(self._timeouts.read_seconds)
            self._connection.send(request + body)
        except BaseException:
            self.close()
            raise

    def receive(self, seconds: float | None = None) -> Answer:
        """Read the answer to the request; each read of the socket may take this long.

        Raises:
            OSError, HTTPException: there was no answer. The connection is closed, and it is not
                known whether the request took effect.
        """
        try:
            if self._answers is None:
                raise RemoteDisconnected("the connection was closed before the answer")
            if seconds is not None:
                self._connection.sock.settimeout(seconds)
            answer = _read_answer(self._answers)
        except BaseException:
            self.close()  # a late answer must not be read as the answer to the next request
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def _has_ended(self) -> bool:
        """Return whether there is something to read before a request: only the end can be."""
        poll = select.poll()
        poll.register(self._connection.sock, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
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
    if headers.get("transfer-encoding", "").lower() == "chunked":
        content = _read_chunks(stream)
    else:
        content = _read_exactly(stream, _read_length(headers.get("content-length", ""), 10))
    return Answer(int(rest[:3]), headers, content)


def _read_chunks(stream: BinaryIO) -> bytes:
    """Read the chunks, each after its size, and the trailing headers."""
    content = b""
    while size := _read_length(_read_line(stream).partition(b";")[0].strip().decode("latin-1"), 16):
        _read_length(str(len(content) + size), 10)
        content += _read_exactly(stream, size)
        _read_line(stream)
    for _ in range(_MAX_HEADERS):
        if not _read_line(stream).rstrip(b"\r\n"):
            return content
    raise HTTPException(f"found more than {_MAX_HEADERS} headers")


def _read_length(text: str, base: int) -> int:
    digits = text.isascii() and text.isalnum() and len(text) <= len(str(_MAX_CONTENT))
    try:
        length = int(text, base) if digits else -1
    except ValueError:
        length = -1
    if not 0 <= length <= _MAX_CONTENT:
        raise HTTPException(
            f"found an answer of length {text[:20]!r}, expected a number up to {_MAX_CONTENT}"
        )
    return length


def _read_exactly(stream: BinaryIO, length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise IncompleteRead(content, length - len(content))
    return content


def _read_line(stream: BinaryIO) -> bytes:
    line = stream.readline(_MAX_LINE + 1)
    if len(line) > _MAX_LINE:
        raise LineTooLong("header line")
    return line
