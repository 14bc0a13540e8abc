"""The records that are to be carried."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from penstock.extensions.cost.prices import HOURS

_MIB: Final = 2**20
SECONDS: Final = 3600 * HOURS  # of a month
DAY: Final = 24
_GIB: Final = 2**30


@dataclass(frozen=True, slots=True)
class Workload:
    """Records of a topic: how many a second, how large, for how many consumers, kept how long.

    With `fan_out`, consumers of Kinesis use enhanced fan-out even where shared reads are enough.
    """

    events: float
    record_bytes: int
    consumers: int = 1
    retention_hours: int = DAY
    fan_out: bool = False

    @property
    def mib_in(self) -> float:
        return self.events * self.record_bytes / _MIB

    @property
    def gib_in(self) -> float:
        """Return what is written in a month."""
        return self._gib(SECONDS)

    @property
    def gib_out(self) -> float:
        return self.gib_in * self.consumers

    def gib_kept(self, since_hours: int = 0, until_hours: float = math.inf) -> float:
        """Return what is stored at a time, of an age from `since_hours` to `until_hours`."""
        hours = min(self.retention_hours, until_hours) - since_hours
        return self._gib(max(hours, 0) * 3600)

    def _gib(self, seconds: float) -> float:
        return self.events * self.record_bytes * seconds / _GIB
