"""Modules and functions stay small enough to be read at one sitting."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_HANDLERS = sorted(_ROOT.glob("lambdas/*/handler.py"))
_PRODUCT = ("src", "localcloud", "lambdas", "jobs", "demo", "examples", "tools")


def _modules(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (_ROOT / room).rglob("*.py"))


def _long_functions(source: str, limit: int) -> list[str]:
    return [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > limit
    ]


def _name(path: Path) -> str:
    return str(path.relative_to(_ROOT))


@pytest.mark.parametrize("path", _modules(*_PRODUCT, "bench", "tests"), ids=_name)
def test_a_module_is_short(path: Path) -> None:
    # The error tree is one page on purpose: who looks for an error looks in one place.
    limit = 500 if path == _ROOT / "src/penstock/errors.py" else 400

    assert len(path.read_text().splitlines()) <= limit


@pytest.mark.parametrize(
    "path", [path for path in _modules(*_PRODUCT) if "tests" not in path.parts], ids=_name
)
def test_its_functions_are_short(path: Path) -> None:
    assert _long_functions(path.read_text(), 40) == []


@pytest.mark.parametrize("path", _HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_only_wires(path: Path) -> None:
    source = path.read_text()

    assert len(source.splitlines()) <= 80
    assert _long_functions(source, 40) == []


def test_a_long_function_is_found() -> None:
    assert _long_functions("def f():\n" + "    x = 1\n" * 40, 40) == ["f: 41 lines"]
