"""The proof, the campaign and the bench share `systems`, and their oracles no code of Penstock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.structure.test_imports import _imported

_ROOT = Path(__file__).parents[3]
_ROOMS = ("bench", "campaign", "proof")
# What decides, what reads, and what is sent.
_INDEPENDENT = (
    *("systems.matching", "systems.processes", "systems.readers"),
    *("proof.oracle", "proof.sent", "proof.change", "proof.changes", "proof.faults.oracle"),
    *("campaign.oracle", "campaign.readers", "campaign.history", "campaign.events"),
    *("campaign.growth", "campaign.watching", "campaign.joins"),
    *("campaign.copies", "campaign.changes"),
)


def _foreign(source: str) -> set[str]:
    """Return what a module imports from this repository beyond the independent modules."""
    names = {name for name in _imported(source, "proof") if not name.startswith("__future__")}
    ours = {"penstock", "localcloud", "proof", "campaign", "bench", "demo", "tests", "tools"}
    ours |= {"jobs", "lambdas", "systems"}
    local = {name for name in names if name.partition(".")[0] in ours}
    return {name for name in local if name.rpartition(".")[0] not in _INDEPENDENT}


@pytest.mark.parametrize("module", _INDEPENDENT)
def test_the_oracle_knows_nothing_of_penstock(module: str) -> None:
    assert _foreign((_ROOT / f"{module.replace('.', '/')}.py").read_text()) == set()


@pytest.mark.parametrize(
    "line",
    [
        "import penstock.framing",
        "from penstock.schemas import Schema",
        "from proof.run import Run",
        "from campaign.platform import Platform",
        "from localcloud.jars import JARS",
    ],
)
def test_an_import_of_penstock_is_found(line: str) -> None:
    assert _foreign(line) != set()


@pytest.mark.parametrize("room", [*_ROOMS, "systems"])
def test_a_room_knows_no_other(room: str) -> None:
    others = {*_ROOMS} - {room}
    found = {
        str(path.relative_to(_ROOT)): known
        for path in (_ROOT / room).rglob("*.py")
        if (known := _rooms_in(path.read_text()) & others)
    }
    assert found == {}


@pytest.mark.parametrize("room", [*_ROOMS, "demo", "systems", "tools"])
def test_no_room_knows_the_tests(room: str) -> None:
    found = [
        str(path.relative_to(_ROOT))
        for path in (_ROOT / room).rglob("*.py")
        if any(name.partition(".")[0] == "tests" for name in _imported(path.read_text(), "any"))
    ]
    assert found == []


def test_a_room_in_another_is_found() -> None:
    assert _rooms_in("def run():\n    from proof.run import Run\nimport systems") == {"proof"}


def _rooms_in(source: str) -> set[str]:
    return {name.partition(".")[0] for name in _imported(source, "any")} & {*_ROOMS}
