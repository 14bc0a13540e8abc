"""A package exports what code elsewhere imports, and the types of that; nothing else."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_SOURCE = _ROOT / "src"
_USERS = ("jobs", "lambdas", "examples", "demo", "tools", "bench", "proof", "campaign", "systems")
_PAGES = ("README.md", "docs")
_SHOWN = re.compile(r"^ *from (penstock\.[\w.]+) import ([\w, ]+)", re.MULTILINE)
_PACKAGES = sorted(
    ".".join(path.parent.relative_to(_SOURCE).parts)
    for pattern in (
        "penstock/*/__init__.py",
        "penstock/extensions/*/__init__.py",
        "penstock/extensions/*/spark/__init__.py",
    )
    for path in _SOURCE.glob(pattern)
    if path.parent.relative_to(_SOURCE / "penstock").as_posix() not in {"spark", "extensions"}
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


def _types(source: str) -> set[str]:
    """Names in the annotations and among the base classes of a module."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.AnnAssign(annotation=type_) | ast.arg(annotation=type_):
                found.append(type_)
            case ast.FunctionDef(returns=type_):
                found.append(type_)
            case ast.ClassDef(bases=types):
                found.extend(types)
    return {
        name.id
        for each in found
        if each is not None
        for name in ast.walk(each)
        if isinstance(name, ast.Name)
    }


def _imports(*folders: str) -> Iterator[tuple[Path, str, str]]:
    """Each `from penstock... import name` in these folders: the file, the module and the name."""
    for path in (path for folder in folders for path in (_ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("penstock."):
                yield from ((path, str(node.module), alias.name) for alias in node.names)


@cache
def _imported_elsewhere() -> dict[str, set[str]]:
    """The names that other code, or code in a document, imports from each package."""
    names: dict[str, set[str]] = {}
    for path, module, name in [*_imports("src", *_USERS), *_shown()]:
        package = _package_of(module)
        if _SOURCE.joinpath(*package.split(".")) not in path.parents:
            names.setdefault(package, set()).add(name)
    return names


def _shown() -> Iterator[tuple[Path, str, str]]:
    """Each such import in the documents."""
    for page in (path for each in _PAGES for path in (_ROOT / each, *(_ROOT / each).rglob("*.md"))):
        if page.is_file():
            for module, names in _SHOWN.findall(page.read_text()):
                yield from ((page, module, name.strip()) for name in names.split(","))


def _package_of(module: str) -> str:
    parts = module.split(".")
    if parts[1] == "extensions":  # the part of an extension that needs Spark has its own exports
        return ".".join(parts[: 4 if parts[3:4] == ["spark"] else 3])
    return ".".join(parts[:2])


@pytest.mark.parametrize("package", _PACKAGES)
def test_every_export_has_a_user_or_is_a_type_of_one(package: str) -> None:
    folder = _SOURCE / Path(*package.split("."))
    texts = {path: path.read_text() for path in folder.rglob("*.py")}
    modules = [text for path, text in texts.items() if not path.name.startswith("_")]
    exported = getattr(importlib.import_module(package), "__all__", ())

    assert len(exported) == len(set(exported))
    assert set(exported) <= set().union(*map(_public_names, modules))
    used = _imported_elsewhere().get(package, set()).union(*map(_types, texts.values()))
    assert set(exported) - used == set()


def test_rooms_are_imported_by_their_packages() -> None:
    inner = [
        f"{path.relative_to(_ROOT)}: {module}"
        for path, module, _ in _imports("src", "jobs", "lambdas", "examples", "demo", "tools")
        if (package := _package_of(module)) != module
        and package != "penstock.spark"
        and _SOURCE.joinpath(*package.split(".")) not in path.parents
    ]

    assert inner == []


def test_every_export_of_spark_has_a_user() -> None:
    used = {name for _, module, name in _imports(*_USERS) if module == "penstock.spark"}
    exported = importlib.import_module("penstock.spark").__all__

    assert len(exported) == len(set(exported))
    assert set(exported) == used


@pytest.mark.parametrize("folder", ["jobs/sales", "examples"])
def test_programs_of_users_import_the_public_api_alone(folder: str) -> None:
    page = (_ROOT / "docs/extending.md").read_text()
    public = set(re.findall(r"^\| `(penstock\.\w+)` \|", page, re.MULTILINE))

    imports = list(_imports(folder))
    assert imports
    assert [each for each in imports if each[1] not in public] == []
    assert [each for each in imports if each[2] not in _exports(each[1])] == []
    assert not any("import penstock" in path.read_text() for path in (_ROOT / folder).rglob("*.py"))


def test_the_package_of_entry_points_on_the_page_has_what_the_examples_have() -> None:
    page = (_ROOT / "docs/extending.md").read_text()
    project = tomllib.loads(re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0])
    modules = project["tool"]["setuptools"]["py-modules"]

    assert modules == sorted(path.stem for path in (_ROOT / "examples").glob("own_*.py"))
    for group, points in project["project"]["entry-points"].items():
        for name, value in points.items():
            assert EntryPoint(name, f"examples.{value}", group).load()


def test_the_package_does_not_know_the_sales_jobs() -> None:
    texts = {path.name: path.read_text().lower() for path in _SOURCE.rglob("*.py")}

    assert [name for name, text in texts.items() if re.search(r"\bsales\b", text)] == []


def _exports(module: str) -> set[str]:
    """The names that a package exports, or that a module defines and does not hide."""
    loaded = importlib.import_module(module)
    return set(getattr(loaded, "__all__", ())) or _public_names(
        Path(str(loaded.__file__)).read_text()
    )


def test_hidden_names_do_not_count() -> None:
    source = "a = 1\n_b = 2\nC: int = 3\ndef d(): ...\nclass _E: ...\nclass F:\n    g = 1\n"

    assert _public_names(source) == {"a", "C", "d", "F"}
