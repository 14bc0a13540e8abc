"""CPU seconds of each test, its servers, brokers and drivers included, beside its wall seconds.

A plug-in of pytest (`-p tools.suite.cpu_time`). They are written as a property of the test into
the report of `pytest --junitxml`. Shorter tests than `_SHORTEST` are counted with the next one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from tools.cpu_time import tree_seconds

PROPERTY = "cpu_seconds"

_SHORTEST = 0.25  # reading all of /proc takes some milliseconds


def pytest_configure(config: pytest.Config) -> None:
    """Count from here on."""
    config.pluginmanager.register(_CpuTime())


class _CpuTime:
    def __init__(self) -> None:
        self._since, self._counted = time.monotonic(), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Count what was spent since the last test that was counted."""
        try:
            return (yield)
        finally:
            now = time.monotonic()
            if now - self._since >= _SHORTEST:
                spent = tree_seconds(os.getpid())
                item.user_properties.append((PROPERTY, f"{max(0, spent - self._counted):.2f}"))
                self._since, self._counted = now, spent
