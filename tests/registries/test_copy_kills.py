"""`penstock registry copy` is killed at any call, or by the operating system, and continued."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localcloud.cloud import Cloud
from localcloud.faults import Faults, Kind
from localcloud.testing import wait_until
from penstock.aws import AwsClient
from penstock.errors import SchemaNotFoundError
from penstock.registry import RegistryAdmin, load_admin
from penstock.registry._http_client import HttpClient
from systems.trials import Trials
from tests.fixtures.backups import ACCOUNT
from tests.fixtures.copies import Move, glue, move, shape

__all__ = ["glue", "move"]

pytestmark = pytest.mark.java

_COMMAND = "from penstock.cli import main; raise SystemExit(main())"


class _Killed(BaseException):
    """The end of the process."""


@dataclass
class Killer:
    """Ends the copy at one of its calls: before it has an effect, or after."""

    left: int = 0

    def killing(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0 and self.before:
                raise _Killed
            try:
                return plain(*words, **more)
            finally:
                if self.left == 0:  # also if the answer is an error
                    raise _Killed

        return call

    before: bool = True


@pytest.mark.parametrize("to_glue", [True, False])
def test_a_copy_that_is_killed_at_any_call_is_continued(
    move: Move,
    to_glue: bool,
    monkeypatch: pytest.MonkeyPatch,
    trials: Callable[[int, int], int],
    fault: Callable[[str], Trials],
) -> None:
    kills = fault("copy-killed")
    source, target, empty = move.url, move.glue_url, move.empty_glue
    if not to_glue:
        assert move.copy(source, target)[0] == 0
        Path(move.map_file).unlink()  # the other direction has other ids
        source, target, empty = target, source, move.apicurio.empty
    killer = Killer()
    changed = (AwsClient, "call") if to_glue else (HttpClient, "read")
    monkeypatch.setattr(*changed, killer.killing(getattr(*changed)))
    at, step = 1, trials(23, 1)  # at night it is killed at each of its calls
    while True:
        killer.left = 0
        empty()
        killer.left, killer.before = at, at % 2 == 1
        try:
            move.copy(source, target)
        except _Killed:
            killer.left = 0
        else:
            break
        code, report = move.copy(source, target)
        assert (code, report["complete"]) == (0, True), f"killed at call {at}: {report}"
        origin, made = load_admin(source), load_admin(target)
        kills.count_seen(1)
        kills.check(
            [(each["name"], shape(made, each["newName"])) for each in report["schemas"]],
            {each["name"]: shape(origin, each["name"]) for each in report["schemas"]},
        )
        at += step

    assert at > 30  # it makes more calls than a step, so that by day it is killed at call 24 too


def test_a_process_that_is_killed_in_the_middle_of_a_schema_is_continued(
    move: Move, cloud: Cloud
) -> None:
    url, glue_url, faults = move.url, move.glue_url, cloud.state(Faults)
    fault = faults.add(kind=Kind.HANG, service="glue", operation="UpdateSchema", account=ACCOUNT)
    keys = {"AWS_ACCESS_KEY_ID": ACCOUNT, "AWS_SECRET_ACCESS_KEY": "any"}
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, "registry", "copy", url, glue_url, "--map", move.map_file],
        env=os.environ | keys | {"AWS_ENDPOINT_URL": cloud.endpoint},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until("the copy is in the middle of a schema", lambda: fault.broken)
    finally:
        process.kill()
        process.wait(90)
        faults.clear()
    assert not _is_whole(load_admin(url), load_admin(glue_url), "readings")

    code, report = move.copy(url, glue_url)

    assert (code, report["complete"], report["mapWritten"]) == (0, True, False), report
    assert _is_whole(load_admin(url), load_admin(glue_url), "readings")


def _is_whole(source: RegistryAdmin, target: RegistryAdmin, name: str) -> bool:
    try:
        return shape(source, name) == shape(target, name)
    except SchemaNotFoundError:
        return False
