"""A text about something that AWS does not document names its entry in localcloud's list."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from localcloud.command.assumptions import read_assumptions

_ROOT = Path(__file__).parents[3]
_SPEAKS = re.compile(r"^.*(?:\bAssumed\b|[Nn]ot documented by AWS|\bassumption `).*$", re.MULTILINE)


@pytest.mark.parametrize("folder", ["docs", "src", "infra"])
def test_a_text_about_an_assumption_names_its_entry(folder: str) -> None:
    names = {f"`{each.id}`" for each in read_assumptions()}
    texts = [
        path
        for path in (_ROOT / folder).rglob("*")
        if path.suffix in {".md", ".py", ".tf"} and "adr" not in path.parts
    ]
    lines = [line for path in texts for line in _SPEAKS.findall(path.read_text())]

    assert texts
    assert [line for line in lines if not any(name in line for name in names)] == []
