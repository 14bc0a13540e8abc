"""The surroundings of a system, and the folders and flags that all share."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PYTHON: Final = (sys.executable, "-m")
ROOT: Final = Path(__file__).resolve().parents[1]
# For JVMs of minutes: optimizing what runs once would be most of their work.
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_HEAP: Final = "-Xmx2g"


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings: the broker, the registry, an AWS account, and a folder.

    Attributes:
        is_quick: whether JVMs save the work of optimizing; where they are timed they do not.
    """

    servers: str
    registry: str
    aws: str
    folder: Path
    is_quick: bool = True

    @property
    def java(self) -> tuple[str, ...]:
        """The beginning of the command line of a peer, whose heap is that of Kafka Connect."""
        return ("java", *(QUICK if self.is_quick else ()), _HEAP)

    def new_folder(self, name: str) -> Path:
        """Make a folder."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        return folder
