"""The certificate authorities that processes here trust instead of Amazon's.

On AWS every client trusts Amazon's authorities through its system's store. A service whose servers
have certificates adds their authority here; a service that starts processes passes them the bundle.
"""

from __future__ import annotations

import threading
from pathlib import Path


class Authorities:
    """The authorities of a localcloud, one file for each server or group of servers."""

    def __init__(self) -> None:
        self._files: dict[str, Path] = {}
        self._lock = threading.Lock()

    def add(self, owner: str, file: Path) -> None:
        """Add the authority in a file, in place of the owner's earlier one."""
        with self._lock:
            self._files[owner] = file

    def remove(self, owner: str) -> None:
        """Remove an owner's authority."""
        with self._lock:
            self._files.pop(owner, None)

    def files(self) -> list[Path]:
        """List the files of all authorities."""
        with self._lock:
            return list(self._files.values())

    def write_bundle(self, folder: Path) -> Path:
        """Write the CA bundle of all authorities into a folder and return its path."""
        bundle = folder / "authorities.pem"
        # A process may be reading the existing file.
        written = bundle.with_suffix(f".{threading.get_ident()}")
        written.write_text("".join(file.read_text() for file in self.files() if file.exists()))
        written.replace(bundle)
        return bundle.resolve()
