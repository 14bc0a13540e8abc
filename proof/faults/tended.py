"""A supervisor: it begins processes of a system again that have ended by themselves."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from typing import Final

from systems.subject import Subject

_AGAIN_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger(__name__)


class Tended:
    """A system that a thread tends, and that is not tended while it is killed or asked."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._lock = Lock()
        self._stopped = Event()
        self._error = ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Tend it as long as the block lasts, and until what has begun is done."""
        thread = Thread(target=self._tend, name="tending", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def kill(self) -> bool:
        """Kill its process and begin it again; return whether that ended it."""
        with self._lock:
            return self.subject.kill()

    def describe_trouble(self) -> str:
        """Return the error that it shows now, or else why it could not be begun again."""
        with self._lock:
            try:
                return self.subject.describe_trouble() or self._error
            except Exception as error:  # it does not answer, which no count may depend on
                return self._error or _describe(error)

    def _tend(self) -> None:
        while not self._stopped.wait(_AGAIN_SECONDS):
            with self._lock:
                try:
                    self.subject.tend()
                except Exception as error:  # the next turn tries again, and the trial counts
                    self._keep(_describe(error))
                else:
                    self._error = ""

    def _keep(self, error: str) -> None:
        if error != self._error:
            _LOG.warning("%s is not begun again: %s", self.subject.account, error)
        self._error = error


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
