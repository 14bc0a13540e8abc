"""A package's `__all__` is exactly what its modules define without a leading underscore.

`penstock.spark` has wings, whose modules know each other: it exports what has a user elsewhere.
"""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_SOURCE = _ROOT / "src"
_USERS = ("jobs", "lambdas", "examples", "demo", "tools", "bench")
_PACKAGES = sorted(
    ".".join(path.parent.relative_to(_SOURCE).parts)
    for path in _SOURCE.glob("penstock/*/__init__.py")
    if path.parent.name != "spark"
)


def _public_names(source: str) -> set[str]:
    """Names that a module defines at its top level and does not hide."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.add(name)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("package", _PACKAGES)
def test_a_package_exports_exactly_its_public_names(package: str) -> None:
    folder = _SOURCE / Path(*package.split("."))
    modules = [path for path in folder.rglob("*.py") if not path.name.startswith("_")]
    defined = set().union(*(_public_names(path.read_text()) for path in modules))

    exported = importlib.import_module(package).__all__

    assert len(exported) == len(set(exported))
    assert set(exported) == defined


def test_every_export_of_spark_has_a_user() -> None:
    used = {
        alias.name
        for folder in _USERS
        for path in (_ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "penstock.spark"
        for alias in node.names
    }
    exported = importlib.import_module("penstock.spark").__all__

    assert len(exported) == len(set(exported))
    assert set(exported) == used


def test_hidden_names_do_not_count() -> None:
    source = "a = 1\n_b = 2\nC: int = 3\ndef d(): ...\nclass _E: ...\nclass F:\n    g = 1\n"

    assert _public_names(source) == {"a", "C", "d", "F"}
