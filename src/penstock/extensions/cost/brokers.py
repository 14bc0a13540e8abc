"""The brokers that carry and store a workload, as infra/producer makes them, and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from penstock.extensions.cost.prices import HOURS, Item, PriceList
from penstock.extensions.cost.workload import Workload

ZONES: Final = 2  # of the smallest set-up; also the replicas of a partition
# A Standard broker takes 153.8 of the 500 MB/s of an Express one; express.m7g.large takes 15.6 in
# and 31.2 out, and each size as much more as it is larger.
_MIB_IN: Final = 15.6 * 153.8 / 500
_MIB_OUT: Final = 2 * _MIB_IN
_MOST_GIB: Final = 16_384
_VOLUME_GIB: Final = 10
_VOLUME_FILLED: Final = 0.85


@dataclass(frozen=True, slots=True)
class BrokerSize:
    """A size of brokers: as many of the smallest, and the partitions that AWS recommends for one.

    `partitions` counts each replica.
    """

    name: str
    times: int
    partitions: int


SMALLEST: Final = BrokerSize("kafka.m7g.large", 1, 1_000)
SIZES: Final = (
    SMALLEST,
    BrokerSize("kafka.m7g.xlarge", 2, 1_000),
    BrokerSize("kafka.m7g.2xlarge", 4, 2_000),
    BrokerSize("kafka.m7g.4xlarge", 8, 4_000),
    BrokerSize("kafka.m7g.8xlarge", 16, 4_000),
    BrokerSize("kafka.m7g.12xlarge", 24, 4_000),
    BrokerSize("kafka.m7g.16xlarge", 32, 4_000),
)


def count_brokers(load: Workload, size: BrokerSize = SMALLEST) -> int:
    """Return how many brokers of a size carry and store a workload: as many in each zone."""
    needed = max(
        load.mib_in / (_MIB_IN * size.times),
        load.mib_in * load.consumers / (_MIB_OUT * size.times),
        _stored_gib(load) / _MOST_GIB,
    )
    return ZONES * max(1, math.ceil(needed / ZONES))


def price_brokers(
    load: Workload, prices: PriceList, size: BrokerSize = SMALLEST
) -> tuple[Item, ...]:
    """Return what brokers of a size cost, and the way of records to each consumer."""
    brokers = count_brokers(load, size)
    volume = max(_VOLUME_GIB, math.ceil(_stored_gib(load) / brokers))
    endpoints = brokers * ZONES * load.consumers
    # Of two zones, the leader of a partition is in the other one half of the time.
    crossing = (load.gib_in + load.gib_out) * (ZONES - 1) / ZONES
    return (
        prices.item("capacity", "brokers", brokers * size.times, "broker", HOURS),
        prices.item("storage", "volumes, GB", brokers * volume, "broker-storage"),
        prices.item("network", "load balancers", brokers, "load-balancer", HOURS),
        prices.item("reads", "GB through them", load.gib_out, "load-balancer-data"),
        prices.item("network", "endpoints of consumers", endpoints, "endpoint", HOURS),
        prices.item("reads", "GB through them", load.gib_out, "endpoint-data"),
        prices.item("network", "GB between zones", crossing, "cross-zone"),
    )


def _stored_gib(load: Workload) -> float:
    return load.gib_kept() * ZONES / _VOLUME_FILLED
