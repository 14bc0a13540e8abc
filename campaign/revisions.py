"""The sources of other commits, with their jar, from which a job may begin."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[1]
_COPIES: Final = _ROOT / ".cache/revisions"
_NEEDED: Final = ("jobs", "src", "jars", "tools", "tests")  # by a job, and by who builds its jar
_JARS: Final = "jars/spark/lib"


def copy_sources(commit: str) -> Path:
    """Return the folder with the sources of a commit and the jar that they build.

    The jars of others are those of this clone.

    Raises:
        subprocess.CalledProcessError: the commit is not known, or its jar cannot be built.
    """
    copy = _COPIES / commit
    if not copy.exists():
        _COPIES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_COPIES) as folder:
            scratch = Path(folder, "sources")
            scratch.mkdir()
            git = ["git", "-C", str(_ROOT), "archive", commit, *_NEEDED]
            archive = subprocess.run(git, stdout=subprocess.PIPE, check=True).stdout
            subprocess.run(["tar", "-x", "-C", str(scratch)], input=archive, check=True)
            (scratch / _JARS).symlink_to(_ROOT / _JARS)
            build = [sys.executable, "-m", "tools.build_decoder"]
            subprocess.run(build, cwd=scratch, stdout=subprocess.DEVNULL, check=True)
            shutil.move(scratch, copy)
    return copy
