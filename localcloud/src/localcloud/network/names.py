"""Name resolution of one VPC inside one Python process.

It uses the standard library only: `python_path/sitecustomize.py` loads this file by its path in
every Python that localcloud starts in a VPC, whatever packages that Python has.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

HOSTS_VARIABLE = "LOCALCLOUD_HOSTS"

_Find: TypeAlias = Callable[[str], str | None]


@contextmanager
def resolve_names(addresses: Mapping[str, str]) -> Iterator[None]:
    """Resolve names under amazonaws.com from the table alone while the context lasts.

    A name that is missing in the table does not exist: no test ever reaches AWS. Every client in
    this process resolves through `socket.getaddrinfo`.
    """
    original = socket.getaddrinfo

    def find(name: str) -> str | None:
        if name in addresses:
            return addresses[name]
        return None if name.endswith(".amazonaws.com") else name

    socket.getaddrinfo = _resolve_by(find, original)
    try:
        yield
    finally:
        socket.getaddrinfo = original


def follow_hosts_file(path: Path) -> None:
    """Limit this process permanently to the names of a hosts file and to loopback connections.

    The file is read at every look-up: it changes while the process runs.
    """

    def find(name: str) -> str | None:
        return name if _is_address(name) else read_hosts(path).get(name)

    socket.getaddrinfo = _resolve_by(find, socket.getaddrinfo)
    for method in ("connect", "connect_ex"):
        setattr(socket.socket, method, _connect_locally(getattr(socket.socket, method)))


def read_hosts(path: Path) -> dict[str, str]:
    """Return the names of a hosts file: {name: address}."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name: address for address, *names in lines for name in names}


def write_hosts(path: Path, addresses: Mapping[str, str]) -> None:
    """Write a hosts file in one step, with the names that a JVM needs to start.

    Java uses nothing else once it has the file, and Spark looks up this machine's own name.
    """
    home = dict.fromkeys(("localhost", socket.gethostname()), "127.0.0.1")
    new = path.with_suffix(".new")
    new.write_text("".join(f"{value} {name}\n" for name, value in {**home, **addresses}.items()))
    new.replace(path)


def _resolve_by(find: _Find, original: Callable[..., Any]) -> Callable[..., Any]:
    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if not name:  # the wildcard address of a server
            return original(host, port, *args, **kwargs)
        address = find(name.lower().rstrip("."))
        if address is None:
            raise socket.gaierror(socket.EAI_NONAME, f"{name} is not in the table of names")
        return original(address, port, *args, **kwargs)

    return getaddrinfo


def _connect_locally(original: Callable[..., Any]) -> Callable[..., Any]:
    def connect(self: socket.socket, address: Any) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6}:
            host, port, *rest = address
            # A name would be resolved below Python, without the table.
            found = socket.getaddrinfo(host, port, self.family)[0][4][0]
            if found != "::1" and not str(found).startswith("127."):
                raise OSError(
                    errno.ENETUNREACH,
                    f"{os.strerror(errno.ENETUNREACH)}: this VPC has no route to {host}",
                )
            address = (found, port, *rest)
        return original(self, address)

    return connect


def _is_address(name: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, name)
        except OSError:
            continue
        return True
    return False
