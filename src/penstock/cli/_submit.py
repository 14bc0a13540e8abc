"""`penstock submit`: submit a consumer's Spark job to EMR Serverless or to its cluster."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from penstock.cli.arguments import add_consumer, add_output
from penstock.cli.terminal import Progress, say
from penstock.cli.values import say_json
from penstock.operations import JobRun, JobStep, submit_job, wait_for_job

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
    add_output(parser, "an object in a line for the submission and, with --wait, one for the end")
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
    show_submitted(settings.job, run, settings.output)
    if settings.wait:
        with Progress(prints_lines=False) as bar:
            state = wait_for_job(run, report=bar.show)
        show_submitted(settings.job, run, settings.output, state)
    return 0


def show_submitted(job: str, run: JobRun | JobStep, output: str, state: str | None = None) -> None:
    """Print that a job was submitted, or the state that it ended in."""
    if output == "json":
        say_json(
            {
                "job": job,
                "id": run.id,
                "applicationId": run.application_id if isinstance(run, JobRun) else None,
                "clusterId": run.cluster_id if isinstance(run, JobStep) else None,
                "region": run.region,
                "state": state,
            }
        )
    elif state is None:
        say(f"submitted {job} as {run}")
    else:
        say(f"{run} is {state}")
