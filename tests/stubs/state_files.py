"""Files beside a checkpoint, without a file system."""

from __future__ import annotations


class MemoryFiles(dict[str, str]):
    """Files of one folder, by their names; what is written once stays."""

    def names(self) -> list[str]:
        """List the files, in order."""
        return sorted(self)

    def read(self, name: str) -> str | None:
        """Read a file."""
        return self.get(name)

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        assert self.setdefault(name, text) == text

    def delete(self, name: str) -> None:
        """Delete a file if it exists."""
        self.pop(name, None)

    def replace(self, text: str) -> None:
        """Write a file with the next number, and delete the others."""
        names = self.names()
        last = int(names[-1].removesuffix(".json")) if names else 0
        self.write(f"{last + 1:020d}.json", text)
        for name in names:
            self.delete(name)

    def locate(self, name: str) -> str:
        """Say where a file is."""
        return f"s3://c/{name}"
