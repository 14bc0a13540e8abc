"""The web application: pages, actions, and records as they arrive."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from penstock.errors import OperationError
from penstock.extensions.console.audit import AuditLog
from penstock.extensions.console.guard import Door, Guard
from penstock.extensions.console.model import BOTH, Action, Command, Page, Part, Profile, Side
from penstock.extensions.console.pages import (
    ACTIONS,
    COMPARE,
    FOLLOW,
    PAGES,
    PARTS,
    PICTURE,
    VERSION,
)
from penstock.extensions.console.reader import Reader, Shown
from penstock.extensions.console.runs import describe_command
from penstock.extensions.console.values import FILTERS, escape_controls

_HERE: Final = Path(__file__).parent
_METHODS: Final = ["GET", "POST"]
_CHANGE_SECONDS: Final = 30.0


class Console:
    """The pages of some profiles.

    Args:
        reader: runs the commands.
        door: the secrets of this run.
        audit: the log of what was changed; None if nothing may be.
    """

    def __init__(self, reader: Reader, door: Door, audit: AuditLog | None) -> None:
        self._reader = reader
        self._door = door
        self._audit = audit
        self._changes: set[asyncio.Task[Shown]] = set()
        pages = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            finalize=escape_controls,
            undefined=StrictUndefined,
        )
        self._templates = Jinja2Templates(env=pages)
        self._templates.env.filters.update(FILTERS)
        self._templates.env.globals.update(
            pages=[each for each in PAGES if each.is_listed],
            actions=ACTIONS,
            profiles=self._reader.profiles,
        )

    def build(self) -> Starlette:
        """Return the application."""
        pages = [Route(f"/{page.name}", self._show_page(page), methods=_METHODS) for page in PAGES]
        parts = [Route(f"/part/{part.page}", self._show_part(part)) for part in PARTS]
        actions = [
            Route(f"/do/{action.name}", self._show_action(action), methods=_METHODS)
            for action in ACTIONS
        ]
        return Starlette(
            routes=[
                Route("/", self._show_overview),
                *pages,
                *parts,
                *actions,
                Route("/compare", self._show_comparison),
                Route("/lineage.svg", self._draw_lineage),
                Route("/live", self._follow),
                Mount("/static", StaticFiles(directory=_HERE / "static")),
            ],
            middleware=[Middleware(Guard, door=self._door)],
            exception_handlers={HTTPException: self._show_refusal},
            lifespan=self._finish,
        )

    @asynccontextmanager
    async def _finish(self, app: Starlette) -> AsyncGenerator[None]:
        """Wait at the end for commands that change something, and interrupt those that go on."""
        yield
        if self._changes:
            said = f"waiting up to {_CHANGE_SECONDS:g} s for a command that changes something"
            print(f"penstock: {said}", file=sys.stderr)
            _, late = await asyncio.wait(self._changes, timeout=_CHANGE_SECONDS)
            for each in late:
                each.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._reader.commands.finish()

    async def _show_overview(self, request: Request) -> Response:
        """Show both accounts side by side; the page's script loads the parts of each profile."""
        return self._render(request, "overview.html", title="Overview", parts=PARTS)

    def _show_part(self, part: Part) -> Any:
        (command,) = (each.command for each in PAGES if each.name == part.page)

        async def show(request: Request) -> Response:
            profile = self._choose(request, part.sides)
            shown = await self._reader.read(profile, command, command.read_values({}))
            return self._render(request, part.template, profile=profile, shown=shown)

        return show

    def _show_page(self, page: Page) -> Any:
        async def show(request: Request) -> Response:
            profile = self._choose(request, page.sides)
            values = page.command.read_values(await self._read_form(request))
            missing = page.command.find_missing(values)
            shown = None if missing else await self._reader.read(profile, page.command, values)
            return self._render(
                request, page.template, page=page, profile=profile, values=values, shown=shown
            )

        return show

    async def _draw_lineage(self, request: Request) -> Response:
        profile = self._choose(request, (Side.CONSUMER,))
        try:
            picture = await self._reader.draw(profile, PICTURE, request.query_params)
        except OperationError as error:
            raise HTTPException(404, str(error)) from error
        return Response(picture, media_type="image/svg+xml")

    async def _show_comparison(self, request: Request) -> Response:
        """Show two versions of a schema left and right, and their differences."""
        profile = self._choose(request, BOTH)
        given = request.query_params
        before, after = ({**given, "version": given.get(side, "")} for side in ("before", "after"))
        if missing := COMPARE.find_missing(COMPARE.read_values(given)):
            raise HTTPException(400, f"found no {missing[0].label}, expected one")
        diff, left, right = await asyncio.gather(
            self._reader.read(profile, COMPARE, given),
            self._reader.read(profile, VERSION, before),
            self._reader.read(profile, VERSION, after),
        )
        return self._render(
            request,
            "compare.html",
            title="{schema}: versions {before} and {after}".format_map(given),
            profile=profile,
            diff=diff,
            left=left,
            right=right,
        )

    async def _follow(self, request: Request) -> Response:
        """Stream the new records of a topic, as events that the page's script adds to its table."""
        profile = self._choose(request, BOTH)
        values = FOLLOW.read_values(request.query_params)
        if FOLLOW.find_missing(values):
            raise HTTPException(400, "found no topic, expected one")
        rows = self._templates.get_template("record_row.html")

        async def stream() -> AsyncGenerator[str]:
            yield ": connected\n\n"
            words, host = FOLLOW.build(values), profile.host
            async with self._reader.commands.run(profile.name, words, None, host) as run:
                async for each in run.objects():
                    text = rows.render(record=each, profile=profile)
                    yield f"data: {json.dumps(text)}\n\n"
            yield f"event: end\ndata: {json.dumps(run.error)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    def _show_action(self, action: Action) -> Any:
        async def show(request: Request) -> Response:
            profile = self._choose(request, action.sides)
            given = await self._read_form(request)
            values = action.command.read_values(given)
            step = given.get("step", "") if request.method == "POST" else ""
            shown = await self._act(action, profile, values, step)
            return self._render(
                request,
                "action.html",
                action=action,
                profile=profile,
                values=values,
                step=step,
                shown=shown,
                command=_describe_command(action.command, profile, values),
                may_write=self._audit is not None,
            )

        return show

    async def _act(
        self, action: Action, profile: Profile, values: Mapping[str, str], step: str
    ) -> Shown | None:
        """Run the command of an action or its rehearsal, as the button that was pressed says."""
        if step in ("", "ask") or action.command.find_missing(values):
            return None
        if step == "rehearse" and action.rehearsal is not None:
            return await self._reader.read(profile, action.rehearsal, values)
        if step != "run":
            raise HTTPException(400, f"found the step {step!r}, expected rehearse, ask or run")
        if self._audit is None:
            raise HTTPException(403, "this console only reads; start it with --allow-changes")
        change = asyncio.create_task(self._change(self._audit, action.command, profile, values))
        self._changes.add(change)
        change.add_done_callback(self._changes.discard)
        return await asyncio.shield(change)  # the server cancels requests at its end

    async def _change(
        self, audit: AuditLog, command: Command, profile: Profile, values: Mapping[str, str]
    ) -> Shown:
        """Run a command that changes something, with a line of the log before and after it."""
        text = _describe_command(command, profile, values)
        audit.add(text, stdin=values.get(command.stdin))
        code, said = None, "stopped with the console"
        try:
            shown = await self._reader.change(profile, command, values)
            code, said = shown.run.code, shown.run.error
        except Exception as error:
            said = repr(error)
            raise
        finally:
            audit.add(text, code=code, error=said)
        return shown

    async def _read_form(self, request: Request) -> Mapping[str, str]:
        """Return the values of a form, which the address has, or the body of a form of this run."""
        if request.method != "POST":
            return request.query_params
        form = await request.form(max_files=0)
        given = {name: str(form[name]) for name in form}
        if not secrets.compare_digest(given.get("form", ""), self._door.form):
            raise HTTPException(403, "this form is of another run of the console; load it again")
        return given

    def _choose(self, request: Request, sides: Sequence[Side]) -> Profile:
        try:
            return self._reader.choose(request.query_params.get("profile", ""), sides)
        except OperationError as error:
            raise HTTPException(404, str(error)) from error

    def _render(self, request: Request, template: str, **values: Any) -> Response:
        return self._templates.TemplateResponse(
            request, template, {"form": self._door.form, "page": None, **values}
        )

    async def _show_refusal(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
        answer = self._render(request, "refusal.html", title="Not shown", text=error.detail)
        answer.status_code = error.status_code
        return answer


def _describe_command(command: Command, profile: Profile, values: Mapping[str, str]) -> str:
    if command.find_missing(values):
        return ""
    return describe_command(profile.name, command.build(values))
