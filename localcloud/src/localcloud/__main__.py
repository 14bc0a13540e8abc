"""localcloud up|down|fetch|status|env|run|logs|trace|registry|assumptions"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localcloud import __version__
from localcloud.command import commands
from localcloud.command.fetch import PURPOSES, fetch
from localcloud.command.terminal import printable
from localcloud.errors import LocalcloudError

_FOLDER = Path(".localcloud")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = vars(_parser().parse_args(argv))
    command = args.pop("command")
    args["folder"] = args["folder"].resolve()
    try:
        command(**args)
    except LocalcloudError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return 1
    except OSError as error:
        said = error.strerror or repr(error)
        said = f"{error.filename}: {said}" if error.filename else said
        sys.stderr.write(f"{printable(said)}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="localcloud",
        description="AWS accounts on this machine.",
    )
    parser.add_argument(
        "--folder", type=Path, default=_FOLDER, help="its files [.localcloud in this folder]"
    )
    parser.add_argument("--version", action="version", version=f"localcloud {__version__}")
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")

    up = parsers.add_parser("up", help="start localcloud in the background")
    up.add_argument(
        "--port",
        type=int,
        default=os.environ.get("LOCALCLOUD_PORT", "4566"),
        help="the port of its endpoint [LOCALCLOUD_PORT, or 4566]",
    )
    up.set_defaults(command=commands.up)

    down = parsers.add_parser("down", help="stop localcloud and all its processes")
    down.set_defaults(command=commands.down)

    status = parsers.add_parser("status", help="show its clusters, functions, jobs and links")
    _add_output(status)
    status.set_defaults(command=commands.status)

    env = parsers.add_parser("env", help='print the environment to use: eval "$(... env)"')
    env.add_argument("--account", default="111111111111", help="the account id [%(default)s]")
    env.add_argument("--region", default="eu-central-1", help="the region [%(default)s]")
    env.set_defaults(command=commands.env)

    logs = parsers.add_parser("logs", help="follow the log of a broker, function or job run")
    logs.add_argument("name", help="server, calls, broker-1, a function's name, a job run's id ...")
    logs.add_argument("--once", action="store_true", help="print the existing lines and end")
    logs.set_defaults(command=commands.logs)
    for add in (_add_trace, _add_fetch, _add_run, _add_registry, _add_assumptions):
        add(parsers)
    return parser


def _add_trace(parsers: Any) -> None:
    trace = parsers.add_parser("trace", help="show the hops from a VPC to a host")
    trace.add_argument("host", help="a host name, such as a broker's")
    trace.add_argument("port", type=int, help="its port")
    trace.add_argument("--vpc", required=True, help="the id of the VPC to start from")
    trace.add_argument(
        "--group", default="", help="the id of the security group to start from [none]"
    )
    _add_output(trace)
    trace.set_defaults(command=commands.trace)


def _add_fetch(parsers: Any) -> None:
    parser = parsers.add_parser("fetch", help="fetch the jars of Kafka, Apicurio and S3 for Spark")
    names = ", ".join(PURPOSES)
    parser.add_argument("purposes", nargs="*", metavar="NAME", help=f"{names} [all]")
    parser.set_defaults(command=fetch)


def _add_run(parsers: Any) -> None:
    run = parsers.add_parser(
        "run",
        help="run a program as if in a function or on an instance: its names, role, authorities",
    )
    run.add_argument(
        "--as", dest="name", required=True, help="a function's name, an instance's name or id"
    )
    run.add_argument(
        "--hosts",
        action="store_true",
        help="give the names also to a program that is neither Python nor Java, in a namespace of "
        "its own (Linux)",
    )
    run.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="-- PROGRAM ...", help="its words"
    )
    run.set_defaults(command=commands.run)


def _add_registry(parsers: Any) -> None:
    registry = parsers.add_parser("registry", help="start Apicurio Registry, show its URLs")
    registry.add_argument("--port", type=int, default=8080, help="its port [%(default)s]")
    registry.add_argument(
        "--interface", default="", help="the id of a network interface, in whose VPC it is seen"
    )
    registry.add_argument("--host", default="", help="its host name in that VPC")
    _add_output(registry)
    registry.set_defaults(command=commands.registry)


def _add_assumptions(parsers: Any) -> None:
    told = parsers.add_parser("assumptions", help="print what it assumes about AWS, as data")
    _add_output(told)
    told.set_defaults(command=commands.assumptions)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        choices=("text", "json"),
        default="text",
        help="json prints one object or list in one line [%(default)s]",
    )


if __name__ == "__main__":
    sys.exit(main())
