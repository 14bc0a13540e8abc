"""Settings of a job's lease."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.settings import Settings, parse_positive, setting


@dataclass(frozen=True, slots=True)
class LeaseSettings(Settings):
    """The lifetime of a lease without heartbeats, and the interval between heartbeats."""

    lease_seconds: float = setting(
        "PENSTOCK_LEASE_SECONDS",
        "seconds without a heartbeat after which another job may take over, a number above 0",
        parse=parse_positive,
        default=20,
    )
    heartbeat_seconds: float = setting(
        "PENSTOCK_HEARTBEAT_SECONDS",
        "seconds between heartbeats, at most half of a lease",
        parse=parse_positive,
        default=5,
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if a single late heartbeat would end the lease."""
        if not self.heartbeat_seconds or not self.lease_seconds:
            return  # unreadable, and reported already
        if self.heartbeat_seconds > self.lease_seconds / 2:
            yield (
                f"--heartbeat-seconds is {self.heartbeat_seconds:g}, expected at most half of "
                f"--lease-seconds {self.lease_seconds:g}"
            )
