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
from botocore.model import ServiceModel
from botocore.session import get_session

from localcloud.door.operations import Operation, find_operation
from localcloud.door.service import Service
from localcloud.door.services import list_services, load_operations

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "localcloud/src"
_TESTS = ("localcloud/tests", "tests")
_HEAD = (
    "| operation | how far | without effect | source | test |\n| --- | --- | --- | --- | --- |\n"
)
_FORWARDS, _REFUSES = "forward", "raise unknown_operation("
_DRY_RUN = "DryRun"  # the descriptor of EC2 answers it


@dataclass(frozen=True, slots=True)
class Answer:
    """An operation: how far it is answered, the parameters without effect, and the code."""

    operation: str
    level: str
    ignored: tuple[str, ...] = ()
    code: Path | None = None

    def row(self, service: str) -> str:
        """Return its row of the table."""
        tested = find_test(self.operation)
        cells = (
            f"`{service}:{self.operation}`",
            self.level,
            ", ".join(self.ignored),
            _link(self.code) if self.code else "moto",
            _link(tested) if tested else "",
        )
        return f"| {' | '.join(cells)} |\n"


def fidelity_table() -> str:
    """Return the table of all operations."""
    rows = (
        answer.row(service.name)
        for _, (service, _) in sorted(list_services().items())
        for answer in list_answers(service)
    )
    return _HEAD + "".join(rows)


def undeclared_parameters() -> Iterator[str]:
    """Yield the parameters that no code reads and no descriptor calls without effect."""
    for service, package in list_services().values():
        load_operations(service.name)
        for operation in _load_model(service.name).operation_names:
            function = find_operation(service.name, operation)
            if function is None or refuses(function):
                continue
            silent = find_silent(service.name, operation, function, _folder(package))
            known = service.ignored.get(operation, "").split()
            for name in sorted(silent - {*known, _DRY_RUN}):
                told = f"{service.name}:{operation} does not read {name}"
                yield f"{told}: read it, or name it in `ignored` of the service's descriptor"


def list_answers(service: Service) -> Iterator[Answer]:
    """Yield the operations of a service that have code here, or that moto may answer."""
    load_operations(service.name)
    moto = service.moto
    keeps, ignores = (moto.keeps.split(), moto.ignores.split()) if moto else ([], [])
    for operation in sorted(_load_model(service.name).operation_names):
        function = find_operation(service.name, operation)
        ignored = tuple(service.ignored.get(operation, "").split())
        if function is not None:
            level = "partly" if ignored else "exact"
            code = Path(inspect.getfile(inspect.unwrap(function)))
            yield Answer(operation, "refused" if refuses(function) else level, ignored, code)
        elif operation in keeps:
            yield Answer(operation, "partly", ignored)
        elif operation in ignores:
            yield Answer(operation, "accepted and ignored")


def find_silent(service: str, operation: str, function: Operation, folder: Path) -> set[str]:
    """Return the parameters that the code of a service nowhere names.

    Where the function lets moto answer too, those that moto's code names are left out.
    """
    shape = _load_model(service).operation_model(operation).input_shape
    silent = set(shape.members if shape else ()) - set(_read(folder).split('"'))
    if _FORWARDS in inspect.getsource(function):
        silent = {n for n in silent if not {n, xform_name(n)} & _list_words_of_moto(service)}
    return silent


def refuses(function: Operation) -> bool:
    """Return whether an operation is always refused."""
    source = inspect.getsource(function)
    return _REFUSES in source and "return " not in source.rpartition('"""')[2]


def find_test(operation: str) -> Path | None:
    """Return the first test that calls an operation by boto3; None: Terraform alone calls it."""
    return _list_called().get(xform_name(operation))


def _folder(package: str) -> Path:
    return _SOURCE / package.replace(".", "/")


@functools.cache
def _list_words_of_moto(service: str) -> frozenset[str]:
    folder = "awslambda" if service == "lambda" else service.replace("-", "")
    found = importlib.util.find_spec(f"moto.{folder}")
    if found is None or not found.submodule_search_locations:
        return frozenset()
    return frozenset(re.findall(r"\w+", _read(Path(found.submodule_search_locations[0]))))


@functools.cache
def _read(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*.py")))


@functools.cache
def _load_model(service: str) -> ServiceModel:
    return get_session().get_service_model(service)


@functools.cache
def _list_called() -> dict[str, Path]:
    """Return the first test that has each name behind a dot."""
    found: dict[str, Path] = {}
    for folder in _TESTS:
        for path in sorted((_ROOT / folder).rglob("test_*.py")):
            for name in re.findall(r"\.(\w+)", path.read_text()):
                found.setdefault(name, path)
    return found


def _link(path: Path) -> str:
    place = path.relative_to(_ROOT)
    return f"[{place.stem}](../../{place.as_posix()})"
