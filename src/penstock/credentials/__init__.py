"""AWS sessions with the process's credentials or an assumed role's, renewed before they expire."""

from __future__ import annotations

from penstock.credentials.environment import Keys
from penstock.credentials.sessions import ROLE_SESSION_NAME, forget_sessions, load_session

__all__ = ["ROLE_SESSION_NAME", "Keys", "forget_sessions", "load_session"]
