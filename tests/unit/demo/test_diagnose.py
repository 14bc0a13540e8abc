"""The demo chooses the lines of a log that are about a failure, without traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demo import diagnose
from demo.accounts import Account, Local
from demo.diagnose import choose_lines, diagnose_job
from penstock.extensions.doctor import Finding, Report, Side, State

_WARNING = json.dumps(
    {
        "level": "WARNING",
        "location": "_report:52",
        "message": "an event was not written",
        "function_name": "penstock-producer",
        "xray_trace_id": "1-2-3",
        "reason": "SchemaConflictError",
        "not_kept": "",
    }
)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("START RequestId: 1 Version: $LATEST", []),
        ('{"_aws": {"Timestamp": 1}, "Latency": [2.0]}', []),
        ('{"level": "INFO", "message": "all is well"}', []),
        ("[INFO]\tConnected", []),
        (_WARNING, ["WARNING an event was not written reason=SchemaConflictError"]),
        ("[ERROR] Gone: x\rTraceback (most recent call last):\r  File", ["[ERROR] Gone: x"]),
        ("[ERROR] Gone: x\nTraceback (most recent call last):", ["[ERROR] Gone: x"]),
        ("2026-11-21 1 Task timed out after 3.00 seconds", None),
        ("RequestId: 1 Error: Runtime exited with error: exit status 3", None),
    ],
)
def test_a_line_about_a_failure_is_shown(line, shown):
    assert choose_lines([line]) == ([line] if shown is None else shown)


def test_the_last_lines_are_shown_once_each():
    log = [f"[ERROR] {number // 2}" for number in range(40)]
    assert choose_lines(log) == [f"[ERROR] {number}" for number in range(12, 20)]


@pytest.mark.parametrize("causes", [0, 2])
def test_a_failed_job_is_reported_with_the_first_causes_its_run_and_its_log(monkeypatch, causes):
    broken = [
        Finding("zone", Side.CONSUMER, "222222222222", State.BROKEN, "no zone", code=f"c-{number}")
        for number in range(causes)
    ]
    monkeypatch.setattr(diagnose, "examine", lambda world, hops: Report(tuple(broken)))
    monkeypatch.setattr(Account, "outputs", lambda self: {})
    monkeypatch.setattr(Local, "endpoint", "http://127.0.0.1")
    run = {"jobRunId": "00b", "state": "FAILED", "stateDetails": "ExitCode: 1"}
    account = Account("consumer", "222222222222", Local(Path()), Path())
    found = diagnose_job(account, account, {}, run)
    ended = "job run 00b: FAILED ExitCode: 1"
    assert str(found) == f"consumer account 222222222222, {'zone: : no zone' if causes else ended}"
    assert found.lines[-1] == "its log: .venv/bin/python -m localcloud logs 00b --once"
    explained = [line for line in found.lines if "penstock explain" in line]
    assert explained == [f"  more      penstock explain c-{number}" for number in range(causes)]
