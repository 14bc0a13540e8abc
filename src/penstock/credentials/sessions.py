"""The sessions of a process: one for the same region and role."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, cast

from penstock.credentials.environment import EnvironmentSession, decides_alone

if TYPE_CHECKING:
    from botocore.session import Session

# Brokers drop a connection whose principal changes when it authenticates again. The session name
# is part of the principal, so it is the same for every role, process and renewal.
ROLE_SESSION_NAME = "penstock"

_building = threading.Lock()


def load_session(
    *, region: str | None = None, role_arn: str | None = None, external_id: str | None = None
) -> Session:
    """Return the session for these arguments, always the same one, so that its renewal is shared.

    With a role, STS is not called before the first use. After that, botocore renews the
    credentials when less than 15 minutes are left, and makes callers wait for it below 10. Threads
    may share the session's credentials, but only one thread at a time may build clients from it.

    Args:
        region: the region of STS and of the session's clients; by default the environment's.
        role_arn: the role to assume; without it the session has the process's own credentials.
        external_id: the external id that the role's trust policy requires.
    """
    # Without the lock, two threads that miss the cache at the same time would get two providers.
    with _building:
        return _build_session(region, role_arn, external_id)


def forget_sessions() -> None:
    """Make the next calls of `load_session` build new sessions, whose keys are new too.

    A function calls it after a snapshot is restored: its keys may have expired long ago.
    """
    with _building:
        _build_session.cache_clear()


@cache
def _build_session(region: str | None, role_arn: str | None, external_id: str | None) -> Session:
    # A function's own keys need no botocore, whose import is a third of a cold start.
    if role_arn is None and decides_alone():
        return cast("Session", EnvironmentSession(region))
    from penstock.credentials import _botocore_session  # noqa: PLC0415

    if role_arn is None:
        return _botocore_session.new_session(region)
    return _botocore_session.new_role_session(region, role_arn, external_id, ROLE_SESSION_NAME)
