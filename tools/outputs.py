"""What a root of Terraform has put out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tools.terraform import child_environ


class OutputError(Exception):
    """There is no such output, or nothing of that name in it, and why."""


def read_output(root: Path, name: str) -> dict[str, Any]:
    """Ask Terraform for one of a root's outputs that are maps.

    Raises:
        OutputError: Terraform cannot read it.
    """
    done = subprocess.run(
        ["terraform", f"-chdir={root}", "output", "-json", "-no-color"],
        env=child_environ(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise OutputError(f"terraform output of {root} failed: {done.stderr.strip()}")
    outputs = json.loads(done.stdout)
    if name not in outputs:
        raise OutputError(f"{root} has no output `{name}`; apply it first")
    found: dict[str, Any] = outputs[name]["value"]
    return found
