"""PostgreSQL's programs on this machine."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from localcloud.errors import MissingToolError

_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)\.(\d+)")
# PostgreSQL refuses to run as root. In a user namespace root is another user, and its files too.
_AS_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


@dataclass(frozen=True, slots=True)
class Programs:
    """A PostgreSQL that is installed here."""

    folder: Path
    version: str

    def command(self, name: str, *words: str) -> list[str]:
        """Return the command of a program, which never runs as root."""
        return [*(_AS_USER if os.geteuid() == 0 else ()), str(self.folder / name), *words]


@cache
def find_programs() -> Programs:
    """Return the newest PostgreSQL of Debian's folders, else the one on PATH.

    Raises:
        MissingToolError: there is none, or root may not run it.
    """
    folders = sorted(_DEBIAN.glob("*/bin"), key=lambda path: path.parent.name, reverse=True)
    on_path = shutil.which("initdb")
    folders += [Path(on_path).resolve().parent] if on_path else []
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return _check(folder)
    raise MissingToolError(
        "no PostgreSQL was found (initdb, postgres, psql), which RDS needs: apt install "
        "postgresql, or put its programs on PATH"
    )


def _check(folder: Path) -> Programs:
    words = Programs(folder, "").command("postgres", "--version")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if (found := _VERSION.search(done.stdout)) is None:
        raise MissingToolError(
            f"{' '.join(words)} says {done.stderr.strip()!r}; PostgreSQL does not run as root: "
            "start localcloud as another user, or where root may create user namespaces"
        )
    return Programs(folder, f"{found[1]}.{found[2]}")
