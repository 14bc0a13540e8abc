"""Output that is safe for the terminal, whose control characters are escaped, and what ends it."""

from __future__ import annotations

import io
import os
import select
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from penstock.errors import SettingsError

_DRAW_SECONDS = 0.1
_BAR_WIDTH = 20
_ERASE_LINE = "\r\x1b[K"


def print_line(line: str) -> None:
    """Print one line; line breaks and other control characters in it are escaped."""
    print(printable(line))


def print_error(error: Exception) -> None:
    """Print an error to stderr, each wrong setting on a line; control characters are escaped."""
    lines = str(error).split("\n")
    if isinstance(error, SettingsError) and len(error.problems) > 1:
        lines = [
            f"{len(error.problems)} settings are wrong:",
            *map("  - {}".format, error.problems),
        ]
    for number, line in enumerate(lines):
        print(f"penstock: {printable(line)}" if number == 0 else printable(line), file=sys.stderr)


def describe_refusal(error: OSError) -> str:
    """Return what the operating system refused, with the file if it names one."""
    said = error.strerror or repr(error)
    return f"{error.filename}: {said}" if error.filename else said


class Table:
    """Rows of text in columns; the header comes with the first row, or at the end without one.

    So an error before the first row stands alone.
    """

    def __init__(self, form: str, *header: str) -> None:
        self._form = form
        self._header: tuple[str, ...] = header
        self.rows = 0

    def add(self, *row: object) -> None:
        """Print a row."""
        self.close()
        print_line(self._form.format(*row))
        self.rows += 1

    def close(self) -> None:
        """Print the header, unless it was."""
        if self._header:
            print_line(self._form.format(*self._header))
            self._header = ()


def printable(text: str, keep: str = "") -> str:
    """Return the text with control characters escaped, except those of `keep`."""
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def end_with_reader(closing_seconds: float = 10.0) -> None:
    """Interrupt this process, as ctrl-C does, when the program that reads its output has ended.

    A command that waits would else notice it only when it prints again. Nothing is watched where
    the output is kept in memory: it has no reader.

    Args:
        closing_seconds: the time it has to close what it opened; a library may take the interrupt.
    """
    pipe = select.poll()
    try:
        pipe.register(sys.stdout.fileno(), 0)  # the end of the reader is an error of the pipe
    except io.UnsupportedOperation:
        return
    _interrupt_after(pipe.poll, closing_seconds)


def end_with_stdin(closing_seconds: float = 10.0) -> None:
    """Interrupt this process, as ctrl-C does, when its stdin ends; what is read there is dropped.

    A program in between, such as ssh, passes the end of stdin on at once, and the end of the reader
    of stdout only with the next output.

    Args:
        closing_seconds: as in `end_with_reader`.
    """

    def read_all() -> None:
        while os.read(sys.stdin.fileno(), io.DEFAULT_BUFFER_SIZE):
            pass

    _interrupt_after(read_all, closing_seconds)


def _interrupt_after(wait: Callable[[], object], closing_seconds: float) -> None:
    """Interrupt this process when a call has returned, and end it if nothing comes of that."""

    def watch() -> None:
        wait()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(closing_seconds)
        os._exit(128 + signal.SIGINT)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether ctrl-C was pressed; the second one is not waited for."""
    pressed: list[int] = []

    def press(number: int, _: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def terminable() -> Iterator[Callable[[], bool]]:
    """Let SIGTERM do what ctrl-C does, and yield a function that tells whether it came.

    A program that runs commands in threads handles its signals itself.
    """
    received: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        received.append(number)
        handler = signal.getsignal(signal.SIGINT)
        # A shell starts programs in its background with SIGINT ignored.
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, before)


class Progress:
    """A progress bar on stderr, if stderr is a terminal that no output of stdout would scroll."""

    def __init__(self, *, prints_lines: bool = True) -> None:
        self._is_shown = sys.stderr.isatty() and not (prints_lines and sys.stdout.isatty())
        self._unit = ""
        self._began = self._due = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, unit: str, done: int | None = None, total: int | None = None) -> None:
        """Draw how much is done: at the start and the end of a unit, else ten times a second."""
        if not self._is_shown:
            return
        now = time.monotonic()
        if unit != self._unit:
            self._unit, self._began, self._due = unit, now, now
        if now >= self._due or (total and done == total):
            self._due = now + _DRAW_SECONDS
            text = printable(_describe_progress(unit, done, total, now - self._began))
            width = shutil.get_terminal_size().columns - 1  # a longer line could not be erased
            print(f"{_ERASE_LINE}{text[:width]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the bar, so that a line can be printed."""
        if self._is_shown:
            print(_ERASE_LINE, end="", file=sys.stderr, flush=True)
            self._due = 0.0


def _describe_progress(unit: str, done: int | None, total: int | None, seconds: float) -> str:
    time_taken = f"{seconds:.0f} s"
    if done is None:
        return f"{unit}, {time_taken}"
    rate = done / seconds if seconds else 0
    count = _draw_bar(done, total) if total else f"{done:,}"
    return f"{count} {unit}, {f'{rate:,.0f}/s' if rate >= 1 else time_taken}"


def _draw_bar(done: int, total: int) -> str:
    filled = _BAR_WIDTH * done // total
    return f"[{'#' * filled:<{_BAR_WIDTH}}] {100 * done // total} % of {total:,}"
