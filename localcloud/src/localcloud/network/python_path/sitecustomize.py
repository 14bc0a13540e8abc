"""Runs at the start of every Python that localcloud starts in a VPC and sets its names.

This folder is first on PYTHONPATH and holds only this file.
"""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _load_names() -> None:
    path = _HERE.parent / "names.py"
    spec = importlib.util.spec_from_file_location("_localcloud_names", path)
    assert spec is not None and spec.loader is not None  # noqa: S101 - it is a file
    names = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(names)
    names.follow_hosts_file(Path(os.environ[names.HOSTS_VARIABLE]))


def _run_hidden() -> None:
    """Run the interpreter's own sitecustomize, which this one hides."""
    others = [folder for folder in sys.path if Path(folder).resolve() != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


_load_names()
_run_hidden()
