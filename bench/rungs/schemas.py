"""The rung of `penstock schema plan`: the CPU time and memory that a large folder takes."""

from __future__ import annotations

import json
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
# The kernel counts the memory of the process that starts it too, unless it asks for its own.
_PROGRAM = """
import re, sys, time
from pathlib import Path
from penstock.cli import main
code = main(["schema", "plan", sys.argv[1], "--against", sys.argv[2]])
peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]
print(code, time.process_time(), peak)
"""


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
        command = [sys.executable, "-c", _PROGRAM, str(folder), f"backup:{backup}"]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
    code, seconds, kibibytes = ended.stdout.splitlines()[-1].split()
    if int(code) != _ANSWER_OF_CHANGES:
        raise AssertionError(f"the plan ended with {code}: {ended.stderr}")
    mebibytes = round(int(kibibytes) / _MEBIBYTE_IN_KIBIBYTES)
    parts = {"mebibytes": float(mebibytes), "schemas": float(count)}
    return Result(round(float(seconds), 1), "seconds", parts)


SCHEMAS = (
    most(
        "plan-1000",
        "How much CPU time does `penstock schema plan` take for 1,000 schemas of 50 versions?",
        10,
        _plan,
    ),
)
