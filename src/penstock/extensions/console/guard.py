"""Access to the console: one browser with the token, on this machine, and no other site."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_COOKIE: Final = "penstock-console"
_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # without one, a form of this site has the origin `null`
    "X-Content-Type-Options": "nosniff",
}


@dataclass(slots=True)
class Door:
    """The secrets of one run of the console.

    `token` opens the door once. `session` is then in a cookie, and `form` in each form.
    """

    host: str
    token: str = field(default_factory=secrets.token_urlsafe, repr=False)
    session: str = field(default_factory=secrets.token_urlsafe, repr=False)
    form: str = field(default_factory=secrets.token_urlsafe, repr=False)

    @property
    def address(self) -> str:
        """The address with the token."""
        return f"http://{self.host}/?token={self.token}"

    def admit(self, token: str) -> bool:
        """Say whether this is the token, which is then used up."""
        if not self.token or not secrets.compare_digest(token, self.token):
            return False
        self.token = ""
        return True


class Guard:
    """Refuses requests that do not come from the browser that was let in, before any page runs.

    A name of another site may resolve to this machine, and a page of another site may send forms
    here: so the name of the host and the origin are looked at too.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refused = self._refuse(Request(scope))
        await (refused or self._app)(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host != self._door.host:
            return _deny(f"found the host {host!r}, expected {self._door.host}")
        if origin is not None and urlsplit(origin).netloc != self._door.host:
            return _deny(f"found the origin {origin!r}, expected this console")
        if request.method not in ("GET", "HEAD", "POST"):
            return _deny(f"found the method {request.method}, expected GET or POST")
        if token := request.query_params.get("token"):
            return self._admit(token)
        cookie = request.cookies.get(_COOKIE, "")
        if not secrets.compare_digest(cookie.encode(), self._door.session.encode()):
            return _deny(
                "This browser has not been let in. Open the address that `penstock console` "
                "printed; it is valid once, so start the console again for another browser."
            )
        return None

    def _admit(self, token: str) -> Response:
        if not self._door.admit(token):
            return _deny("This address has been used. Start `penstock console` again.")
        response = RedirectResponse("/", 303)
        response.set_cookie(_COOKIE, self._door.session, httponly=True, samesite="strict", path="/")
        return response


def _deny(text: str) -> Response:
    return PlainTextResponse(f"{text}\n", 403)
