"""EventBridge Scheduler: schedules that invoke functions and call operations when they are due."""

from __future__ import annotations

from localcloud.services.scheduler import groups, schedules

__all__ = ["groups", "schedules"]
