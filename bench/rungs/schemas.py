"""The rung of `penstock schema plan`: the CPU time and memory that a large folder takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.ladder import Form, Result, most
from penstock.framing import FrameKind
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    write_backup,
)
from penstock.schemas import Compatibility, canonical_form

_VERSIONS, _LEAST_FIELDS = 50, 4
_NAME = "template"
_CHANGED_SHARE = 50  # one schema of so many
_MEBIBYTE_IN_KIBIBYTES = 1024
_ANSWER_OF_CHANGES = 2


def _definition(name: str, version: int) -> dict[str, Any]:
    """Return a version of a schema, which has one field more than the one before."""
    names = [f"field_{at}" for at in range(_LEAST_FIELDS + version)]
    fields = [{"name": each, "type": ["null", "long"], "default": None} for each in names]
    return {"type": "record", "name": name, "fields": fields}


def _write_schema(
    folder: Path, name: str, texts: Sequence[str], *, is_changed: bool
) -> SchemaBackup:
    """Write the file of a schema, and return its versions, whose texts have another name."""
    newest = _VERSIONS if is_changed else _VERSIONS - 1
    (folder / f"{name}.avsc").write_text(json.dumps(_definition(name, newest)))
    versions = tuple(
        StoredVersion(
            str(uuid.uuid4()),
            f"bench/{name}",
            at,
            VersionStatus.AVAILABLE,
            text.replace(_NAME, name),
            None,
        )
        for at, text in enumerate(texts, 1)
    )
    return SchemaBackup(name, Compatibility.BACKWARD, 1, "AVRO", "", {}, versions)


def _plan(form: Form) -> Result:
    count = min(1_000, form.calls)
    with TemporaryDirectory() as place:
        folder, backup = Path(place, "schemas"), Path(place, "registry.jsonl")
        folder.mkdir()
        texts = [canonical_form(_definition(_NAME, version)) for version in range(_VERSIONS)]
        schemas = tuple(
            _write_schema(folder, f"schema_{at:04}", texts, is_changed=at % _CHANGED_SHARE == 0)
            for at in range(count)
        )
        backup.write_text(write_backup(RegistryBackup("bench", FrameKind.GLUE, schemas)))
        program = Path(sys.executable).with_name("penstock")
        command = [program, "schema", "plan", folder, "--against", f"backup:{backup}"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != _ANSWER_OF_CHANGES:
        raise AssertionError(f"the plan ended with {process.returncode}")
    seconds = round(used.ru_utime + used.ru_stime, 1)
    mebibytes = round(used.ru_maxrss / _MEBIBYTE_IN_KIBIBYTES)
    return Result(seconds, "seconds", {"mebibytes": float(mebibytes), "schemas": float(count)})


SCHEMAS = (
    most(
        "plan-1000",
        "CPU time of `penstock schema plan` for 1,000 schemas of 50 versions, 20 of them changed",
        10,
        _plan,
    ),
)
