"""The outputs of a Terraform root, as `terraform output` prints them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from penstock.errors import OperationError

OTHER_ROOT: Final = "name another root with --producer or --consumer, or its profile with --profile"


def read_output(root: Path, name: str) -> dict[str, Any]:
    """Return one output of a Terraform root, which must be a map.

    Raises:
        OperationError: Terraform does not run or fails, or the root has no such output.
    """
    outputs = read_outputs(root)
    if name not in outputs:
        raise OperationError(f"found no output `{name}` in {root}; apply it first, or {OTHER_ROOT}")
    found: dict[str, Any] = outputs[name]
    return found


def read_outputs(root: Path) -> dict[str, Any]:
    """Return the values of the outputs of a Terraform root, by name.

    Raises:
        OperationError: Terraform does not run or fails.
    """
    command = ["terraform", f"-chdir={root}", "output", "-json", "-no-color"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise OperationError(
            f"terraform cannot be run: {error.strerror}; expected it on the PATH"
        ) from error
    if result.returncode != 0:
        reason = _find_reason(root, result.stderr)
        raise OperationError(f"the outputs of {root} cannot be read: {reason}")
    return {name: output["value"] for name, output in json.loads(result.stdout).items()}


def _find_reason(root: Path, stderr: str) -> str:
    """Return the reason why Terraform failed, as one sentence of its long message."""
    if not root.is_dir():
        return f"there is no such folder; {OTHER_ROOT}"
    if "terraform init" in stderr:
        remedy = f"run `terraform -chdir={root} init`, or {OTHER_ROOT}"
        return f"Terraform is not initialised there; {remedy}"
    lines = [line.strip(" │╷╵") for line in stderr.splitlines()]
    return next((line for line in lines if line.startswith("Error")), stderr.strip())


def choose_entry(entries: Mapping[str, Any], name: str, kind: str, remedy: str) -> Any:
    """Return the entry with this name.

    Args:
        entries: the entries by name.
        name: the name to look for.
        kind: the kind of the entries, for the message.
        remedy: what the user can do, for the message.

    Raises:
        OperationError: there is no such entry; the message lists the existing names.
    """
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise OperationError(f"found no {kind} {name!r}, expected one of: {known}; {remedy}")
    return entries[name]
