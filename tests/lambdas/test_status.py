"""The status function publishes what it counts, and fails only after it has published the rest."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import OperationError
from penstock.operations import DeadLetterCount, KeptEvents, Status, VersionsLeft

Metric = tuple[str, list[float], dict[str, str]]
Invoke = Callable[["FakeReader"], tuple[list[Metric], str]]

_HANDLER = Path(__file__).parents[2] / "lambdas/status/handler.py"
_CONTEXT = SimpleNamespace(
    function_name="penstock-status",
    memory_limit_in_mb=512,
    aws_request_id="request",
    invoked_function_arn="arn:aws:lambda:eu-central-1:111122223333:function:penstock-status",
    get_remaining_time_in_millis=lambda: 300_000,
)

_KEPT = (KeptEvents("penstock-producer", 60, True), KeptEvents("penstock-orders", 0, True))
_LETTERS = (DeadLetterCount("errors", 3, {"oversize": 1, "truncated": 2}, 7_300, 9, True),)
_VERSIONS = (VersionsLeft("penstock-producer", "sensor", 100, 20, 4),)


@dataclass
class FakeReader:
    """Finds this open, and perhaps takes too long over the versions."""

    status: Status
    seconds: list[float] = field(default_factory=list)
    is_killed: bool = False

    def read_open(self) -> Status:
        return replace(self.status, versions_left=())

    def read_versions(self, seconds: float) -> Status:
        self.seconds.append(seconds)
        if self.is_killed:
            raise SystemExit
        return Status(versions_left=self.status.versions_left)


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Invoke the function where this is open; return its metrics and the error.

    A metric is its name, value and dimensions.
    """
    monkeypatch.setenv("PENSTOCK_STATUS_TABLES", "errors")
    spec = importlib.util.spec_from_file_location("status_handler", _HANDLER)
    assert spec and spec.loader
    handler = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(handler)

    def invoke(reader: FakeReader) -> tuple[list[Metric], str]:
        handler._reader = reader
        error = ""
        try:
            handler.lambda_handler({}, _CONTEXT)
        except (OperationError, SystemExit) as raised:
            error = str(raised)
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return [_read_metric(line) for line in lines if "_aws" in line], error

    return invoke


def _read_metric(line: dict[str, Any]) -> Metric:
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Penstock"
    (metric,), (names,) = directive["Metrics"], directive["Dimensions"]
    return metric["Name"], line[metric["Name"]], {name: line[name] for name in names}


def test_each_count_is_a_metric(invoke: Invoke) -> None:
    metrics, error = invoke(FakeReader(Status(_KEPT, _LETTERS, _VERSIONS)))

    assert (metrics, error) == (
        [
            ("KeptEvents", [60.0], {"FunctionName": "penstock-producer"}),
            ("KeptEvents", [0.0], {"FunctionName": "penstock-orders"}),
            ("OpenDeadLetters", [3.0], {"Table": "errors"}),
            ("OldestDeadLetter", [7_300.0], {"Table": "errors"}),
            ("OpenDeadLetters", [1.0], {"Table": "errors", "Reason": "oversize"}),
            ("OpenDeadLetters", [2.0], {"Table": "errors", "Reason": "truncated"}),
            ("VersionsLeft", [4.0], {"FunctionName": "penstock-producer", "Schema": "sensor"}),
        ],
        "",
    )


def test_what_cannot_be_counted_has_no_metric_and_fails_the_function_at_its_end(
    invoke: Invoke,
) -> None:
    status = Status(
        (KeptEvents("f", problem="SlowDown"), _KEPT[1]),
        (DeadLetterCount("errors", problem="throttled"),),
        (VersionsLeft("f", "sensor", 100, 20, problem="no answer"),),
    )

    metrics, error = invoke(FakeReader(status))

    assert metrics == [("KeptEvents", [0.0], {"FunctionName": "penstock-orders"})]
    assert error == "not everything was counted: SlowDown; throttled; no answer"


def test_what_is_open_is_published_before_versions_are_read_in_the_time_that_is_left(
    invoke: Invoke,
) -> None:
    reader = FakeReader(Status(_KEPT, _LETTERS, _VERSIONS), is_killed=True)

    metrics, _ = invoke(reader)

    assert [name for name, *_ in metrics] == ["KeptEvents"] * 2 + [
        "OpenDeadLetters",
        "OldestDeadLetter",
        *["OpenDeadLetters"] * 2,
    ]
    assert reader.seconds == [290]
