"""Access to the console: one browser with the token, on this machine, and no other site."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    def cookie(self) -> str:
        """The name of the cookie; browsers send those of all ports of a host to each of them."""
        return f"penstock-console-{self.host.rpartition(':')[2]}"

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

    A name of another site may resolve to this machine, and a page of another site, or of another
    port of this machine, may load pages and send forms here: so the name of the host, the origin
    and what the browser says of the page that asks are looked at too. The overview may be opened
    from anywhere, as by a link in a terminal that is a page itself: its script asks for the rest.
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
        if problem := next(self._find_problems(request), ""):
            return _deny(problem)
        if token := request.query_params.get("token"):
            return self._admit(token)
        cookie = request.cookies.get(self._door.cookie, "")
        if not secrets.compare_digest(cookie.encode(), self._door.session.encode()):
            return _deny(
                "This browser has not been let in. Open the address that `penstock console` "
                "printed; it is valid once, so start the console again for another browser."
            )
        return None

    def _find_problems(self, request: Request) -> Iterator[str]:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host != self._door.host:
            yield f"found the host {host!r}, expected {self._door.host}"
        if origin is not None and urlsplit(origin).netloc != self._door.host:
            yield f"found the origin {origin!r}, expected this console"
        site = request.headers.get("sec-fetch-site", "none")
        if request.url.path != "/" and site not in ("same-origin", "none"):
            yield f"found a request of a page that is {site}, expected one of this console"
        if request.method not in ("GET", "HEAD", "POST"):
            yield f"found the method {request.method}, expected GET or POST"

    def _admit(self, token: str) -> Response:
        if not self._door.admit(token):
            return _deny("This address has been used. Start `penstock console` again.")
        response = RedirectResponse("/", 303)
        name, session = self._door.cookie, self._door.session
        response.set_cookie(name, session, httponly=True, samesite="strict", path="/")
        return response


def _deny(text: str) -> Response:
    return PlainTextResponse(f"{text}\n", 403)
