"""Relays close what they have accepted, at whatever moment they are closed."""

from __future__ import annotations

import gc
import socket
import threading
import warnings

from localcloud.network._connection import Link
from localcloud.network.relays import Relays

_ADDRESS, _PORT = "127.99.1.1", 20_000
_TRIALS = 30  # without the pause before a relay closes, nearly every trial leaves a socket open


def _dial(opened):
    for _ in range(4):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex((_ADDRESS, _PORT))
        opened.append(connection)


def test_a_relay_that_is_closed_leaves_no_accepted_socket_open():
    relays = Relays()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        for _ in range(_TRIALS):
            relays.open(_ADDRESS, _PORT, Link("link", lambda: ("127.0.0.1", 1)))
            opened = []
            dialling = threading.Thread(target=_dial, args=(opened,))
            dialling.start()
            relays.close(_ADDRESS, _PORT)
            dialling.join()
            for connection in opened:
                connection.close()
        relays.stop()
        gc.collect()
    assert [str(one.message) for one in caught] == []
