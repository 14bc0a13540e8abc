"""Imports point one way: a room may import only the rooms that this table gives it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tools.import_table import MAY_IMPORT

_ROOT = Path(__file__).parents[3]

# The wings of `penstock.spark`, and the modules beside them.
_WINGS_MAY_IMPORT = {
    "rows": set(),
    "columns": set(),
    "active_session": set(),
    "settings": set(),
    "filter_counts": {"decoding"},
    "decoding": {"rows", "columns"},
    "state": {"settings"},
    "failures": {"rows", "filter_counts"},
    "lake": {"rows", "columns", "failures", "active_session"},
    "sinks": {"rows", "columns", "failures", "lake"},
    "query": {
        *("rows", "settings", "decoding", "sinks", "state", "filter_counts", "failures"),
        "active_session",
    },
    "session": {"decoding", "lake", "settings", "state"},
}
# Third-party packages that only these rooms may import.
_KEPT_TO = {
    "pyspark": {"spark", "extensions"},
    "kafka": {"kafka"},
    "boto3": set(),
    "urllib3": {"registry"},
    "botocore": {
        "aws",
        "credentials",
        "registry",
        "kafka",
        "sinks",
        "producing",
        "extensions",
        "operations",
    },
    "pyarrow": {"extensions"},
    "pyiceberg": {"extensions"},
}
# localcloud is a product of its own.
_LOCAL = _ROOT / "localcloud/src"
_LOCAL_TESTS = _ROOT / "localcloud/tests"
_NOT_IN_LOCALCLOUD = {"bench", "demo", "jobs", "lambdas", "penstock", "systems", "tests", "tools"}


def _imported(source: str, package: str) -> Iterator[str]:
    """Full names of all that a module imports, in functions and TYPE_CHECKING blocks too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            prefix = ".".join(above) if node.level else ""
            base = ".".join(part for part in (prefix, node.module) if part)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _offences(source: str, room: str, package: str) -> list[str]:
    """What a module of `room` imports and should not."""
    found = []
    for name in _imported(source, package):
        top, _, rest = name.partition(".")
        target = rest.split(".")[0]
        if top in {"localcloud", "tests", "bench", "systems"}:
            found.append(f"{room} imports {name}: nothing that ships may")
        elif top == "penstock" and target != room and target not in MAY_IMPORT[room]:
            found.append(f"{room} imports {name}: upward or sideways")
        elif room not in _KEPT_TO.get(top, {room}):
            found.append(f"{room} imports {name}: kept to {sorted(_KEPT_TO[top])}")
    return found


def _wing_offences(source: str, wing: str, package: str) -> list[str]:
    """What a module of a wing of `penstock.spark` imports and should not."""
    below = {f"penstock.spark.{each}." for each in (_WINGS_MAY_IMPORT[wing] | {wing})}
    return [
        f"spark/{wing} imports {name}: upward or sideways"
        for name in _imported(source, package)
        if name.startswith("penstock.spark") and not name.startswith(tuple(below))
    ]


def _extension_offences(source: str, extension: str, package: str) -> list[str]:
    """Return the imports of other extensions in a module of an extension."""
    return [
        f"extensions/{extension} imports {name}: sideways"
        for name in _imported(source, package)
        if name.startswith("penstock.extensions.")
        and not name.startswith(f"penstock.extensions.{extension}.")
    ]


def _modules() -> list[Path]:
    return [path for path in sorted((_ROOT / "src/penstock").rglob("*.py")) if path.parent.name]


def test_modules_import_downward_only() -> None:
    assert {path: found for path in _modules() if (found := _upward(path))} == {}


def _upward(path: Path) -> list[str]:
    parts, source = path.relative_to(_ROOT / "src").with_suffix("").parts, path.read_text()
    package = ".".join(parts[:-1])
    if parts == ("penstock", "__init__"):
        return list(_imported(source, package))
    in_wing = parts[1] == "spark" and parts[2] != "__init__"
    inner = _wing_offences(source, parts[2], package) if in_wing else []
    if parts[1] == "extensions" and parts[2] != "__init__":
        inner = _extension_offences(source, parts[2], package)
    return [*_offences(source, parts[1], package), *inner]


@pytest.mark.parametrize(
    "path", sorted(_ROOT.glob("lambdas/*/handler.py")), ids=lambda path: path.parent.name
)
def test_a_handler_knows_penstock_and_what_is_made_for_handlers(path: Path) -> None:
    tops = {name.partition(".")[0] for name in _imported(path.read_text(), "")}
    for_handlers = {"aws_lambda_powertools", "snapshot_restore_py"}

    assert tops - sys.stdlib_module_names - for_handlers == {"penstock"}


@pytest.mark.parametrize(
    ("room", "line", "expected"),
    [
        ("schemas", "from penstock.registry import load_registry", "upward or sideways"),
        ("schemas", "from penstock import framing", "upward or sideways"),
        ("framing", "from ..kafka import build_producer", "upward or sideways"),
        ("registry", "import penstock.kafka.topics", "upward or sideways"),
        ("kafka", "def f():\n    import localcloud", "nothing that ships may"),
        ("schemas", "import boto3", "kept to"),
        ("registry", "from kafka import KafkaProducer", "kept to"),
        ("sinks", "from pyspark.sql import functions", "kept to"),
        ("cli", "from penstock.producing import RejectedEvents", "upward or sideways"),
        ("cli", "from botocore.config import Config", "kept to"),
        ("cli", "from penstock.extensions import quality", "upward or sideways"),
        ("spark", "import penstock.extensions.quality", "upward or sideways"),
    ],
)
def test_an_upward_import_is_found(room: str, line: str, expected: str) -> None:
    offences = _offences(line, room, f"penstock.{room}")

    assert len(offences) == 1
    assert expected in offences[0]


@pytest.mark.parametrize(
    ("wing", "line"),
    [
        ("lake", "from penstock.spark.query.batch import Batches"),
        ("lake", "from penstock.spark import query"),
        ("decoding", "from ..state import lease"),
        ("rows", "import penstock.spark.lake.lake"),
    ],
)
def test_an_upward_import_between_wings_is_found(wing: str, line: str) -> None:
    package = "penstock.spark" if wing == "rows" else f"penstock.spark.{wing}"

    assert len(_wing_offences(line, wing, package)) == 1


def test_an_import_of_another_extension_is_found() -> None:
    package = "penstock.extensions.quality"

    assert _extension_offences("from penstock.extensions.drift import sync", "quality", package)
    assert _extension_offences("from ..drift import sync", "quality", package)
    assert not _extension_offences("from penstock.extensions.quality import Report", "quality", "")


def _localcloud() -> dict[str, Path]:
    """Return the modules of localcloud by name."""
    return {
        ".".join(path.relative_to(_LOCAL).with_suffix("").parts).removesuffix(".__init__"): path
        for path in _LOCAL.rglob("*.py")
    }


def test_no_modules_of_localcloud_import_each_other() -> None:
    modules = _localcloud()
    graph = {
        name: {
            found
            for imported in _imported(path.read_text(), name)
            if (found := imported if imported in modules else imported.rpartition(".")[0]) != name
        }
        for name, path in modules.items()
    }

    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def _foreign(source: str, package: str) -> set[str]:
    """Return the parts of this clone that a module of localcloud imports, and that are not its."""
    return {name.partition(".")[0] for name in _imported(source, package)} & _NOT_IN_LOCALCLOUD


def test_localcloud_runs_without_the_rest_of_the_clone() -> None:
    found = {path: _foreign(path.read_text(), "") for path in _localcloud().values()}

    assert {path: names for path, names in found.items() if names} == {}
    assert _foreign("def f():\n    from penstock.cli import printable", "") == {"penstock"}


def _foreign_in_test(source: str) -> set[str]:
    """Return what a test of localcloud imports from the rest of the clone and its tests."""
    tests = {
        ".".join(path.relative_to(_LOCAL_TESTS.parent).with_suffix("").parts)
        for path in _LOCAL_TESTS.rglob("*.py")
    }
    return {
        name
        for name in _imported(source, "")
        if name.partition(".")[0] in _NOT_IN_LOCALCLOUD
        and not {name, name.rpartition(".")[0]} & tests
    }


def test_the_tests_of_localcloud_run_without_the_rest_of_the_clone() -> None:
    found = {path: _foreign_in_test(path.read_text()) for path in _LOCAL_TESTS.rglob("*.py")}

    assert len(found) > 100
    assert {path: names for path, names in found.items() if names} == {}
    assert _foreign_in_test("from penstock.errors import PenstockError")
    assert _foreign_in_test("from systems.java import JavaProgram")
    assert not _foreign_in_test("from tests.vpcs import make_vpc")


def test_every_room_is_in_the_table() -> None:
    rooms = {path.stem for path in (_ROOT / "src/penstock").iterdir() if path.stem[0] != "_"}

    assert rooms - {"py"} <= set(MAY_IMPORT)  # py.typed is no room
    wings = {path.stem for path in (_ROOT / "src/penstock/spark").iterdir()}
    assert {wing for wing in wings if wing[0] != "_"} == set(_WINGS_MAY_IMPORT)
