"""What jobs/replay.py is told: which records, and where they go."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import Reason, SettingsError
from penstock.sinks import DEFAULT_KEEP_DAYS, Selection, WhichRows
from penstock.spark import ReplaySettings
from penstock.spark.settings.consume import read_settings
from penstock.spark.sinks.iceberg import ICEBERG

_ID = "00000000-0000-4000-8000-00000000000a"
_NEEDED = {
    "--errors-table": "errors",
    "--parked-bucket": "parked",
    "--consume-checkpoint": "s3://b/consume",
    "--lake-table": "lake.readings",
    "--registry": "memory://",
}


def _read(flags: dict[str, str]) -> ReplaySettings:
    words = [word for flag in flags.items() for word in flag]
    return read_settings(ReplaySettings, words, {}, str)


def test_open_rows_are_selected_by_default() -> None:
    settings = _read(_NEEDED)

    assert settings.selection.which is WhichRows.OPEN
    assert settings.selection.select(1_000) == Selection()
    assert settings.sinks.sinks["iceberg"].names == {"--lake-table": "lake.readings"}


def test_the_days_that_done_rows_are_kept() -> None:
    told = Path(__file__).parents[3].joinpath("infra/modules/job/main.tf").read_text()
    ((flag, name),) = re.findall(r'"(--keep[a-z-]+)", tostring\(var\.platform\.(.+)\)\]', told)

    assert (_read(_NEEDED).keep_settled_days, name) == (DEFAULT_KEEP_DAYS, "retention.settled_days")
    assert _read(_NEEDED | {flag: "30"}).keep_settled_days == 30


def test_conditions_of_a_selection() -> None:
    settings = _read(
        _NEEDED
        | {
            "--which": "due",
            "--since": "1970-01-01T00:00:01+00:00",
            "--until": "1970-01-01T01:00:02+01:00",
            "--reason": "unknown-schema, truncated",
            "--schema": f"{_ID},{_ID.upper()}",
            "--attempts": "2",
            "--id": "sensor/0/1/5, sensor/0/1/5/spark",
        }
    )

    assert settings.selection.select(1_000) == Selection(
        1_000,
        2_000,
        frozenset({Reason.UNKNOWN_SCHEMA, Reason.TRUNCATED}),
        frozenset({_ID}),
        2,
        1_000,
        frozenset({"sensor/0/1/5", "sensor/0/1/5/spark"}),
    )


@pytest.mark.parametrize(
    ("flag", "text", "problem"),
    [
        ("--which", "all", "open for all that are neither done nor parked"),
        ("--since", "2026-11-21T08:00:00", "a time like 2026-11-21T08:00:00+00:00"),
        ("--until", "soon", "a time like"),
        ("--reason", "bad", "reasons, separated by commas, of unknown-framing, "),
        ("--schema", "v1", "ids of schema versions"),
        ("--attempts", "-1", "a number from 0"),
        ("--id", "sensor/0/1", "ids of dead letters, like sensor/0/41/1795234015788/spark"),
        ("--keep-settled-days", "0", "a number from 1"),
    ],
)
def test_invalid_values_are_named(flag: str, text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        _read(_NEEDED | {flag: text})

    (found,) = caught.value.problems
    assert found.startswith(f"{flag} is {text!r}, expected ")
    assert problem in found


def test_until_must_be_after_since() -> None:
    times = {"--since": "2026-11-21T08:00:00+00:00", "--until": "2026-11-21T08:00:00+00:00"}
    with pytest.raises(SettingsError) as caught:
        _read(_NEEDED | times)

    assert caught.value.problems == (
        "--until is 2026-11-21 08:00:00+00:00, expected a time after --since "
        "2026-11-21 08:00:00+00:00",
    )


def test_a_kind_of_sinks_that_would_write_records_twice_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = {"iceberg": replace(ICEBERG, open_replayed=None)}
    monkeypatch.setattr("penstock.spark.query.settings.load_kinds", lambda: kinds)

    with pytest.raises(SettingsError) as caught:
        _read(_NEEDED)

    assert caught.value.problems == (
        "--lake-table is lake.readings, expected a sink with open_replayed: iceberg has none",
    )


@pytest.mark.parametrize("flag", ["--lake-table", "--parquet-path"])
def test_the_consuming_jobs_checkpoint_is_required(flag: str) -> None:
    needed = {
        name: text
        for name, text in _NEEDED.items()
        if name not in {"--consume-checkpoint", "--lake-table"}
    }

    with pytest.raises(SettingsError) as caught:
        _read(needed | {flag: "lake.readings"})

    assert caught.value.problems == (
        "--consume-checkpoint is missing, expected that of the job that writes lake.readings",
    )
