"""What a workload costs with each service that can carry it, for a month.

The limits and their sources are in docs/kinesis-or-msk.md. A GB is 2^30 bytes, as AWS bills it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from penstock.extensions.cost.brokers import ZONES, count_brokers, price_brokers
from penstock.extensions.cost.prices import HOURS, Item, PriceList
from penstock.extensions.cost.workload import DAY, SECONDS, Workload

_KIB: Final = 2**10
_WEEK: Final = 7 * DAY
_MILLION: Final = 1e6

_MOST_BROKERS: Final = 60

_PARTITIONS: Final = 6
_PARTITION_MIB_IN: Final = 5
_PARTITION_MIB_OUT: Final = 10
_SERVERLESS_MIB_IN: Final = 200
_SERVERLESS_MIB_OUT: Final = 400

_SHARD_MIB_IN: Final = 1
_SHARD_MIB_OUT: Final = 2
_SHARD_RECORDS: Final = 1_000
_SHARED_READS: Final = 5  # a second and shard; the mapping of a function reads once a second
_SHARED_ON_DEMAND: Final = 2  # a stream reads twice what it writes
_MOST_FAN_OUT: Final = 20
_MOST_KINESIS_HOURS: Final = 8_760
_PUT_UNIT: Final = 25 * _KIB


@dataclass(frozen=True, slots=True)
class Carrier:
    """A service and its items, or in `problem` why it cannot carry the records."""

    name: str
    size: str
    items: tuple[Item, ...] = ()
    problem: str = ""

    @property
    def usd(self) -> float | None:
        return None if self.problem else sum(item.usd for item in self.items)


def price_carriers(load: Workload, prices: PriceList) -> tuple[Carrier, ...]:
    """Return what the workload costs with each service, always in the same order."""
    return (
        _price_msk(load, prices),
        _price_serverless(load, prices),
        _price_shards(load, prices),
        _price_on_demand(load, prices),
    )


def _price_msk(load: Workload, prices: PriceList) -> Carrier:
    brokers = count_brokers(load)
    return Carrier(
        "MSK as built",
        f"brokers: {brokers}",
        price_brokers(load, prices),
        f"a cluster has at most {_MOST_BROKERS} brokers, here of the smallest type"
        if brokers > _MOST_BROKERS
        else "",
    )


def _price_serverless(load: Workload, prices: PriceList) -> Carrier:
    mib_out = load.mib_in * load.consumers
    partitions = max(
        _PARTITIONS,
        math.ceil(load.mib_in / _PARTITION_MIB_IN),
        math.ceil(mib_out / _PARTITION_MIB_OUT),
    )
    is_above = load.mib_in > _SERVERLESS_MIB_IN or mib_out > _SERVERLESS_MIB_OUT
    return Carrier(
        "MSK Serverless",
        f"partitions: {partitions}",
        (
            prices.item("capacity", "cluster", 1, "serverless", HOURS),
            prices.item("capacity", "partitions", partitions, "serverless-partition", HOURS),
            prices.item("writes", "GB", load.gib_in, "serverless-in"),
            prices.item("reads", "GB", load.gib_out, "serverless-out"),
            prices.item("storage", "GB", load.gib_kept(), "serverless-storage"),
        ),
        f"a cluster takes {_SERVERLESS_MIB_IN} MB/s in and {_SERVERLESS_MIB_OUT} out"
        if is_above
        else "",
    )


def _price_shards(load: Workload, prices: PriceList) -> Carrier:
    is_fanned = load.fan_out or load.consumers > _SHARED_READS
    shared_reads = 0 if is_fanned else load.mib_in * load.consumers / _SHARD_MIB_OUT
    needed = max(load.mib_in / _SHARD_MIB_IN, load.events / _SHARD_RECORDS, shared_reads)
    shards = max(1, math.ceil(needed))
    units = load.events * SECONDS * math.ceil(load.record_bytes / _PUT_UNIT)
    readers = load.consumers * shards if is_fanned else 0
    extended = shards if load.retention_hours > DAY else 0
    return Carrier(
        "Kinesis shards",
        f"shards: {shards}" + _fan_out_note(is_fanned),
        (
            prices.item("capacity", "shards", shards, "shard", HOURS),
            prices.item("writes", "million PUT units", units / _MILLION, "put-units"),
            prices.item("reads", "shards of fan-out", readers, "fan-out", HOURS),
            prices.item("reads", "GB", load.gib_out if is_fanned else 0, "fan-out-data"),
            prices.item("storage", "shards, to 7 days", extended, "shard-retention", HOURS),
            prices.item("storage", "GB beyond", load.gib_kept(_WEEK), "long-retention"),
            *_producer_endpoint(load, prices),
        ),
        _find_kinesis_problem(load, is_fanned),
    )


def _price_on_demand(load: Workload, prices: PriceList) -> Carrier:
    is_fanned = load.fan_out or load.consumers > _SHARED_ON_DEMAND
    rounded = math.ceil(load.record_bytes / _KIB) * _KIB / load.record_bytes
    reads = "on-demand-fan-out" if is_fanned else "on-demand-out"
    to_a_week = load.gib_kept(DAY, _WEEK)
    return Carrier(
        "Kinesis on demand",
        "streams: 1" + _fan_out_note(is_fanned),
        (
            prices.item("capacity", "stream", 1, "on-demand", HOURS),
            prices.item("writes", "GB, rounded", load.gib_in * rounded, "on-demand-in"),
            prices.item("reads", "GB", load.gib_out, reads),
            prices.item("storage", "GB, to 7 days", to_a_week, "on-demand-retention"),
            prices.item("storage", "GB beyond", load.gib_kept(_WEEK), "long-retention"),
            *_producer_endpoint(load, prices),
        ),
        _find_kinesis_problem(load, is_fanned),
    )


def _producer_endpoint(load: Workload, prices: PriceList) -> tuple[Item, Item]:
    """Price the way of a producer in a VPC; mappings of functions read outside any VPC."""
    return (
        prices.item("network", "endpoint of the producer", ZONES, "endpoint", HOURS),
        prices.item("network", "GB through it", load.gib_in, "endpoint-data"),
    )


def _find_kinesis_problem(load: Workload, is_fanned: bool) -> str:
    if is_fanned and load.consumers > _MOST_FAN_OUT:
        return f"a stream has at most {_MOST_FAN_OUT} consumers with enhanced fan-out"
    if load.retention_hours > _MOST_KINESIS_HOURS:
        return f"a stream keeps records for at most {_MOST_KINESIS_HOURS:,} hours"
    return ""


def _fan_out_note(is_fanned: bool) -> str:
    return ", fan-out" if is_fanned else ""
