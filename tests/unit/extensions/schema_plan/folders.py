"""Folders of schemas, and what they are compared with."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main
from penstock.extensions.schema_plan.baseline import load_baseline
from penstock.extensions.schema_plan.operation import Plan, make_plan
from penstock.framing import FrameKind
from penstock.operations import load_programs
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    write_backup,
)
from penstock.schemas import Compatibility, canonical_form, load_schema

Write = Callable[..., Path]

BASE = {"deviceId": "string", "timestamp": "string"}


def make_exception(rule: str, path: str, because: str = "we know") -> str:
    """Return an exception as `exceptions.toml` has it."""
    return f'[[exception]]\nrule = "{rule}"\npath = "{path}"\nbecause = "{because}"\n'


def make_schema(name: str = "S", defaults: dict[str, Any] | None = None, **fields: Any) -> str:
    given = defaults or {}
    described = [
        {"name": field, "type": type_, **({"default": given[field]} if field in given else {})}
        for field, type_ in fields.items()
    ]
    return json.dumps({"type": "record", "name": name, "fields": described}, indent=1)


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write schemas by name to the folder `schemas` of the current folder, and return it."""
    monkeypatch.chdir(tmp_path)

    def write(**schemas: str) -> Path:
        folder = Path("schemas")
        folder.mkdir(exist_ok=True)
        for name, text in schemas.items():
            (folder / f"{name}.avsc").write_text(text)
        return folder

    return write


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command, and return its exit code and both outputs."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["schema", *words], {})
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


Run = Callable[..., tuple[int, str, str]]


def commit() -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], check=True)


def make_backup(path: str, *versions: str, **values: Any) -> str:
    """Write a backup of the schema `sensor` with these versions, and return how it is named."""
    stored = tuple(
        StoredVersion(
            f"00000000-0000-4000-8000-{number:012}", "r/sensor", number,
            VersionStatus.AVAILABLE, canonical_form(load_schema(text)), None,
        )
        for number, text in enumerate(versions, 1)
    )  # fmt: skip
    described = {"compatibility": Compatibility.BACKWARD, "checkpoint": 1, **values}
    schema = SchemaBackup(
        "sensor", data_format="AVRO", description="", tags={}, versions=stored, **described
    )
    Path(path).write_text(write_backup(RegistryBackup("r", FrameKind.GLUE, (schema,))))
    return f"backup:{path}"


def plan_folder(folder: Path, against: str, *outputs: Path) -> Plan:
    return make_plan(folder, load_baseline(against, "", folder), load_programs(outputs))
