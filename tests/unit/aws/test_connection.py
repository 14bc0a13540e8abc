"""A request goes out in one piece, and an answer that is none closes the connection."""

from __future__ import annotations

import select
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import BadStatusLine, HTTPConnection, HTTPException, IncompleteRead, LineTooLong
from unittest.mock import patch

import pytest

from penstock.aws.connection import Answer, KeptConnection, Timeouts

_send = HTTPConnection.send
_GOOD = b"HTTP/1.1 200 OK\r\nX-Id:  7 \r\ncontent-length: 2\r\n\r\n{}"


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"


@contextmanager
def _serve(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Answer each connection's requests in turn, and close it after the last of its answers."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    received.append(connection.recv(1_000_000))
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", received
        thread.join()


def _post(connection: KeptConnection, headers: dict[str, str], body: bytes) -> Answer:
    connection.send(headers, body)
    return connection.receive()


def test_head_and_body_go_in_one_piece() -> None:
    with _serve(_GOOD) as (endpoint, received):
        connection = KeptConnection(endpoint)
        with patch.object(HTTPConnection, "send", autospec=True, side_effect=_send) as send:
            answer = _post(connection, {"Host": "here", "X-Amz-Target": "T"}, b'{"a":1}')
        connection.close()

    assert answer == Answer(200, {"x-id": "7", "content-length": "2"}, b"{}")
    assert received == [
        b"POST / HTTP/1.1\r\nHost: here\r\nX-Amz-Target: T\r\nAccept-Encoding: identity\r\n"
        b'Content-Length: 7\r\n\r\n{"a":1}'
    ]
    assert send.call_count == 1


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (b"", ConnectionError, "the connection was closed without an answer"),
        (b"SSH-2.0-OpenSSH\r\n", BadStatusLine, "SSH-2.0"),
        (b"HTTP/1.1 OK\r\n\r\n", BadStatusLine, "HTTP/1.1 OK"),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", HTTPException, "found an answer of length '', expected"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", HTTPException, "length '-1', expected"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", HTTPException, "up to 67108864"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n" % (b"9" * 5_000),
         HTTPException, "'9{20}', expected a number"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", IncompleteRead, "7 more expected"),
        (_CHUNKED + b"9\r\n{}", IncompleteRead, "7 more expected"),
        (_CHUNKED + b"2\r\n{}\r\n", HTTPException, "found an answer of length '', expected"),
        (_CHUNKED + b"-1\r\n{}", HTTPException, "found an answer of length '-1', expected"),
        (_CHUNKED + b"zz\r\n{}", HTTPException, "found an answer of length 'zz', expected"),
        (_CHUNKED + b"4000001\r\n{}", HTTPException, "length '4000001', expected"),
        (_CHUNKED + b"1\r\n{\r\n4000000\r\n", HTTPException, "length '67108865', expected"),
        (_CHUNKED + b"0\r\n" + b"a:\r\n" * 100, HTTPException, "found more than 100 headers"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000, LineTooLong, "header line"),
        (b"HTTP/1.1 200 OK\r\n" + b"".join(b"a%d:\r\n" % n for n in range(101)),
         HTTPException, "found more than 100 headers"),
    ],
    ids=["nothing", "no HTTP", "no status", "no length", "odd length", "too long", "endless",
         "cut", "cut chunk", "no last chunk", "negative chunk", "odd chunk", "long chunk",
         "long chunks", "many trailers", "long", "many"],
)  # fmt: skip
def test_a_malformed_answer_is_an_error_and_the_next_request_works(
    answer: bytes, kind: type[Exception], said: str
) -> None:
    with _serve(answer, _GOOD) as (endpoint, _):
        connection = KeptConnection(endpoint)
        with pytest.raises(kind, match=said):
            _post(connection, {}, b"")

        assert _post(connection, {}, b"").content == b"{}"
        connection.close()


def test_a_chunked_answer_is_read_whole_and_the_connection_goes_on() -> None:
    chunked = _CHUNKED + b'1;name=value\r\n{\r\nA\r\n"a": 12345\r\n1\r\n}\r\n0\r\nX: 1\r\n\r\n'
    with _serve(chunked + _GOOD) as (endpoint, _received):
        connection = KeptConnection(endpoint)
        answer = _post(connection, {}, b"")
        assert connection._answers is not None
        rest = connection._answers.read(len(_GOOD))
        connection.close()

    assert answer.read_object() == {"a": 12345}
    assert rest == _GOOD


def test_a_connection_that_the_service_closes_is_opened_again() -> None:
    closing = _GOOD.replace(b"X-Id:  7", b"Connection: Close")
    with _serve(closing, _GOOD) as (endpoint, received):
        connection = KeptConnection(endpoint)
        answers = [_post(connection, {}, b"") for _ in range(2)]
        connection.close()

    assert [answer.status for answer in answers] == [200, 200]
    assert len(received) == 2


def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    """As after the pauses that Lambda makes, without an answer lost to it."""
    with _serve(_GOOD, _GOOD) as (endpoint, received):
        connection = KeptConnection(endpoint)
        _post(connection, {}, b"first")
        closed, _, _ = select.select([connection._connection.sock], [], [], 10)
        assert closed
        _post(connection, {}, b"second")
        connection.close()

    assert [each.rpartition(b"\r\n")[2] for each in received] == [b"first", b"second"]


def test_connecting_and_reading_have_separate_timeouts() -> None:
    with _serve(_GOOD) as (endpoint, _):
        connection = KeptConnection(endpoint, Timeouts(connect_seconds=10, read_seconds=7))
        assert connection._connection.timeout == 10
        _post(connection, {}, b"")
        assert connection._connection.sock.gettimeout() == 7
        connection.close()


@pytest.mark.parametrize(
    ("told", "whole"),
    [(None, True), (str(zlib.crc32(b"{}")), True), ("1", False), ("odd", False)],
)
def test_an_answer_is_compared_with_its_checksum(told: str | None, whole: bool) -> None:
    headers = {} if told is None else {"x-amz-crc32": told}

    assert Answer(200, headers, b"{}").is_whole() is whole
