"""Each assumption is data, and every place that speaks of one names its entry."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from localcloud.__main__ import main
from localcloud.command.assumptions import read_assumptions

_ROOT = Path(__file__).parents[2]
_GOTCHAS = _ROOT / "docs/gotchas.md"
_SECTION = re.compile(r"^### Assumed\n\n(.*?)\n\n", re.MULTILINE | re.DOTALL)
_SPEAKS = re.compile(r"^.*(?:\bAssumed\b|[Nn]ot documented by AWS|\bassumption `).*$", re.MULTILINE)


def _ids():
    return [each.id for each in read_assumptions()]


def test_every_assumption_has_all_its_parts():
    assert len(set(_ids())) == len(_ids())
    for each in read_assumptions():
        assert each.says.endswith(".")
        assert each.source
        assert each.settle
        assert date.fromisoformat(each.date)


def test_the_gotchas_name_every_assumption():
    named = [
        name
        for section in _SECTION.findall(_GOTCHAS.read_text())
        for name in re.findall(r"`([a-z-]+)`", section)
    ]
    assert sorted(named) == sorted(_ids())


@pytest.mark.parametrize("folder", ["docs", "src", "tests", "README.md", "CHANGELOG.md"])
def test_a_text_about_an_assumption_names_its_entry(folder):
    unnamed = [
        f"{path.relative_to(_ROOT)}: {line.strip()}"
        for path in [_ROOT / folder, *sorted((_ROOT / folder).rglob("*"))]
        if path.suffix in {".md", ".py"} and path != Path(__file__)
        for line in _SPEAKS.findall(path.read_text())
        if line != "### Assumed" and not any(f"`{name}`" in line for name in _ids())
    ]
    assert unnamed == []


def test_the_command_prints_each_with_what_settles_it(capsys):
    assert main(["assumptions"]) == 0
    text = capsys.readouterr().out
    assert "Athena: A query beyond its scan limit is CANCELLED" in text
    assert "  settle  aws athena get-query-execution" in text
    assert "  source  Athena User Guide" in text
    assert main(["assumptions", "--output", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [each["id"] for each in shown] == _ids()
    assert set(shown[0]) == {"id", "about", "says", "source", "date", "settle"}
