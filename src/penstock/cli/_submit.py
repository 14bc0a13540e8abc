"""`penstock submit`: submit a consumer's Spark job to EMR Serverless."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from penstock.cli._arguments import add_consumer
from penstock.cli.terminal import say
from penstock.operations import submit_job

HELP = (
    "Submit a Spark job of a consumer to EMR Serverless, with the arguments of its Terraform root."
)


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the arguments."""
    add_consumer(parser)
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
    say(f"submitted {settings.job} as job run {run.id} of application {run.application_id}")
    return 0
