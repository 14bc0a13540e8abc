"""`pip install penstock[cli,console,lake]` brings all that the command may import."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

from packaging.requirements import Requirement

_ROOT = Path(__file__).parents[3]


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _closure(names: set[str]) -> set[str]:
    """Return packages with all that they require themselves."""
    found: set[str] = set()
    while names:
        found |= names
        asked = [Requirement(line) for name in names for line in requires(name) or ()]
        fits = [each for each in asked if not each.marker or each.marker.evaluate({"extra": ""})]
        names = {each.name.lower() for each in fits} - found
    return found


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower()


def test_the_extras_have_all_that_the_command_imports() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    brought = _closure(set(map(_name, extras["cli"] + extras["console"] + extras["lake"])))
    source = _ROOT / "src/penstock"
    modules = [path for path in source.rglob("*.py") if "spark" not in path.parts]
    imported = {name for path in modules for name in _imported(path)}
    third_party = imported - sys.stdlib_module_names - {"penstock", "mypy_boto3_sts"}  # for types

    known = packages_distributions()
    missing = {
        name for name in third_party if brought.isdisjoint(each.lower() for each in known[name])
    }

    assert {"botocore", "kafka"} <= third_party
    assert missing == set()
