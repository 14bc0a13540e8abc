"""The assumptions of localcloud about AWS, each with source, date and the call that settles it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).parents[1] / "assumptions.toml"


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption; `settle` is the AWS command that would decide it."""

    id: str
    about: str
    says: str
    source: str
    date: str
    settle: str


def read_assumptions() -> list[Assumption]:
    """Return all assumptions, by service and id."""
    entries = tomllib.loads(_FILE.read_text())["assumption"]
    return sorted((Assumption(**each) for each in entries), key=lambda each: (each.about, each.id))
