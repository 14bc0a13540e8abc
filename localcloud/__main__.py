"""python -m localcloud up|down|status|env|logs|trace"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from localcloud.command import commands
from localcloud.errors import LocalcloudError

_FOLDER = Path(__file__).parents[1] / ".localcloud"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = vars(_parser().parse_args(argv))
    command = args.pop("command")
    try:
        command(**args)
    except LocalcloudError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m localcloud", description="Two AWS accounts on this machine."
    )
    parser.add_argument(
        "--folder", type=Path, default=_FOLDER, help="where it keeps its files (.localcloud)"
    )
    parsers = parser.add_subparsers(required=True, metavar="COMMAND")

    up = parsers.add_parser("up", help="start it in the background")
    up.add_argument("--port", type=int, default=4566, help="where it answers (4566)")
    up.set_defaults(command=commands.up)

    down = parsers.add_parser("down", help="end it and every process it started")
    down.set_defaults(command=commands.down)

    status = parsers.add_parser("status", help="show what runs in it")
    status.add_argument("--json", action="store_true", dest="as_json", help="for programs")
    status.set_defaults(command=commands.status)

    env = parsers.add_parser("env", help='print the environment to use: eval "$(... env)"')
    env.add_argument("--account", default="111111111111", help="whose keys (111111111111)")
    env.add_argument("--region", default="eu-central-1", help="the region (eu-central-1)")
    env.set_defaults(command=commands.env)

    logs = parsers.add_parser("logs", help="follow a log: server, calls, broker-1, a function ...")
    logs.add_argument("name", help="whose")
    logs.add_argument("--once", action="store_true", help="print what there is, and end")
    logs.set_defaults(command=commands.logs)

    trace = parsers.add_parser("trace", help="say how a VPC reaches a host, or which hop misses")
    trace.add_argument("host")
    trace.add_argument("port", type=int)
    trace.add_argument("--vpc", required=True, help="from where")
    trace.add_argument("--group", default="", help="as a member of this security group")
    trace.set_defaults(command=commands.trace)
    return parser


if __name__ == "__main__":
    sys.exit(main())
