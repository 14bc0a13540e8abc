"""The page of outcomes, its picture, and the file that they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proof.changes import CHANGES
from proof.oracle import Verdict
from proof.page import fill_page, write_page
from proof.results import FILE, Cell, Results

_ROOT = Path(__file__).parents[3]
_NAMES = "processor cores java spark iceberg kafka".split()


@pytest.fixture
def results() -> Results:
    versions = "penstock iceberg-kafka-connect apicurio-registry-utils-converter flink-clients"
    versions += " iceberg-flink-runtime-2.0"
    run: dict[str, Any] = {
        "began": "2026-11-27T08:00:00+00:00",
        "minutes": 15,
        "commit": "abc",
        "versions": dict.fromkeys(versions.split(), "1"),
        "machine": dict.fromkeys(_NAMES, "2"),
    }
    kept = {each.name: Cell(Verdict.KEPT, "", "") for each in CHANGES}
    stopped = Cell(Verdict.STOPPED, "15 of 25 records nowhere", "java.lang.Error: `no`")
    return Results(run, {"penstock-job": kept, "iceberg-sink": kept | {"rename": stopped}})


def test_a_row_has_the_verdict_of_each_system(results: Results) -> None:
    lines = fill_page("<!-- changes -->", results).splitlines()

    assert lines[0] == "| change | Penstock, Spark job | Iceberg sink |"
    assert len(lines) == 32
    assert "| a field is renamed with an alias, another one without | kept | **stopped** |" in lines


def test_a_verdict_other_than_kept_has_its_reason(results: Results) -> None:
    text = fill_page("<!-- reasons -->", results)

    assert text == (
        "**A field is renamed with an alias, another one without**\n\n- Iceberg sink: stopped;"
        " 15 of 25 records nowhere; `Error: 'no'`\n"
    )


def test_verdicts_are_counted(results: Results) -> None:
    assert "| Iceberg sink | 29 |  |  | 1 |  |  |" in fill_page("<!-- counts -->", results)


def test_the_picture_has_a_square_for_each_cell(results: Results, tmp_path: Path) -> None:
    write_page(results, tmp_path)

    drawn = (tmp_path / "proof.svg").read_text()
    assert drawn.count(">kept</text>") == 59 + 1  # the legend has one too
    assert drawn.count(">stopped</text>") == 2


def test_results_are_read_as_they_were_written(results: Results, tmp_path: Path) -> None:
    results.write(tmp_path / "results.json")

    assert Results.read(tmp_path / "results.json") == results


def test_the_page_is_that_of_the_committed_results(tmp_path: Path) -> None:
    write_page(Results.read(FILE), tmp_path)

    for name in ("proof.md", "proof.svg"):
        assert (tmp_path / name).read_text() == (_ROOT / "docs" / name).read_text()
