"""Modules and functions stay small enough to be read at one sitting."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_HANDLERS = sorted(_ROOT.glob("lambdas/*/handler.py"))
_PRODUCT = ("src", "localcloud/src", "lambdas", "jobs", "demo", "examples", "tools")


def _modules(room: str) -> list[Path]:
    return sorted((_ROOT / room).rglob("*.py"))


def _long_functions(source: str, limit: int) -> list[str]:
    return [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > limit
    ]


# One test for each room: one for each file would cost more than the reading.
@pytest.mark.parametrize("room", [*_PRODUCT, "bench", "campaign", "proof", "systems", "tests"])
def test_modules_are_short(room: str) -> None:
    # The error tree is one page on purpose: who looks for an error looks in one place.
    limits = {_ROOT / "src/penstock/errors.py": 500}
    lines = {path: len(path.read_text().splitlines()) for path in _modules(room)}

    assert lines
    assert [str(path) for path, count in lines.items() if count > limits.get(path, 400)] == []


@pytest.mark.parametrize("room", _PRODUCT)
def test_functions_are_short(room: str) -> None:
    long = {
        str(path): _long_functions(path.read_text(), 40)
        for path in _modules(room)
        if "tests" not in path.relative_to(_ROOT).parts
    }

    assert long
    assert {path: found for path, found in long.items() if found} == {}


@pytest.mark.parametrize("path", _HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_only_wires(path: Path) -> None:
    source = path.read_text()

    assert len(source.splitlines()) <= 80
    assert _long_functions(source, 40) == []


def test_a_long_function_is_found() -> None:
    assert _long_functions("def f():\n" + "    x = 1\n" * 40, 40) == ["f: 41 lines"]
