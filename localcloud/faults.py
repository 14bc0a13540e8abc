"""Faults on demand: what breaks a call on purpose, before or after its effect."""

from __future__ import annotations

from collections.abc import Callable

from localcloud.operations import Call, HttpAnswer


class Faults:
    """The faults that are set; a call goes around them."""

    def around(self, call: Call, perform: Callable[[], HttpAnswer]) -> HttpAnswer:
        """Perform the call, unless a fault for it says otherwise."""
        return perform()
