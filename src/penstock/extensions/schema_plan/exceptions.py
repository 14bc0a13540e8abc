"""Exceptions of a folder: findings that its owners accept, each with a reason.

`exceptions.toml` in the folder, with the rule and the path as the plan prints them:

    [[exception]]
    rule = "KEY_FIELD"
    path = "sensor.place"
    because = "the table is replaced next week, see OPS-12"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from penstock.errors import OperationError
from penstock.operations import read_toml

EXCEPTIONS: Final = "exceptions.toml"
_KEYS: Final = ("rule", "path", "because")


@dataclass(frozen=True, slots=True)
class Exemption:
    """A rule that may be broken at a path, and the reason."""

    rule: str
    path: str
    because: str


def load_exemptions(folder: Path) -> tuple[Exemption, ...]:
    """Return the exceptions of a folder; none without a file.

    Raises:
        OperationError: the file is not as expected.
    """
    path = folder / EXCEPTIONS
    if not path.exists():
        return ()
    found = read_toml(path)
    entries = found.get("exception")
    if found.keys() != {"exception"} or not isinstance(entries, list):
        raise OperationError(f"{path} has {', '.join(found)}, expected only [[exception]]")
    return tuple(_read_entries(path, entries))


def _read_entries(path: Path, entries: list[Any]) -> Iterator[Exemption]:
    for number, entry in enumerate(entries, 1):
        values = [str(entry.get(key, "")) for key in _KEYS] if isinstance(entry, dict) else []
        if not values or not all(map(str.strip, values)) or entry.keys() != set(_KEYS):
            raise OperationError(
                f"{path}, exception {number}: found {entry}, expected rule, path and because, "
                "each a text that is not empty"
            )
        yield Exemption(*values)
