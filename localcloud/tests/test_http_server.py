"""The HTTP server under boto3 and raw sockets: kept connections, large bodies, many callers."""

from __future__ import annotations

import http.client
import logging
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from localcloud.door.http_server import CutConnectionError, serve
from localcloud.errors import AddressInUseError

_MEGABYTE = 1 << 20


@pytest.fixture
def application():
    """What the server asks; a test puts in what it answers, and finds what was asked."""

    class Application:
        asked: list[tuple[str, bytes]] = []  # noqa: RUF012 - one per test

        def __call__(self, environ, start_response):
            body = environ["wsgi.input"].read()
            self.asked.append((environ["PATH_INFO"], body))
            if environ["PATH_INFO"] == "/cut":
                raise CutConnectionError
            if environ["PATH_INFO"] == "/bug":
                raise ZeroDivisionError
            start_response("200 OK", [("Content-Length", str(len(body))), ("X-A", "b")])
            return [body]

    Application.asked = []
    return Application()


@pytest.fixture
def server(application):
    """The server in front of it."""
    running = serve("127.0.0.1", 0, application)
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture
def connection(server):
    """One connection to it."""
    made = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    yield made
    made.close()


def test_a_connection_serves_many_requests(connection, application):
    ports = set()
    for number in range(3):
        connection.request("POST", f"/{number}", body=b"x" * number)
        answer = connection.getresponse()
        assert (answer.status, answer.read(), answer.headers["X-A"]) == (200, b"x" * number, "b")
        ports.add(connection.sock.getsockname())
    assert len(ports) == 1
    assert application.asked == [("/0", b""), ("/1", b"x"), ("/2", b"xx")]


def test_a_head_request_has_the_length_and_no_body(connection):
    connection.request("HEAD", "/")
    answer = connection.getresponse()
    assert (answer.headers["Content-Length"], answer.read()) == ("0", b"")
    connection.request("GET", "/after")
    assert connection.getresponse().status == 200


def test_a_chunked_body_is_put_together(connection, application):
    connection.request("POST", "/c", body=iter([b"one", b"two"]), encode_chunked=True)
    assert connection.getresponse().read() == b"onetwo"
    assert application.asked == [("/c", b"onetwo")]


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf",
        b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
    ],
)
def test_a_request_that_is_cut_off_has_no_effect(server, application, sent):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(1000) == b""
    assert application.asked == []


def test_an_application_may_cut_the_connection(connection, application):
    connection.request("POST", "/cut", body=b"x")
    with pytest.raises(http.client.RemoteDisconnected):
        connection.getresponse()
    assert application.asked == [("/cut", b"x")]


def test_a_bug_in_the_application_is_a_500(connection, caplog):
    with caplog.at_level(logging.ERROR):
        connection.request("GET", "/bug")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (500, b"localcloud failed\n")
    assert "GET /bug failed" in caplog.text


def test_an_idle_connection_ends_without_an_error_in_the_log(server, monkeypatch, caplog):
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.1)
    with caplog.at_level(logging.INFO), socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.settimeout(60)
        assert raw.recv(1000) == b""
    assert caplog.records == []


def test_another_fault_of_a_connection_is_logged(server, caplog):
    with caplog.at_level(logging.ERROR):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
            raw.sendall(b"NONSENSE\r\n\r\n")
            assert b"400" in raw.recv(1000)
    assert "Bad request syntax" in caplog.text


def test_a_client_that_waits_for_100_continue_gets_it(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as raw:
        raw.sendall(
            b"PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        assert raw.recv(1000).startswith(b"HTTP/1.1 100")
        raw.sendall(b"ok")
        assert raw.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_port_in_use_is_reported(server, application):
    with pytest.raises(AddressInUseError, match=rf"port {server.port} of 127.0.0.1 cannot be"):
        serve("127.0.0.1", server.port, application)


def test_a_large_object_comes_back_as_it_went(client):
    s3 = client("s3")
    s3.create_bucket(
        Bucket="large", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    body = os.urandom(_MEGABYTE) * 100
    s3.put_object(Bucket="large", Key="k", Body=body)
    assert s3.get_object(Bucket="large", Key="k")["Body"].read() == body
    part = s3.get_object(Bucket="large", Key="k", Range="bytes=5-9")["Body"].read()
    assert part == body[5:10]
    s3.delete_object(Bucket="large", Key="k")


def test_fifty_callers_at_once_are_all_answered(client):
    sqs = client("sqs")
    together = threading.Barrier(50)

    def create(number):
        together.wait(60)
        return sqs.create_queue(QueueName=f"together-{number}")["QueueUrl"]

    with ThreadPoolExecutor(50) as pool:
        urls = list(pool.map(create, range(50)))
    assert len(set(urls)) == 50
