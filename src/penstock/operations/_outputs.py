"""Outputs of a Terraform root."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import OperationError


def read_output(root: Path, name: str) -> dict[str, Any]:
    """Return one output of a Terraform root, which must be a map.

    Raises:
        OperationError: Terraform does not run or fails, or the root has no such output.
    """
    outputs = read_outputs(root)
    if name not in outputs:
        raise OperationError(f"found no output `{name}` in {root}; apply it first")
    found: dict[str, Any] = outputs[name]
    return found


def read_outputs(root: Path) -> dict[str, Any]:
    """Return the values of the outputs of a Terraform root, by name.

    Raises:
        OperationError: Terraform does not run or fails.
    """
    command = ["terraform", f"-chdir={root}", "output", "-json", "-no-color"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise OperationError(f"terraform cannot be run: {error}") from error
    if done.returncode != 0:
        raise OperationError(f"the outputs of {root} cannot be read: {_find_reason(root, done)}")
    return {name: output["value"] for name, output in json.loads(done.stdout).items()}


def _find_reason(root: Path, done: subprocess.CompletedProcess[str]) -> str:
    """Return why Terraform failed, in a sentence: it explains in a dozen lines."""
    if not root.is_dir():
        return "there is no such folder; name the Terraform root with a flag or in a profile"
    if "terraform init" in done.stderr:
        return f"Terraform is not initialised there; run `terraform -chdir={root} init`"
    lines = [line.strip(" │╷╵") for line in done.stderr.splitlines()]
    return next((line for line in lines if line.startswith("Error")), done.stderr.strip())


def choose(entries: Mapping[str, Any], name: str, kind: str, remedy: str) -> Any:
    """Return the entry with the name.

    Raises:
        OperationError: there is no such entry; the message lists the existing names.
    """
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise OperationError(f"found no {kind} {name!r}, expected one of: {known}; {remedy}")
    return entries[name]
