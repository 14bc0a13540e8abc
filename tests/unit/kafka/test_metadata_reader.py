"""A connection to a broker is kept for the next question, and opened again where it is cut."""

from __future__ import annotations

import time
from typing import Any, Self

import pytest

from penstock.errors import BrokerUnavailableError
from penstock.kafka import _connection
from penstock.kafka._connection import MetadataReader

_OPTIONS = {"security_protocol": "SASL_SSL", "client_id": "x"}


class Line:
    """A connection that answers until it is cut."""

    opened: list[Line]
    deadline: float

    def __init__(self, server: str, options: Any, deadline: float) -> None:
        self.server, self.cut, self.closed, self.logins = server, False, False, 0
        self.opened.append(self)

    def log_in(self, options: Any) -> None:
        self.logins += 1

    def ask(self, request: Any) -> Self:
        if self.cut:
            raise ConnectionResetError("it closed the connection")
        return self

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Line]:
    monkeypatch.setattr(Line, "opened", [], raising=False)
    monkeypatch.setattr(_connection, "Connection", Line)
    return Line.opened


def _read(reader: MetadataReader, server: str = "a:1") -> Any:
    return reader.read(server, _OPTIONS, ["t"], time.monotonic() + 60)


def test_one_login_serves_many_questions(opened: list[Line]) -> None:
    reader = MetadataReader()

    answers = [_read(reader) for _ in range(3)] + [_read(reader, "b:1")]

    assert [each.server for each in answers] == ["a:1", "a:1", "a:1", "b:1"]
    assert [(each.server, each.logins) for each in opened] == [("a:1", 1), ("b:1", 1)]
    reader.close()
    assert [each.closed for each in opened] == [True, True]


def test_a_connection_that_was_cut_is_opened_again(opened: list[Line]) -> None:
    reader = MetadataReader()
    _read(reader).cut = True

    assert _read(reader) is _read(reader) is opened[1]
    assert [each.closed for each in opened] == [True, False]


def test_a_broker_that_is_gone_is_an_error(
    opened: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = MetadataReader()
    _read(reader).cut = True
    monkeypatch.setattr(Line, "log_in", Line.ask)
    monkeypatch.setattr(Line, "__init__", _cut)

    with pytest.raises(BrokerUnavailableError, match=r"^a:1 cannot be reached: it closed"):
        _read(reader)
    assert [each.closed for each in opened] == [True, True]


def _cut(line: Line, *_: object) -> None:
    line.server, line.cut, line.closed, line.logins = "a:1", True, False, 0
    Line.opened.append(line)
