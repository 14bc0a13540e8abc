"""Names under amazonaws.com resolved from a table, inside one Python process."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_SUFFIX = ".amazonaws.com"


@contextmanager
def resolve_names(addresses: Mapping[str, str]) -> Iterator[None]:
    """Resolve names under amazonaws.com from the table alone while the context lasts.

    A name that is not in the table does not exist: nothing of a test ever reaches AWS. Every
    client in this process resolves through `socket.getaddrinfo`.
    """
    original = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.rstrip(".") if isinstance(host, str) else ""
        if not name.endswith(_SUFFIX):
            return original(host, port, *args, **kwargs)
        if name not in addresses:
            raise socket.gaierror(socket.EAI_NONAME, f"{name} is not in the table of names")
        return original(addresses[name], port, *args, **kwargs)

    socket.getaddrinfo = getaddrinfo
    try:
        yield
    finally:
        socket.getaddrinfo = original
