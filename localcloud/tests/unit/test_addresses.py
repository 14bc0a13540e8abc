"""The loopback networks of clusters that live shortly."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from localcloud.brokers import addresses, choose_network
from localcloud.brokers.properties import CONTROLLER_ID, CONTROLLER_PORT


def test_a_network_of_a_running_cluster_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: Iterator[int] = iter((17, 4, 17, 5))
    with socket.create_server((f"127.117.4.{CONTROLLER_ID}", CONTROLLER_PORT)):
        monkeypatch.setattr(addresses.secrets, "randbelow", lambda _: next(drawn))
        assert choose_network() == "127.117.5"
