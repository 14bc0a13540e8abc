"""`penstock console`: pages for a browser on this machine."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from penstock.cli import add_output, expect, print_json, print_line, read_profiles
from penstock.errors import OperationError, SettingsError
from penstock.extensions.console.audit import AuditLog
from penstock.extensions.console.model import Profile, find_profile
from penstock.settings import parse_port

HELP = (
    "Show topics, records, schemas, dead letters and more of both accounts in a browser on this "
    "machine: what the other commands print. It only reads, unless --allow-changes is given."
)
_LOOPBACK: Final = "127.0.0.1"
_AUDIT: Final = Path("~/.local/state/penstock/console.jsonl")


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument(
        "--port",
        type=expect(parse_port, "a port from 0 to 65,535"),
        default=0,
        metavar="N",
        help="the port [a free one]",
    )
    parser.add_argument(
        "--allow-changes",
        action="store_true",
        help="let pages run commands that change something, after they were shown and confirmed",
    )
    parser.add_argument(
        "--audit",
        type=Path,
        default=_AUDIT.expanduser(),
        metavar="FILE",
        help=f"the log of those commands [{_AUDIT}]",
    )
    add_output(parser, "an object with the address")
    parser.set_defaults(run=partial(_run, environ))


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    """Serve the pages until ctrl-C."""
    with missing_packages():
        import uvicorn  # noqa: PLC0415 - the other commands do without

        from penstock.extensions.console.app import Console  # noqa: PLC0415
        from penstock.extensions.console.guard import Door  # noqa: PLC0415
        from penstock.extensions.console.reader import Reader  # noqa: PLC0415
        from penstock.extensions.console.runs import Commands  # noqa: PLC0415

    audit = AuditLog(flags.audit) if flags.allow_changes else None
    if audit is not None:
        audit.add("penstock console --allow-changes")  # a log that cannot be written ends it here
    with _listen(flags.port) as listener:
        door = Door(f"{_LOOPBACK}:{listener.getsockname()[1]}")
        reader = Reader(find_profiles(flags, environ), Commands(flags.own_environ))
        console = Console(reader, door, audit)
        if flags.output == "json":
            print_json({"address": door.address})
        else:
            print_line(f"Open {door.address} (valid once); ctrl-C ends the console.")
        config = uvicorn.Config(
            console.build(), access_log=False, log_level="warning", timeout_graceful_shutdown=1
        )
        uvicorn.Server(config).run(sockets=[listener])
    return 0


def find_profiles(flags: argparse.Namespace, environ: Mapping[str, str]) -> tuple[Profile, ...]:
    """Return the profiles of the file; without one, that of the environment."""
    path = flags.used_profile.path
    if path is None:
        return (find_profile("", environ),)
    return tuple(find_profile(name, values) for name, values in read_profiles(path).items())


@contextmanager
def missing_packages() -> Iterator[None]:
    """Name what to install if an import fails.

    Raises:
        SettingsError: a package is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise SettingsError(
            [f"found no package {error.name}: pip install '.[cli,console]' in a clone brings it"]
        ) from error


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((_LOOPBACK, port))
    except OSError as error:
        raise OperationError(f"port {port} of {_LOOPBACK} cannot be used: {error}") from error
