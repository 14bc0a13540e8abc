"""Threads that do the same again and again beside the faults, and keep what ended them."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from threading import Event, Thread

_LOG = logging.getLogger("campaign")


class Worker(Thread, ABC):
    """A thread that works until it is stopped; `error` is what ended it by itself."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.error = ""
        self._stopped = Event()

    def run(self) -> None:
        """Work, and keep the error that ends it: nobody else sees it."""
        try:
            self.work()
        except Exception as error:
            _LOG.exception("%s ended by itself", self.name)
            self.error = f"{type(error).__name__}: {error}"

    @abstractmethod
    def work(self) -> None:
        """Work until stopped."""

    def stop(self) -> None:
        """Let it end soon."""
        self._stopped.set()
