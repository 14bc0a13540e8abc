"""moto as localcloud changes it: in one module, which notices that moto is another one."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path

import pytest
from botocore.utils import parse_to_aware_datetime
from moto.moto_server import werkzeug_app

from localcloud import moto_repairs
from localcloud.errors import MotoChangedError
from localcloud.moto_repairs import CHECKED_VERSION, REPAIRS, Repair, describe, repair_moto

_MOST_KILOBYTES = 120_000  # at the start; it is 82,000
_LOCALCLOUD = Path(moto_repairs.__file__).parent


class Kind:
    limit = 3

    def method(self, name, *, size=0):
        """As some class of moto has one."""


def _find(repair):
    return attrgetter(repair.name)(importlib.import_module(repair.module))


def test_the_pinned_moto_is_repaired_where_it_is_imported():
    repair_moto()

    for repair in REPAIRS:
        found = _find(repair)  # a changed signature raises here
        if repair.change is not None and callable(found):
            assert found.__module__ != repair.module or hasattr(found, "cache_info")
    assert werkzeug_app.DISABLE_GLOBAL_CORS


@pytest.fixture
def teapot(tmp_path, monkeypatch):
    """Repair `pour` of a module that is not imported yet, as if it were moto's."""
    (tmp_path / "teapot.py").write_text("def pour(cup):\n    return 'tea'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))

    def repair(expected):
        change = Repair("teapot", "pour", expected, lambda pour: lambda cup: f"{pour(cup)}, milk")
        monkeypatch.setattr(moto_repairs, "REPAIRS", (change,))
        repair_moto.__wrapped__()

    yield repair
    sys.modules.pop("teapot", None)


def test_a_module_is_repaired_when_it_is_imported(teapot):
    teapot("(cup)")

    assert "teapot" not in sys.modules
    assert importlib.import_module("teapot").pour("cup") == "tea, milk"


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-21T08:00:00Z", "2026-11-21T08:00:00.123456Z", "20261121T080000Z"),
        *("2026-11-21T08Z", "21 Nov 2026 08:00 Z", "Sat, 21 Nov 2026 08:00:00 GMT", "0"),
    ],
)
def test_a_time_is_read_as_botocore_reads_it(text):
    repaired = moto_repairs._read_iso(parse_to_aware_datetime)

    assert repaired(text) == parse_to_aware_datetime(text)


def test_only_symmetric_keys_share_the_private_key_that_they_do_not_use():
    make = moto_repairs._share_unused(lambda _spec: object())

    assert make("SYMMETRIC_DEFAULT") is make("SYMMETRIC_DEFAULT")
    assert make("RSA_2048") is not make("RSA_2048")


def test_another_moto_is_checked_at_the_start(teapot, monkeypatch):
    monkeypatch.setattr(moto_repairs, "CHECKED_VERSION", "5.2.4")

    with pytest.raises(MotoChangedError, match=r"has \(cup\) as pour of teapot, expected \(pot\)"):
        teapot("(pot)")


def test_the_checked_version_is_the_one_that_is_installed():
    project = (_LOCALCLOUD.parents[1] / "pyproject.toml").read_text()

    assert f"]=={CHECKED_VERSION}" in project
    assert version("moto") == CHECKED_VERSION


def test_the_start_imports_neither_ec2_of_moto_nor_an_operation():
    code = """
import sys
import localcloud.door.server
from localcloud.door.services import list_services
found = {"moto.ec2", "moto.glue", "pyarrow", "duckdb", "sqlglot", "pyiceberg"}
for service, package in list_services().values():
    found |= {f"{package}.{each}" for each in service.operations}
print(sorted(found & sys.modules.keys()))
print(open('/proc/self/status').read().partition('VmRSS:')[2].split()[0])
"""

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    imported, kilobytes = found.stdout.splitlines()
    assert imported == "[]"
    assert int(kilobytes) < _MOST_KILOBYTES


@pytest.mark.parametrize(
    ("name", "expected"),
    [("method", "(self, name, size)"), ("limit", "int"), ("missing", "nothing")],
)
def test_an_expected_signature_passes(name, expected):
    Repair(__name__, f"Kind.{name}", expected).apply()


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
        MotoChangedError, match=rf"moto 5\.\d+\.\d+ has {found} as Kind.{name} of .*, expected "
    ):
        Repair(__name__, f"Kind.{name}", expected).apply()


def test_each_repair_takes_the_parameters_of_the_original():
    for repair in REPAIRS:
        if repair.change is not None and repair.expected[0] == "(":
            given = describe(_find(repair))
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
