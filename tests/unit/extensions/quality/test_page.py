"""A report as JSON and as a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock.errors import OperationError
from penstock.extensions.quality import (
    Bucket,
    ColumnNulls,
    Day,
    Gap,
    Partition,
    QueryCost,
    Report,
    RuleResult,
    RuleState,
    Version,
)
from penstock.extensions.quality.page import write_page
from penstock.extensions.quality.store import save_report

REPORT = Report(
    table="lake.readings",
    checked_at=datetime(2026, 11, 21, 18, tzinfo=UTC),
    since=datetime(2026, 11, 14, tzinfo=UTC),
    rows=30,
    rules=(
        RuleResult("rows", RuleState.HOLDS, 30, 1, "30 rows, expected at least 1"),
        RuleResult("required-nulls", RuleState.FAILED, 2, 0, "<b> is null"),
        RuleResult("lag", RuleState.NOT_CHECKED, None, 10_000, "Kafka was not asked"),
    ),
    days=(Day("2026-11-20", 10, 0, 0), Day("2026-11-21", 20, 5, 1)),
    columns=(ColumnNulls("<b>", "int", 30, 2, 2), ColumnNulls("_offset", "bigint", 30, 0, 0)),
    versions=(Version("id-1", "sensor", 1, 30),),
    partitions=(Partition("sensor", 0, 30, 0, 31, missing_offsets=2, unexplained=1),),
    gaps=(Gap("sensor", 0, 7, 7),),
    lateness=(Bucket(None, -60, 0), Bucket(-60, 0, 1), Bucket(604_800, None, 29)),
    queries=(QueryCost("q-1", 2**21, 900),),
)


def test_the_page_shows_the_report_without_scripts_and_links() -> None:
    page = write_page(REPORT)

    assert "<script" not in page
    assert re.findall(r"(?:src|href)=|https?://(?!www\.w3\.org/2000/svg)", page) == []
    assert "1 rule failed" in page
    assert "&lt;b&gt; is null" in page
    assert "<b>" not in page
    assert "30 rows, since 2026-11-14, checked at 2026-11-21 18:00:00 UTC" in page
    assert "scanned 2.0 MiB: q-1" in page


def test_names_on_the_page_are_no_html() -> None:
    name = "<b>"
    hostile = replace(
        REPORT,
        table=name,
        versions=(Version(name, name, 1, 30),),
        partitions=(Partition(name, 0, 30, 0, 31, missing_offsets=2, unexplained=1),),
        gaps=(Gap(name, 0, 7, 7),),
        queries=(QueryCost(name, 2**21, 900),),
    )

    assert name not in write_page(hostile)


def test_each_plot_is_an_image_of_its_own() -> None:
    plots = re.findall(r"<svg.*?</svg>", write_page(REPORT), re.DOTALL)

    assert len(plots) == 3
    for drawn in plots:
        title = ElementTree.fromstring(drawn).find("{http://www.w3.org/2000/svg}title")  # noqa: S314
        assert title is not None


def test_a_page_without_rows_is_whole() -> None:
    empty = replace(REPORT, rows=0, days=(), columns=(), partitions=(), versions=(), gaps=())

    assert write_page(empty).endswith("</body></html>\n")


def test_the_json_has_the_documented_names(tmp_path: Path) -> None:
    places = save_report(REPORT, str(tmp_path))

    assert [Path(each).relative_to(tmp_path).as_posix() for each in places] == [
        "lake.readings/20261121T180000Z.json",
        "lake.readings/20261121T180000Z.html",
    ]
    found = json.loads(Path(places[0]).read_text())
    assert (found["format"], found["failed"], found["checkedAt"]) == (
        1, 1, "2026-11-21T18:00:00+00:00",
    )  # fmt: skip
    assert found["rules"][1]["state"] == "failed"
    assert found["partitions"][0]["missingOffsets"] == 2
    assert found["columns"][0] == {
        "column": "<b>", "type": "int", "rows": 30, "nulls": 2, "requiredNulls": 2,
    }  # fmt: skip


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OperationError, match=r"file/lake\.readings/.* cannot be written: "):
        save_report(REPORT, str(tmp_path / "file"))
