"""What is closed at the end of a `with` statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Base of what holds connections."""

    @abstractmethod
    def close(self) -> None:
        """Close the connections."""

    def __enter__(self) -> Self:
        """Use it in a `with` statement to close it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()
