"""TCP relays: they listen on the addresses of a VPC's names and forward to the servers.

All run in one thread with one event loop. The path is looked up when a connection arrives and
again at every check: a connection whose path is gone is cut.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from localcloud.errors import AddressInUseError
from localcloud.network._connection import Connection, Link

_ANSWER_SECONDS = 10.0
_BACKLOG = 128
_ACCEPT_TURNS = 3  # for the task, the transport, and its protocol


class Relays:
    """The relays of one localcloud, in their own thread; any thread may call."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._servers: dict[tuple[str, int], tuple[Link, asyncio.Server]] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="relays", daemon=True)
        self._thread.start()

    @property
    def links(self) -> list[Link]:
        """All links that are relayed now."""
        return [link for link, _ in list(self._servers.values())]

    def open(self, address: str, port: int, link: Link) -> None:
        """Listen on a loopback address and forward connections over the link.

        Raises:
            AddressInUseError: another process listens there.
        """
        self._run(self._open(address, port, link))

    def close(self, address: str, port: int) -> None:
        """Stop listening and cut the remaining connections."""
        self._run(self._close(address, port))

    def check(self) -> None:
        """Cut every connection whose path is gone."""
        self._each(Link.check)

    def reset(self, links: Iterable[Link]) -> None:
        """Cut the current connections of links."""
        self._each(Link.reset, links)

    def stop(self) -> None:
        """Close everything and stop the thread."""
        self._run(self._close_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open(self, address: str, port: int, link: Link) -> None:
        try:
            server = await self._loop.create_server(
                lambda: Connection(link).accept(),
                address,
                port,
                family=socket.AF_INET,
                backlog=_BACKLOG,
            )
        except OSError as error:
            raise AddressInUseError(
                f"cannot relay {link.name} on {address}:{port}: {error.strerror}; end what listens "
                f"there (`ss -ltnp 'sport = :{port}'` shows it)"
            ) from error
        self._servers[address, port] = (link, server)

    async def _close(self, address: str, port: int) -> None:
        link, server = self._servers.pop((address, port))
        # A connection that was just accepted becomes a transport in a later turn, and asyncio
        # leaves its socket open if the server is closed by then.
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        for _ in range(_ACCEPT_TURNS):
            await asyncio.sleep(0)
        server.close()
        link.reset()

    async def _close_all(self) -> None:
        for address, port in list(self._servers):
            await self._close(address, port)
        opening = asyncio.all_tasks() - {asyncio.current_task()}
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        for _ in range(2):  # each side learns of its loss in a turn of its own
            await asyncio.sleep(0)

    def _each(self, act: Callable[[Link], None], links: Iterable[Link] | None = None) -> None:
        async def act_on_all() -> None:
            for link in self.links if links is None else links:
                act(link)

        self._run(act_on_all())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_ANSWER_SECONDS)
