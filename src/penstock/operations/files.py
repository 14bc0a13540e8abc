"""Files that a command is given or writes."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from penstock.errors import OperationError
from penstock.settings import parse_json


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        OperationError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise OperationError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise OperationError(f"{path} cannot be read: it is not text in UTF-8") from error


def read_json(path: Path) -> Any:
    """Return the value in a file of JSON.

    Raises:
        OperationError: it cannot be read, or is not JSON.
    """
    try:
        return parse_json(read_text(path))
    except RecursionError:
        raise OperationError(f"{path} nests too deep to be read as JSON") from None
    except ValueError as error:
        raise OperationError(f"{path} is not JSON: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a file of TOML.

    Raises:
        OperationError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except RecursionError:
        raise OperationError(f"{path} nests too deep to be read as TOML") from None
    except ValueError as error:
        raise OperationError(f"{path} is not TOML: {error}") from error


def write_text(path: Path, text: str) -> None:
    """Write the text of a file.

    Raises:
        OperationError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OperationError(f"{path} cannot be written: {error.strerror}") from error
