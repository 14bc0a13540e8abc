"""All execution environments of a localcloud, and the choice among them."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable

from localcloud.door.errors import AwsError
from localcloud.functions.environment import ExecutionEnvironment, State
from localcloud.functions.outcome import Outcome
from localcloud.functions.spec import FunctionSpec

_MAX_IDLE_SECONDS = 300.0


class Fleet:
    """The environments by function: a warm one is reused, concurrency starts more."""

    def __init__(self) -> None:
        self._environments: dict[str, list[ExecutionEnvironment]] = defaultdict(list)
        self._lock = threading.Lock()

    def invoke(
        self,
        spec: FunctionSpec,
        event: bytes,
        request_id: str,
        start: Callable[[], ExecutionEnvironment],
    ) -> Outcome:
        """Run the function on an event in an idle environment, or in one that `start` creates.

        Raises:
            AwsError: TooManyRequestsException if all reserved environments are busy.
        """
        return self._take(spec, start).invoke(event, request_id)

    def take_snapshot(self, spec: FunctionSpec, start: Callable[[], ExecutionEnvironment]) -> None:
        """Initialize an environment and freeze it; the next invocation restores it.

        Raises:
            AwsError: the function's code cannot be initialized.
        """
        with self._lock:
            self._environments[spec.unqualified_arn].append(environment := start())
        _freeze(environment)

    def stop_function(self, name_arn: str) -> None:
        """Stop all environments of a function, including busy ones."""
        with self._lock:
            stopped = self._environments.pop(name_arn, [])
        for environment in stopped:
            environment.stop()

    def stop(self) -> None:
        """Stop all environments."""
        for name_arn in list(self._environments):
            self.stop_function(name_arn)

    def list_environments(self) -> list[ExecutionEnvironment]:
        """List the environments that are not stopped."""
        with self._lock:
            return [
                environment
                for known in self._environments.values()
                for environment in known
                if environment.state is not State.STOPPED
            ]

    def _take(
        self, spec: FunctionSpec, start: Callable[[], ExecutionEnvironment]
    ) -> ExecutionEnvironment:
        with self._lock:
            self._drop_useless(spec)
            known = self._environments[spec.unqualified_arn]
            for environment in known:
                if environment.spec == spec and (
                    environment.claim() or environment.claim_snapshot()
                ):
                    return environment
            _check_reserved(spec, known)
            known.append(environment := start())
        if spec.has_snapshot:
            _freeze(environment)
            environment.claim_snapshot()
        return environment

    def _drop_useless(self, spec: FunctionSpec) -> None:
        """Stop idle environments that are outdated or idle for too long; remove stopped ones."""
        oldest = time.monotonic() - _MAX_IDLE_SECONDS
        for known in self._environments.values():
            for environment in list(known):
                useless = environment.idle_since < oldest or _is_outdated(environment.spec, spec)
                if useless and environment.claim():
                    environment.stop()
                if environment.state is State.STOPPED:
                    known.remove(environment)


def _freeze(environment: ExecutionEnvironment) -> None:
    if error := environment.freeze():
        raise AwsError("InvalidRequestContentException", f"no snapshot can be made: {error}")


def _check_reserved(spec: FunctionSpec, known: list[ExecutionEnvironment]) -> None:
    busy = sum(environment.state in {State.BUSY, State.STARTING} for environment in known)
    if spec.reserved_concurrency is not None and busy >= spec.reserved_concurrency:
        raise AwsError("TooManyRequestsException", "Rate Exceeded.")


def _is_outdated(old: FunctionSpec, new: FunctionSpec) -> bool:
    return (old.arn, old.version) == (new.arn, new.version) and old != new
