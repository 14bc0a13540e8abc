"""Settings of a check: days, shares, and the flags of each table of a schedule."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from penstock.errors import SettingsError
from penstock.extensions.quality import QualitySettings, ScheduleSettings

_ENVIRON = {"PENSTOCK_WORKGROUP": "w"}
_NOW = datetime(2026, 11, 21, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "begin"),
    [
        ("7", datetime(2026, 11, 14, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("all", None),
    ],
)
def test_days_to_check(since: str, begin: datetime | None) -> None:
    assert QualitySettings.from_args(["--since", since], _ENVIRON).begin(_NOW) == begin


@pytest.mark.parametrize(
    "words",
    [["--since=0"], ["--since=yesterday"], ["--since=9999-01-01"], ["--since=20261121"],
     ["--late-share=2"],
     ["--null-shares=note"], ["--beside=readings"], ["--beside=lake.a,"], ["--errors-tables=a,,b"]],
)  # fmt: skip
def test_a_wrong_value_is_named(words: list[str]) -> None:
    with pytest.raises(SettingsError, match=words[0].partition("=")[0]):
        QualitySettings.from_args(words, _ENVIRON)


def test_a_table_of_a_schedule_has_its_own_flags() -> None:
    tables = {"lake.a": {"late-share": "0.5", "null-shares": "note=0.1,*=1"}, "lake.b": {}}
    environ = _ENVIRON | {
        "PENSTOCK_LATE_SHARE": "0.2",
        "PENSTOCK_QUALITY_TABLES": json.dumps(tables),
        "PENSTOCK_REPORTS": "s3://lake/quality",
    }
    schedule = ScheduleSettings.from_environ(environ)

    first, second = (schedule.of_table(table, environ, 100) for table in schedule.tables)

    assert (first.limits.late_share, second.limits.late_share) == (0.5, 0.2)
    assert first.limits.null_shares == {"note": 0.1, "*": 1.0}
    assert first.wait_seconds == 100


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ({"lake.a": {"late": "1"}}, "late of lake.a is no flag of penstock quality"),
        ({"a": {}}, "expected a JSON object"),
        ([], "expected a JSON object"),
    ],
)
def test_a_wrong_schedule_is_named(tables: object, problem: str) -> None:
    environ = {"PENSTOCK_QUALITY_TABLES": json.dumps(tables), "PENSTOCK_REPORTS": "r"}

    with pytest.raises(SettingsError, match=problem):
        ScheduleSettings.from_environ(environ)
