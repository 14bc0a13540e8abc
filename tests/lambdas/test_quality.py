"""The quality function checks each table, and fails at the end if one could not be checked."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import OperationError
from penstock.extensions.quality import QualitySettings, StoredReport, TopicSettings
from penstock.extensions.quality.store import save_report
from tests.stubs.leases import HeldByAnother
from tests.unit.extensions.quality.test_page import REPORT

_ROOT = Path(__file__).parents[2]
_CONTEXT = {
    "function_name": "function",
    "memory_limit_in_mb": 512,
    "aws_request_id": "request",
    "invoked_function_arn": "arn:aws:lambda:eu-central-1:111122223333:function:function",
}


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    tables = {"lake.gone": {}, "lake.readings": {"late-share": "0.5"}}
    monkeypatch.setenv("PENSTOCK_QUALITY_TABLES", json.dumps(tables))
    monkeypatch.setenv("PENSTOCK_REPORTS", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_WORKGROUP", "lake")
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "b-1:9096")
    monkeypatch.setenv("KAFKA_SECURITY", "tls")
    spec = importlib.util.spec_from_file_location(
        "quality_handler", _ROOT / "lambdas/quality/handler.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _call(handler: Any, *left_ms: int) -> None:
    left = iter(left_ms)
    context = SimpleNamespace(**_CONTEXT, get_remaining_time_in_millis=lambda: next(left))
    handler.lambda_handler({}, context)


def test_a_table_that_cannot_be_checked_keeps_no_other_from_it(
    handler: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[QualitySettings, TopicSettings | None]] = []

    def check(
        settings: QualitySettings, table: str, topics: TopicSettings | None, into: str
    ) -> Any:
        asked.append((settings, topics))
        if table == "lake.gone":
            raise OperationError("there is no such table")
        report = replace(REPORT, table=table)
        return StoredReport(report, save_report(report, into))

    handler.check_quality = check

    with pytest.raises(OperationError, match=r"lake\.gone: there is no such table$"):
        _call(handler, 900_000, 100_000)

    assert [(each.limits.late_share, each.wait_seconds) for each, _ in asked] == [
        (0.01, 870),
        (0.5, 70),
    ]
    assert [topics.kafka.bootstrap_servers for _, topics in asked if topics] == [("b-1:9096",)] * 2
    assert len(list(tmp_path.glob("lake.readings/*"))) == 2
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [
        (line["Table"], line["QualityRulesFailed"]) for line in told if "QualityRulesFailed" in line
    ] == [("lake.readings", [1.0])]


def test_tables_for_which_no_time_is_left_are_named(handler: Any) -> None:
    handler.check_quality = None

    with pytest.raises(OperationError, match=r"lake\.gone: .*; lake\.readings: the function has"):
        _call(handler, 30_000, 29_000)


def test_an_invocation_beside_another_does_nothing(handler: Any) -> None:
    handler._lease = HeldByAnother()

    assert handler.lambda_handler({}, SimpleNamespace(**_CONTEXT)) == {"skipped": True}
