"""`penstock jobs`: the runs of a consumer's Spark jobs, and the batches of one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any, Final

from penstock.cli.arguments import add_output, add_root, expect_count
from penstock.cli.terminal import Table, print_line
from penstock.cli.values import print_json
from penstock.operations import Batch, JobRun, JobStep, ListedRun, find_run, list_runs, read_batches

HELP = "List the runs of a consumer's Spark jobs with their states, or show the batches of one."
_LIST: Final = "List the newest job runs of EMR Serverless, and the steps of the root's cluster."
_SHOW: Final = (
    "Show a run and the batches that it has written, by the lines of JSON in its log. The batches "
    "of a step are not read: EMR copies its log to S3 later."
)
_RUNS: Final = "{:<20} {:<18} {:<10} {:<25} {:<25} {}"
_BATCHES: Final = "{:>6} {:<25} {:>10} {:>12} {:>8} {:>9} {:>14}"


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    """Add the two commands and their arguments."""
    commands = parser.add_subparsers(required=True, metavar="list|show")
    listing = commands.add_parser("list", help=_LIST, description=_LIST)
    listing.add_argument(
        "--count", type=expect_count(), default=20, metavar="N", help="runs at most [%(default)s]"
    )
    add_output(listing, "an object in a line for each run")
    listing.set_defaults(run=_run_list)
    show = commands.add_parser("show", help=_SHOW, description=_SHOW)
    show.add_argument("id", metavar="ID", help="its id, as list prints it")
    add_output(show)
    show.set_defaults(run=_run_show)
    for command in (listing, show):
        add_root(command, "consumer", environ)


def _run_list(flags: argparse.Namespace) -> int:
    found = list_runs(flags.consumer, flags.count)
    if flags.output == "json":
        for each in found:
            print_json(_make_json(each))
        return 0
    table = Table(_RUNS, "JOB", "ID", "STATE", "SUBMITTED", "SINCE", "DETAIL")
    for each in found:
        moments = (f"{moment:%Y-%m-%dT%H:%M:%S%z}" for moment in (each.created_at, each.updated_at))
        table.add(each.job, each.run.id, each.state, *moments, each.detail)
    table.close()
    return 0


def _run_show(flags: argparse.Namespace) -> int:
    found = find_run(flags.consumer, flags.id)
    batches = read_batches(found.run) if isinstance(found.run, JobRun) else None
    if flags.output == "json":
        print_json({**_make_json(found), "batches": batches})
        return 0
    print_line(f"{found.job}: {found.run} is {found.state} since {found.updated_at.isoformat()}")
    if found.detail:
        print_line(found.detail)
    if batches is None:
        print_line("its batches are in its log, which is elsewhere")
        return 0
    table = Table(_BATCHES, "BATCH", "ENDED", "ROWS", "DEAD LETTERS", "LOST", "SECONDS", "BEHIND")
    for each in batches:
        table.add(*_describe_batch(each))
    table.close()
    return 0


def _describe_batch(batch: Batch) -> list[str]:
    ended = None if batch.ended_at is None else batch.ended_at.isoformat(timespec="seconds")
    dead_letters = sum(batch.dead_letters.values())
    values = (batch.number, ended, batch.rows, dead_letters, batch.lost, batch.seconds)
    return ["" if each is None else str(each) for each in (*values, batch.records_behind)]


def _make_json(found: ListedRun) -> dict[str, Any]:
    run = found.run
    return {
        "job": found.job,
        "id": run.id,
        "applicationId": run.application_id if isinstance(run, JobRun) else None,
        "clusterId": run.cluster_id if isinstance(run, JobStep) else None,
        "region": run.region,
        "state": found.state,
        "detail": found.detail,
        "createdAt": found.created_at,
        "updatedAt": found.updated_at,
    }
