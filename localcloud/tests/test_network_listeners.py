"""Where relays listen: what is behind them, and addresses that belong to one localcloud alone."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack, closing

import pytest

from localcloud.errors import AddressInUseError, MissingHopError
from localcloud.network._connection import Connection, Link
from localcloud.network.loopback import LoopbackAddresses, claim_network
from localcloud.network.relays import Relays
from tests.dialling import WAIT_SECONDS
from tests.two_accounts import PORT


@pytest.fixture
def relays():
    running = Relays()
    yield running
    running.stop()


@pytest.fixture
def addresses():
    taken = LoopbackAddresses()
    yield taken
    taken.close()


def assert_reset(address):
    """The reset may come so fast that connecting itself fails."""
    with pytest.raises(ConnectionResetError):
        with socket.create_connection((address, PORT), timeout=WAIT_SECONDS) as connection:
            connection.recv(1)


def test_a_server_that_is_down_is_reported(relays, addresses):
    address, nobody = addresses.take(), addresses.take()
    link = Link("here", lambda: (nobody, PORT))
    relays.open(address, PORT, link)

    assert_reset(address)

    assert link.refusal is not None
    assert link.refusal.startswith("here: the server behind does not answer")


def test_a_missing_hop_is_reported(relays, addresses):
    def refuse():
        raise MissingHopError("no bridge")

    address = addresses.take()
    link = Link("here", refuse)
    relays.open(address, PORT, link)

    assert_reset(address)

    assert link.refusal == "no bridge"


def test_a_link_that_is_reset_stops_dialling(addresses):
    address, behind = addresses.take(), addresses.take()

    async def reset_while_dialling():
        link = Link("here", lambda: (behind, PORT))
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(link).accept(), address, PORT
        )
        reader, writer = await asyncio.open_connection(address, PORT)
        while not link.connections:
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # the task that dials has begun
        assert len(asyncio.all_tasks()) == 2
        link.reset()
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()
        server.close()
        return len(asyncio.all_tasks())

    with socket.socket() as full:
        full.bind((behind, PORT))
        full.listen(0)
        with socket.create_connection((behind, PORT)):  # it has room for this one alone
            assert asyncio.run(reset_while_dialling()) == 1


def test_a_taken_port_is_a_clear_error(relays, addresses):
    address = addresses.take()
    with socket.socket() as other:
        other.bind((address, PORT))
        other.listen()

        with pytest.raises(AddressInUseError) as refused:
            relays.open(address, PORT, Link("here", lambda: (address, PORT)))

    assert f"cannot relay here on {address}:{PORT}" in str(refused.value)


def test_a_closed_relay_does_not_listen(relays, addresses):
    address = addresses.take()
    relays.open(address, PORT, Link("here", lambda: (address, PORT)))

    relays.close(address, PORT)

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address, PORT), timeout=WAIT_SECONDS)


def test_two_localclouds_never_share_an_address(monkeypatch):
    """With one network left to choose from, the second one is told so."""
    monkeypatch.setattr("random.choice", lambda _: 99)
    monkeypatch.setattr("random.randrange", lambda _: 254)
    first, second = LoopbackAddresses(), LoopbackAddresses()
    with closing(first), closing(second):
        taken = first.take()
        assert taken.startswith("127.99.254.")

        with pytest.raises(AddressInUseError, match="50 loopback networks were tried"):
            second.take()


def test_the_brokers_of_two_localclouds_never_share_a_network(monkeypatch):
    monkeypatch.setattr("random.randrange", lambda _: 254)
    claimed, guards = zip(*[claim_network(range(247, 250)) for _ in range(3)], strict=True)
    with ExitStack() as held:
        for guard in guards:
            held.enter_context(guard)
        assert sorted(claimed) == ["127.247.254", "127.248.254", "127.249.254"]

        with pytest.raises(AddressInUseError, match="50 loopback networks were tried"):
            claim_network(range(247, 250))


def test_an_address_is_used_again_after_all_others(addresses):
    first = addresses.take()

    addresses.give_back(first)

    others = [addresses.take() for _ in range(252)]
    assert first not in others
    assert addresses.take() == first
