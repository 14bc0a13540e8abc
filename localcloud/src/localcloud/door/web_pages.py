"""Requests of web pages are refused: a browser lets every page send requests to this machine.

| what a page does | what reveals it |
| --- | --- |
| sends a request to 127.0.0.1 | `Origin` or `Sec-Fetch-Site`, which no SDK and no command sends |
| resolves its own name to 127.0.0.1 (DNS rebinding) | that name in `Host` |
"""

from __future__ import annotations

import re
from email.message import Message
from http.server import BaseHTTPRequestHandler

_LOCAL = re.compile(
    r"(127(\.\d{1,3}){3}|\[::1\]|([\w.-]+\.)?localhost\.?)(:\d+)?", re.ASCII | re.IGNORECASE
)
_TYPED = "none"  # `Sec-Fetch-Site` of an address that was typed or pasted


def find_objection(headers: Message) -> str | None:
    """Return why a request is refused, None for one that no web page can have sent."""
    for host in headers.get_all("Host", []):
        if not _LOCAL.fullmatch(host):
            return f"localcloud was called as {host}; it answers as 127.0.0.1 and localhost only"
    origin = headers.get("Origin")
    if origin is not None:
        return f"localcloud takes no call from a web page, and this one has Origin: {origin}"
    site = headers.get("Sec-Fetch-Site", _TYPED)
    if site != _TYPED:
        return f"localcloud takes no call from a web page, and this one is {site}"
    return None


class LocalHandler(BaseHTTPRequestHandler):
    """A handler of requests for programs on this machine: it refuses those of web pages."""

    def parse_request(self) -> bool:
        """Read the head of a request and check it."""
        if not super().parse_request():
            return False
        if objection := find_objection(self.headers):
            self.send_error(403, explain=objection)
            return False
        return True

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: a request may hold an event or a token."""
