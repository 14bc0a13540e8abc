"""One relayed connection: two sockets with backpressure between them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from localcloud.errors import MissingHopError

_CONNECT_SECONDS = 5.0
_FLUSH_SECONDS = 5.0
_SILENT_SECONDS = 0.1  # until a silent link is looked at again
# SO_LINGER on, with no time: closing sends a reset, so that both ends see the cut at once.
_RESET = struct.pack("ii", 1, 0)


@dataclass(slots=True, eq=False)
class Link:
    """A link of a relay: its target, its faults, its connections.

    `find_target` returns the server's address or raises MissingHopError; `via` is the local address
    of connections to it. A connection that was idle for longer than `idle_seconds` is forgotten:
    its next byte is answered by a reset. A silent link keeps its connections and accepts new ones,
    but what is sent arrives when it is silent no longer, as TCP sends again what a network lost.
    `held` counts the pieces of bytes that came late.
    """

    name: str
    find_target: Callable[[], tuple[str, int]]
    via: str | None = None
    is_cut: bool = False
    is_silent: bool = False
    latency_seconds: float = 0.0
    bytes_per_second: float = float("inf")
    idle_seconds: float = float("inf")
    idle_fault_seconds: float = float("inf")
    refusal: str | None = None
    held: int = 0
    connections: set[Connection] = field(default_factory=set, repr=False)

    def look_up(self) -> tuple[str, int]:
        """Return the current target; the reason of a refusal is stored in `refusal`."""
        try:
            if self.is_cut:
                raise MissingHopError(f"the link {self.name} was cut on purpose; restore it")
            target = self.find_target()
        except MissingHopError as error:
            self.refusal = str(error)
            raise
        self.refusal = None
        return target

    def check(self) -> None:
        """Cut the connections whose path is gone or leads elsewhere."""
        try:
            target = self.look_up() if self.connections else None
        except MissingHopError:
            target = None
        for connection in list(self.connections):
            if connection.target not in {None, target}:  # None: it is still being opened
                connection.abort()

    def mend(self) -> None:
        """End all faults of the link."""
        self.is_cut = self.is_silent = False
        self.latency_seconds, self.bytes_per_second = 0.0, float("inf")
        self.idle_fault_seconds = float("inf")

    def reset(self) -> None:
        """Cut all connections of the link."""
        for connection in list(self.connections):
            connection.abort()


class Connection:
    """One connection that a relay accepted, and the one it opened for it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._near = _Half(self)
        self._far = _Half(self)
        self._near.other, self._far.other = self._far, self._near
        self.target: tuple[str, int] | None = None
        self._opening: asyncio.Task[None] | None = None
        self._used_at = 0.0  # in the time of the loop

    def accept(self) -> asyncio.Protocol:
        """Return the protocol of the accepted side."""
        return self._near

    def abort(self) -> None:
        """Cut both sides with a reset; the far side is no longer opened."""
        if self._opening is not None:
            self._opening.cancel()
        for half in (self._near, self._far):
            half.reset()

    def use(self) -> bool:
        """Note that bytes arrived; return False if the connection was forgotten, and cut it."""
        now = asyncio.get_running_loop().time()
        limit = min(self._link.idle_seconds, self._link.idle_fault_seconds)
        forgotten = now - self._used_at > limit
        self._used_at = now
        if forgotten:
            self._link.refusal = f"{self._link.name}: idle for longer than {limit:g} s, so reset"
            self.abort()
        return not forgotten

    @property
    def is_silent(self) -> bool:
        """True while the link passes nothing on."""
        return self._link.is_silent

    def hold(self) -> None:
        """Count a piece of bytes that the link does not pass on at once."""
        self._link.held += 1

    def delay(self, size: int) -> float:
        """Return the seconds that the link delays that many bytes."""
        return self._link.latency_seconds + size / self._link.bytes_per_second

    def half_opened(self, half: _Half) -> None:
        """Open the far side when the near one is connected; nothing is read before."""
        if half is self._near:
            half.pause_reading()
            self._link.connections.add(self)
            self._opening = asyncio.get_running_loop().create_task(self._open())

    def half_lost(self) -> None:
        """Remove the connection when both sides are closed."""
        if not self._near.is_open and not self._far.is_open:
            self._link.connections.discard(self)

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        local = (self._link.via, 0) if self._link.via else None
        while self.is_silent:
            await asyncio.sleep(_SILENT_SECONDS)
        try:
            self.target = self._link.look_up()
            async with asyncio.timeout(_CONNECT_SECONDS):
                await loop.create_connection(lambda: self._far, *self.target, local_addr=local)
        except MissingHopError:
            self._near.reset()
        except OSError as error:  # TimeoutError is one
            self._link.refusal = f"{self._link.name}: the server behind does not answer: {error}"
            self._near.reset()
        else:
            self._used_at = loop.time()
            self._near.resume_reading()


class _Half(asyncio.Protocol):
    """One side of a connection: what it reads, the other side writes."""

    def __init__(self, connection: Connection) -> None:
        self.other: _Half
        self.is_open = False
        self._connection = connection
        self._transport: asyncio.Transport | None = None
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport
        self.is_open = True
        self._connection.half_opened(self)

    def data_received(self, data: bytes) -> None:
        if not self._connection.use():
            return
        delay = self._connection.delay(len(data))
        if not delay and not self._connection.is_silent:
            self.other.write(data)
            return
        self._connection.hold()
        self.pause_reading()
        asyncio.get_running_loop().call_later(delay, self._pass_late, data)

    def _pass_late(self, data: bytes) -> None:
        if self._connection.is_silent:
            asyncio.get_running_loop().call_later(_SILENT_SECONDS, self._pass_late, data)
            return
        self.other.write(data)
        self.resume_reading()

    def eof_received(self) -> bool:
        self._ended = True
        if self.other._ended:
            return False  # both sides have ended: asyncio closes this one
        self.other.end_writing()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._connection.half_lost()
        self.other.finish()

    def pause_writing(self) -> None:
        self.other.pause_reading()

    def resume_writing(self) -> None:
        self.other.resume_reading()

    def write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def pause_reading(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def end_writing(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write_eof()

    def finish(self) -> None:
        """Close after flushing; abort after 5 s if the peer does not read."""
        if self._transport is not None:
            self._transport.close()
            asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self._transport.abort)

    def reset(self) -> None:
        if self._transport is None:
            return
        with contextlib.suppress(OSError):  # the peer may have closed it already
            raw = self._transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()
