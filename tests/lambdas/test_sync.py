"""The sync function grows the columns of each table, and fails at the end if one could not be."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.errors import OperationError, SettingsError
from penstock.extensions.drift import Difference, SyncSettings, TableSettings
from penstock.extensions.drift.inspection import SyncedTable
from tests.stubs.leases import HeldByAnother

_ROOT = Path(__file__).parents[2]
_CONTEXT = {
    "function_name": "function",
    "memory_limit_in_mb": 512,
    "aws_request_id": "request",
    "invoked_function_arn": "arn:aws:lambda:eu-central-1:111122223333:function:function",
}
_ADDED = Difference("iceberg lake.readings", "note", "no column", "string")
_LEFT = Difference("iceberg lake.readings", "old", "string", "no column", "keep it, or drop it")


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch) -> Any:
    tables = {"lake.gone": ["other"], "lake.readings": ["sensor", "meter"]}
    monkeypatch.setenv("PENSTOCK_REGISTRY", "glue://plant?region=eu-central-1")
    monkeypatch.setenv("PENSTOCK_SYNC_TABLES", json.dumps(tables))
    spec = importlib.util.spec_from_file_location("sync_handler", _ROOT / "lambdas/sync/handler.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_table_that_cannot_be_synced_keeps_no_other_from_it(
    handler: Any, caplog: pytest.LogCaptureFixture
) -> None:
    asked = []

    def sync(url: str, schemas: Sequence[str], settings: TableSettings, *, apply: bool) -> Any:
        asked.append((url, schemas, settings.lake_table, apply))
        if settings.lake_table == "lake.gone":
            raise OperationError("schema other has no usable version")
        return (SyncedTable("lake.readings", (_ADDED,), (_LEFT,), applied=True),)

    handler.sync_lake = sync

    with pytest.raises(OperationError, match=r"lake\.gone: schema other has no usable version$"):
        handler.lambda_handler({}, SimpleNamespace(**_CONTEXT))

    url = "glue://plant?region=eu-central-1"
    assert asked == [
        (url, ("other",), "lake.gone", True),
        (url, ("sensor", "meter"), "lake.readings", True),
    ]
    told = caplog.records[-1].msg["lake.readings"]
    assert [(name, each["column"]) for name, found in told.items() for each in found] == [
        ("changes", "note"),
        ("left", "old"),
    ]


@pytest.mark.parametrize(
    "tables",
    ["lake.readings", '["lake.readings"]', '{"readings": ["a"]}', '{"l.t": "a"}', '{"l.t": []}'],
)
def test_tables_that_are_no_json_of_names_are_refused(tables: str) -> None:
    environ = {"PENSTOCK_REGISTRY": "memory://", "PENSTOCK_SYNC_TABLES": tables}

    with pytest.raises(SettingsError, match=r"PENSTOCK_SYNC_TABLES"):
        SyncSettings.from_environ(environ)


def test_an_invocation_beside_another_does_nothing(handler: Any) -> None:
    handler._lease = HeldByAnother()

    assert handler.lambda_handler({}, SimpleNamespace(**_CONTEXT)) == {"skipped": True}
