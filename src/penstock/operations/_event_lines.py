"""Events from JSON lines: a file, a named pipe, or stdin."""

from __future__ import annotations

import codecs
import json
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from penstock.errors import EventError, EventLimitError, EventTextError, OperationError
from penstock.schemas import parse_event

STDIN: Final = "-"

_READ_SIZE = 256 * 1024
_MAX_LINE = 8 * 1024 * 1024  # MSK's brokers accept 8 MB at most, and Kafka's default is 1 MB
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """An event and its number in the source, or the problem if it cannot be read."""

    number: int
    event: Any
    problem: EventError | None = None


def read_event_lines(path: str, is_stopped: Callable[[], bool]) -> Iterator[list[SourceEvent]]:
    """Yield the events that are there, as soon as they are there; `-` is stdin.

    Blank lines and a byte order mark are ignored. Memory is bounded, however long a line is.

    Raises:
        OperationError: the file cannot be read.
    """
    number, rest = 1, b""
    try:
        for chunk in _read_chunks(path, is_stopped):
            *lines, rest = (rest + chunk).split(b"\n")
            yield [
                each for each in map(_read_line, range(number, number + len(lines)), lines) if each
            ]
            number += len(lines)
            rest = rest[: _MAX_LINE + 1]
    except OSError as error:
        raise OperationError(f"{path} cannot be read: {error.strerror}") from error
    if last := _read_line(number, rest):
        yield [last]


def _read_chunks(path: str, is_stopped: Callable[[], bool]) -> Iterator[bytes]:
    is_stdin = path == STDIN
    with open(0 if is_stdin else path, "rb", buffering=0, closefd=not is_stdin) as stream:
        while not is_stopped():
            ready, _, _ = select.select([stream], [], [], _POLL_SECONDS)
            if ready:
                if not (chunk := stream.read(_READ_SIZE)):
                    return
                yield chunk


def _read_line(number: int, line: bytes) -> SourceEvent | None:
    """Return the event of a line, or None if the line is blank."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    if not line.strip():
        return None
    try:
        return SourceEvent(number, _parse(line))
    except EventError as error:
        return SourceEvent(number, None, error)


def _parse(line: bytes) -> dict[str, Any]:
    if len(line) > _MAX_LINE:
        raise EventLimitError(f"found a line of more than {_MAX_LINE:,} bytes")
    try:
        return parse_event(line)
    except EventTextError as error:
        if not isinstance(cause := error.__cause__, json.JSONDecodeError):
            raise
        raise EventTextError(
            f"found text that is not JSON at column {cause.colno}, expected one whole object in "
            f"each line: {cause.msg}"
        ) from error
