"""Logs as they grow: files of localcloud and its brokers, and the log groups of functions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import boto3

from localcloud.command.instance import Instance
from localcloud.errors import LocalcloudError

_POLL_SECONDS = 0.2
_CALLS = "calls.jsonl"


def follow_log(instance: Instance, folder: Path, name: str, *, once: bool) -> Iterator[str]:
    """Yield the lines of a log until localcloud ends, or only the existing lines.

    Raises:
        LocalcloudError: there is no such log; the message lists all names.
    """
    path = _files(folder).get(name)
    if path is not None:
        return _follow_file(instance, path, once=once)
    return _follow_function(instance, folder, name, once=once)


def _files(folder: Path) -> dict[str, Path]:
    """Return the log files by name: a server's log by its folder, the others by their file."""
    found = {"calls": folder / _CALLS}
    # `walk` leaves out folders that jobs delete meanwhile.
    places = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    for path in sorted(path for path in places if path.suffix == ".log"):
        inner = path.name == "server.log" and path.parent != folder
        found[path.parent.name if inner else path.stem] = path
    return found


def _follow_file(instance: Instance, path: Path, *, once: bool) -> Iterator[str]:
    with path.open(errors="replace") as log:
        while True:
            line = log.readline()
            if line:
                yield line.rstrip("\n")
            elif once or not instance.alive:
                return
            else:
                time.sleep(_POLL_SECONDS)


def _follow_function(instance: Instance, folder: Path, name: str, *, once: bool) -> Iterator[str]:
    account, region = _find_function(instance, folder, name)
    group = f"/aws/lambda/{name}"
    logs = boto3.client(
        "logs",
        region_name=region,
        endpoint_url=instance.endpoint,
        aws_access_key_id=account,
        aws_secret_access_key="localcloud",  # noqa: S106 - any value works
    )
    seen: set[str] = set()
    while True:
        for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group):
            new = [event for event in page["events"] if event["eventId"] not in seen]
            seen.update(event["eventId"] for event in new)
            yield from (event["message"].rstrip("\n") for event in new)
        if once or not instance.alive:
            return
        time.sleep(_POLL_SECONDS)


def _find_function(instance: Instance, folder: Path, name: str) -> tuple[str, str]:
    functions = instance.ask("status").get("functions", [])
    for function in functions:
        if function["name"] == name:
            return function["account"], function["region"]
    known = sorted({*_files(folder), *(function["name"] for function in functions)})
    raise LocalcloudError(f"found no log {name!r}, expected one of: {', '.join(known)}")
