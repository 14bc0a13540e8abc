"""Event source mappings: their records, their states, and their polling processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.functions.poller_process import PollerProcess

_USER_ACTION = "USER_INITIATED"


class MappingState(StrEnum):
    """The states that AWS shows."""

    CREATING = "Creating"
    ENABLING = "Enabling"
    ENABLED = "Enabled"
    UPDATING = "Updating"
    DISABLING = "Disabling"
    DISABLED = "Disabled"
    DELETING = "Deleting"


_S = MappingState
_STEPS = {
    _S.CREATING: {_S.ENABLED, _S.DISABLED},
    _S.ENABLING: {_S.ENABLED},
    _S.UPDATING: {_S.ENABLED, _S.DISABLED},
    _S.DISABLING: {_S.DISABLED},
    _S.ENABLED: {_S.UPDATING, _S.DISABLING, _S.DELETING},
    _S.DISABLED: {_S.UPDATING, _S.ENABLING, _S.DELETING},
    _S.DELETING: set[MappingState](),
}

StartPoller = Callable[
    [dict[str, Any], Callable[[PollerProcess, dict[str, str]], None]], PollerProcess
]


class EventSourceMapping:
    """One mapping: its configuration, and how far it is applied; `start` starts a poller."""

    def __init__(self, record: Mapping[str, Any], start: StartPoller) -> None:
        self.tags: dict[str, str] = {}
        self._record = dict(record)
        self._start = start
        self._state = _S.CREATING
        self._result = "No records processed"
        self._lag: int | None = None
        self._modified = datetime.now(UTC)
        self._process: PollerProcess | None = None
        self._lock = threading.RLock()
        self._changing = threading.Thread()

    @property
    def record(self) -> dict[str, Any]:
        """The configuration as it was given."""
        with self._lock:
            return dict(self._record)

    @property
    def poller(self) -> PollerProcess | None:
        """The polling process, or None."""
        return self._process

    @property
    def lag(self) -> int | None:
        """The records that wait for the function, None while nothing is polled."""
        with self._lock:
            return self._lag if self._process else None

    def view(self) -> dict[str, Any]:
        """Return the mapping as GetEventSourceMapping shows it."""
        with self._lock:
            return {
                "MaximumBatchingWindowInSeconds": 0,
                **self._record,
                "State": self._state.value,
                "StateTransitionReason": _USER_ACTION,
                "LastProcessingResult": self._result,
                "LastModified": self._modified,
            }

    def create(self, *, enabled: bool) -> dict[str, Any]:
        """Start in state Creating and return the view at that moment."""
        return self._begin(lambda: self._apply(enabled))

    def change(self, record: Mapping[str, Any], *, enabled: bool | None) -> dict[str, Any]:
        """Apply another record, enabled, disabled or (None) unchanged, and return the view.

        Raises:
            AwsError: ResourceInUseException while an earlier change is under way.
        """
        with self._lock:
            is_enabled = self._state is _S.ENABLED
            target = is_enabled if enabled is None else enabled
            step = {True: _S.ENABLING, False: _S.DISABLING}
            self._require(_S.UPDATING if target is is_enabled else step[target])
            self._record = dict(record)
            return self._begin(lambda: self._apply(target))

    def delete(self, forget: Callable[[], None]) -> dict[str, Any]:
        """Stop the poller, then call `forget`; return the view.

        Raises:
            AwsError: ResourceInUseException while an earlier change is under way.
        """

        def end() -> None:
            self._stop_process()
            forget()

        self._require(_S.DELETING)
        return self._begin(end)

    def stop(self) -> None:
        """Stop the polling process and wait for its end."""
        self._changing.join()
        self._stop_process()

    def _begin(self, work: Callable[[], None]) -> dict[str, Any]:
        """Start the work in the background and return the view from before."""
        view = self.view()
        self._changing = threading.Thread(target=work, daemon=True)
        self._changing.start()
        return view

    def _apply(self, enabled: bool) -> None:
        self._stop_process()
        if not enabled:
            self._step(_S.DISABLED)
            return
        try:
            process = self._start(self.record, self._hear)
        except Exception as error:  # every problem must be visible in the mapping
            self._hear(None, {"result": f"PROBLEM: {error}", "state": _S.ENABLED})
            return
        with self._lock:
            self._process = process

    def _stop_process(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process:
            process.stop()

    def _hear(self, process: PollerProcess | None, report: dict[str, str]) -> None:
        with self._lock:
            if self._process not in {None, process}:
                return  # a late report of an earlier process
            self._result = report.get("result", self._result)
            if "lag" in report:
                self._lag = int(report["lag"]) if report["lag"] else None
            if "state" in report:
                self._step(_S(report["state"]))

    def _require(self, state: MappingState) -> None:
        if not self._step(state):
            raise AwsError(
                "ResourceInUseException",
                f"Cannot change the event source mapping because it is {self._state.lower()}",
            )

    def _step(self, state: MappingState) -> bool:
        with self._lock:
            possible = state in _STEPS[self._state]
            if possible:
                self._state = state
                self._modified = datetime.now(UTC)
            return possible
