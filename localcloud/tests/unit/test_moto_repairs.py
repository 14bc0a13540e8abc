"""moto as localcloud changes it: in one module, which notices that moto is another one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from localcloud import moto_repairs
from localcloud.errors import MotoChangedError
from localcloud.moto_repairs import REPAIRS, Repair, describe, repair_moto

_LOCALCLOUD = Path(moto_repairs.__file__).parent


class Kind:
    limit = 3

    def method(self, name, *, size=0):
        """As some class of moto has one."""


def test_the_pinned_moto_has_the_expected_signatures():
    repair_moto()
    for repair in REPAIRS:
        if repair.replacement is not None:
            assert getattr(repair.owner, repair.name) == repair.replacement


@pytest.mark.parametrize(
    ("name", "expected"),
    [("method", "(self, name, size)"), ("limit", "int"), ("missing", "nothing")],
)
def test_an_expected_signature_passes(name, expected):
    Repair(Kind, name, expected).check()


@pytest.mark.parametrize(
    ("name", "expected", "found"),
    [
        ("method", "(self, name)", r"\(self, name, size\)"),
        ("method", "nothing", r"\(self, name, size\)"),
        ("limit", "bool", "int"),
        ("missing", "(self)", "nothing"),
    ],
)
def test_a_moto_that_has_changed_is_refused_with_its_version(name, expected, found):
    with pytest.raises(
        MotoChangedError, match=rf"moto 5\.\d+\.\d+ has {found} as Kind.{name}, expected "
    ):
        Repair(Kind, name, expected).check()


def test_each_repair_takes_the_parameters_of_the_original():
    for repair in REPAIRS:
        if callable(repair.replacement) and repair.expected != "nothing":
            given = describe(repair.replacement)
            assert given.count(",") == repair.expected.count(",") or "args, kwargs" in given


def _touches(path: Path) -> list[str]:
    """What a module takes from moto's private names, or assigns to names of moto."""
    tree = ast.parse(path.read_text())
    names, found = set(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "moto":
            names |= {alias.asname or alias.name for alias in node.names}
            found += [alias.name for alias in node.names if alias.name.startswith("_")]
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                found += [ast.unparse(target)] if target.value.id in names else []
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            private = node.attr.startswith("_") and not node.attr.startswith("__")
            found += [ast.unparse(node)] if private and node.value.id in names else []
    return found


def test_moto_is_changed_nowhere_else():
    touched = {
        path: _touches(path)
        for path in _LOCALCLOUD.rglob("*.py")
        if path.name != "moto_repairs.py" and "tests" not in path.relative_to(_LOCALCLOUD).parts
    }

    assert len(touched) > 100
    assert {path: found for path, found in touched.items() if found} == {}
