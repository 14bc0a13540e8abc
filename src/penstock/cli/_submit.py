"""`penstock submit`: submit a consumer's Spark job to EMR Serverless or to its cluster."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from penstock.cli.arguments import add_output, add_root
from penstock.cli.terminal import Progress, print_error, print_line
from penstock.cli.values import print_json
from penstock.errors import JobError
from penstock.operations import (
    JobRun,
    JobStep,
    RunCounts,
    count_rows,
    submit_job,
    wait_for_job,
)

HELP = (
    "Submit a Spark job of a consumer to EMR Serverless, or to its cluster of EMR if the Terraform "
    "root runs it there, with the arguments of the root."
)

_EXIT_CODES = """\
exit codes:
  0  submitted; with --wait, every record that the run read has its row
  1  an error; with --wait, records became dead letters or were lost, or EMR could
     not be asked, and the run may go on
  2  wrong usage; with --wait, the run failed
"""


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    add_submission(parser, environ)
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


def add_submission(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add what every submission of a job takes: its root, whether to wait, and the output."""
    add_root(parser, "consumer", environ)
    parser.add_argument(
        "--wait",
        action="store_true",
        help="wait for the end of the job run or step; say why if it fails, and what it wrote",
    )
    add_output(parser, "an object in a line for the submission and, with --wait, one for the end")
    parser.epilog = _EXIT_CODES


def _run(settings: argparse.Namespace) -> int:
    return submit(settings, settings.job, settings.flags)


def submit(settings: argparse.Namespace, job: str, flags: Sequence[str]) -> int:
    """Submit a job; with --wait, return 1 if records became dead letters, 2 if the run failed."""
    run = submit_job(settings.consumer, job, flags)
    _show_submitted(job, run, settings.output)
    if not settings.wait:
        return 0
    with Progress(prints_lines=False) as bar:
        try:
            state = wait_for_job(run, report=bar.show)
        except JobError as error:
            bar.clear()
            print_error(error)
            return 2
        counts = count_rows(run) if isinstance(run, JobRun) else None
    _show_submitted(job, run, settings.output, state, counts)
    return 1 if counts and (counts.dead_letters or counts.lost) else 0


def _show_submitted(
    job: str,
    run: JobRun | JobStep,
    output: str,
    state: str | None = None,
    counts: RunCounts | None = None,
) -> None:
    """Print that a job was submitted, or its final state and its counts."""
    if output == "json":
        print_json(
            {
                "job": job,
                "id": run.id,
                "applicationId": run.application_id if isinstance(run, JobRun) else None,
                "clusterId": run.cluster_id if isinstance(run, JobStep) else None,
                "region": run.region,
                "state": state,
                "rows": counts and counts.rows,
                "deadLetters": counts and counts.dead_letters,
                "lost": counts and counts.lost,
            }
        )
    elif state is None:
        print_line(f"submitted {job} as {run}")
    else:
        print_line(f"{run} is {state}{_describe_counts(counts)}")


def _describe_counts(counts: RunCounts | None) -> str:
    if counts is None:
        return "; its log has what it wrote"
    text = f": {counts.rows:,} rows, {sum(counts.dead_letters.values()):,} dead letters"
    if counts.dead_letters:
        reasons = (f"{reason} {number:,}" for reason, number in sorted(counts.dead_letters.items()))
        text += f" ({', '.join(reasons)}; see `penstock errors list`)"
    return text + (f", {counts.lost:,} records that Kafka had deleted" if counts.lost else "")
