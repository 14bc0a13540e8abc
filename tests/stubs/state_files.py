"""Files beside a checkpoint, without a file system."""

from __future__ import annotations

from penstock.spark.state.files import StateFiles


class MemoryFiles(dict[str, str]):
    """Files of one folder, by their names; none is written twice."""

    def names(self) -> list[str]:
        """List the files, in order."""
        return sorted(self)

    def read(self, name: str) -> str | None:
        """Read a file."""
        return self.get(name)

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        assert name not in self
        self[name] = text

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        self.pop(name, None)

    read_last = StateFiles.read_last
    replace = StateFiles.replace

    def locate(self, name: str) -> str:
        """Say where a file is."""
        return f"s3://c/{name}"
