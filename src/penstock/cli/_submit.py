"""`penstock submit`: submit a consumer's Spark job to EMR Serverless or to its cluster."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from penstock.cli.arguments import add_consumer
from penstock.cli.terminal import say
from penstock.operations import submit_job, wait_for_job

HELP = (
    "Submit a Spark job of a consumer to EMR Serverless, or to its cluster of EMR if the Terraform "
    "root runs it there, with the arguments of the root."
)


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments."""
    add_consumer(parser)
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait for the end of the job run or step; say why if it fails",
    )
    parser.add_argument(
        "job", metavar="JOB", help="its name in the output `submit_commands`, such as consume"
    )
    parser.add_argument(
        "flags",
        nargs=argparse.REMAINDER,
        metavar="FLAG VALUE",
        help="more flags for the job; they override those of the root",
    )
    parser.set_defaults(run=_run)


def _run(settings: argparse.Namespace) -> int:
    run = submit_job(settings.consumer, settings.job, settings.flags)
    say(f"submitted {settings.job} as {run}")
    if settings.wait:
        say(f"{run} is {wait_for_job(run)}")
    return 0
