"""How far localcloud answers each operation of AWS, from its code: the tables of fidelity.md."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from botocore import xform_name
from localcloud.door.operations import find_operation
from localcloud.door.service import Service
from localcloud.door.services import list_services, load_operations
from localcloud.door.wire import get_service_model

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "localcloud/src"
_TESTS = ("localcloud/tests", "tests")
_HEAD = "| operation | how far | without effect | code | a test |\n| --- | --- | --- | --- | --- |\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """An operation: how far it is answered, by what, and the parameters without effect."""

    operation: str
    level: str
    ignored: tuple[str, ...]
    code: Path | None

    def row(self, service: str) -> str:
        """Return its row of the table."""
        code = "moto" if self.code is None else _link(self.code)
        tested = find_test(service, self.operation)
        ignored = ", ".join(self.ignored)
        return (
            f"| {self.operation} | {self.level} | {ignored} | {code} | "
            f"{_link(tested) if tested else ''} |\n"
        )


def fidelity_tables() -> str:
    """Return a table for each service."""
    parts = []
    for name, (service, package) in sorted(list_services().items()):
        load_operations(name)
        folder = _SOURCE / package.replace(".", "/")
        rows = "".join(answer.row(name) for answer in list_answers(service, folder))
        shows = "" if service.moto is None else _SHOWN
        parts.append(f"### {name}\n\n{shows}{_HEAD + rows if rows else ''}")
    return "\n".join(parts)


_SHOWN = ""


def list_answers(service: Service, folder: Path) -> Iterator[Answer]:
    """Yield the operations of a service that have code here, or that moto may answer."""
    model = get_service_model(service.name)
    named = set(_read(folder).split('"'))
    moto = service.moto
    keeps, ignores = (moto.keeps.split(), moto.ignores.split()) if moto else ([], [])
    for operation in sorted(model.operation_names):
        function = find_operation(service.name, operation)
        told = tuple(service.ignored.get(operation, "").split())
        if function is not None:
            shape = model.operation_model(operation).input_shape
            members = set(shape.members) if shape else set()
            silent = members - named
            if "forward" in inspect.getsource(function) and silent:
                silent = {m for m in silent if m not in _moto_names(service.name) and xform_name(m) not in _moto_names(service.name)}
            ignored = tuple(sorted(silent | set(told)))
            code = Path(inspect.getfile(function))
            yield Answer(operation, "partly" if ignored else "exact", ignored, code)
        elif operation in keeps:
            yield Answer(operation, "kept by moto", told, None)
        elif operation in ignores:
            yield Answer(operation, "accepted and ignored", (), None)


@functools.cache
def _moto_names(service: str) -> frozenset[str]:
    folder = "awslambda" if service == "lambda" else service.replace("-", "")
    found = importlib.util.find_spec(f"moto.{folder}")
    if found is None or not found.submodule_search_locations:
        return frozenset()
    return frozenset(re.findall(r"\w+", _read(Path(found.submodule_search_locations[0]))))


@functools.cache
def _read(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*.py")))


def find_test(service: str, operation: str) -> Path | None:
    """Return the test that calls an operation most often by boto3."""
    called = re.compile(rf"\.{xform_name(operation)}\b")
    counts = {path: len(called.findall(text)) for path, text in _list_tests().items()}
    best = max(counts, key=lambda path: (counts[path], path.as_posix()))
    return best if counts[best] else None


@functools.cache
def _list_tests() -> dict[Path, str]:
    paths = [path for folder in _TESTS for path in sorted((_ROOT / folder).rglob("*.py"))]
    return {path: path.read_text() for path in paths}


def _link(path: Path) -> str:
    place = path.relative_to(_ROOT)
    return f"[{place.name}](../../{place.as_posix()})"
