"""TCP relays: what listens where the names of a VPC lead, and carries bytes to the server behind.

All live in one thread with one event loop. The way is looked up when a connection comes in, and
again at every check: a connection whose way has gone is cut.
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


class Relays:
    """The relays of one localcloud, in a thread of their own; any thread may call."""

    def __init__(self) -> None:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._servers: dict[tuple[str, int], tuple[Link, asyncio.Server]] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="relays", daemon=True)
        self._thread.start()

    @property
    def links(self) -> list[Link]:
        """What is relayed now."""
        return [link for link, _ in list(self._servers.values())]

    def open(self, address: str, port: int, link: Link) -> None:
        """Listen on a loopback address and carry what comes there over the link.

        Raises:
            AddressInUseError: somebody else listens there.
        """
        self._run(self._open(address, port, link))

    def close(self, address: str, port: int) -> None:
        """Stop listening and cut the connections that are left."""
        self._run(self._close(address, port))

    def check(self) -> None:
        """Cut every connection whose way has gone."""
        self._each(Link.check)

    def reset(self, links: Iterable[Link]) -> None:
        """Cut the connections that links have now."""
        self._each(Link.reset, links)

    def stop(self) -> None:
        """Close everything and end the thread."""
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
        server.close()
        link.reset()

    async def _close_all(self) -> None:
        for address, port in list(self._servers):
            await self._close(address, port)
        opening = asyncio.all_tasks() - {asyncio.current_task()}
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        for _ in range(2):  # one side is told that it is lost in the next turn, the other after it
            await asyncio.sleep(0)

    def _each(self, act: Callable[[Link], None], links: Iterable[Link] | None = None) -> None:
        async def act_on_all() -> None:
            for link in self.links if links is None else links:
                act(link)

        self._run(act_on_all())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_ANSWER_SECONDS)
