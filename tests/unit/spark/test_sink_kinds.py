"""The kinds of sinks: those of the core, and those that entry points bring."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from penstock.errors import SettingsError
from penstock.spark.sinks import kinds


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    kinds.load_kinds.cache_clear()
    yield
    kinds.load_kinds.cache_clear()


def test_an_extension_brings_its_sink_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(kinds.load_kinds()) == ["dynamodb", "iceberg", "parquet"]

    monkeypatch.setattr(kinds, "entry_points", lambda group: [])
    kinds.load_kinds.cache_clear()

    assert list(kinds.load_kinds()) == ["dynamodb", "iceberg"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("json:loads", "is function, expected a SinkKind"),
        ("json:SINK", r"\(json:SINK\) cannot be loaded: AttributeError: module 'json' has no .*"),
        ("no_such:SINK", r"\(no_such:SINK\) cannot be loaded: ModuleNotFoundError: No module .*"),
        ("a_typo:SINK", r"\(a_typo:SINK\) cannot be loaded: NameError: name 'tru' is not defined"),
    ],
)
def test_an_entry_point_that_is_no_sink_is_named(
    value: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a_typo.py").write_text("SINK = tru")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("own", value, "penstock.sinks")
    monkeypatch.setattr(kinds, "entry_points", lambda group: [point])

    with pytest.raises(SettingsError, match=f"^penstock.sinks: own {problem}$"):
        kinds.load_kinds()
