"""Names under amazonaws.com come from the table, all others from the machine."""

from __future__ import annotations

import socket

import pytest

from localcloud.network import resolve_names

_NAME = "b-1.demo.abc123.c1.kafka.eu-central-1.amazonaws.com"


def _resolve(name: str) -> str:
    return str(socket.getaddrinfo(name, 9094, type=socket.SOCK_STREAM)[0][4][0])


def test_a_name_of_the_table() -> None:
    with resolve_names({_NAME: "127.0.10.1"}):
        assert _resolve(_NAME) == "127.0.10.1"
        assert _resolve(_NAME + ".") == "127.0.10.1"


def test_an_unknown_name_does_not_exist() -> None:
    with resolve_names({_NAME: "127.0.10.1"}):
        with pytest.raises(socket.gaierror, match=r"sts\.amazonaws\.com is not in the table"):
            _resolve("sts.amazonaws.com")


def test_other_names_are_resolved_as_usual() -> None:
    with resolve_names({}):
        assert _resolve("127.0.0.1") == "127.0.0.1"
        assert socket.getaddrinfo(None, 9094)


def test_the_innermost_table_counts_and_goes_again() -> None:
    before = socket.getaddrinfo

    with resolve_names({_NAME: "127.0.10.1"}):
        with resolve_names({_NAME: "127.0.10.2"}):
            assert _resolve(_NAME) == "127.0.10.2"
        assert _resolve(_NAME) == "127.0.10.1"

    assert socket.getaddrinfo is before
