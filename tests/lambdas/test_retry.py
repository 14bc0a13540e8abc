"""The retry function counts what waits, and retries what is due."""

from __future__ import annotations

import importlib.util
import json
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.sinks import ParkedRecords
from tests.unit.staging.joining import PLAN, World, open_tables

_ROOT = Path(__file__).parents[2]
_ENVIRON = {
    "AWS_REGION": "eu-central-1",
    "PENSTOCK_ERRORS_TABLE": "errors",
    "PENSTOCK_PARKED_BUCKET": "parked",
    "PENSTOCK_PLAN": str(_ROOT / "tests/data/staging.json"),
    "PENSTOCK_STAGED_TABLES": "p-{table}",
    "PENSTOCK_WAITING_TABLE": "waiting",
}


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in _ENVIRON.items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location(
        "retry_handler", _ROOT / "lambdas/retry/handler.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_that_ends_early_has_told_what_waits(
    handler: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(open_tables(PLAN))
    trip = {"buyer": "c1", "order": "o1", "line": 2}
    world.stage("trips", [(trip | {"trip": f"t{n}"}, n) for n in range(150)])
    handler._joiner = world.joiner
    handler._parked = ParkedRecords(world.store)
    left = chain([60_000, 60_000], repeat(10_000))
    context = SimpleNamespace(
        function_name="function",
        memory_limit_in_mb=512,
        aws_request_id="request",
        invoked_function_arn="arn:aws:lambda:eu-central-1:111122223333:function:function",
        get_remaining_time_in_millis=lambda: next(left),
    )

    counts = handler.lambda_handler({}, context)

    assert (counts["waiting"], counts["is_complete"]) == (100, False)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["RecordsWaiting"] for line in told if "RecordsWaiting" in line] == [[150.0]]
