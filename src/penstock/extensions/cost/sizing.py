"""The parts of the platform that a workload needs, how near each is to its limit, and the cost.

The rates are those of `make bench` (docs/sizing.md), on a core of the machine there, taken for a
vCPU of AWS. Each part has twice what the average rate needs, so that it catches up after a stop.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from penstock.extensions.cost.brokers import SIZES, ZONES, BrokerSize, count_brokers, price_brokers
from penstock.extensions.cost.prices import HOURS, Item, PriceList
from penstock.extensions.cost.rates import Rates
from penstock.extensions.cost.workload import SECONDS, Workload

_SPARE: Final = 2  # times what the average rate needs
_MEASURED_BYTES: Final = 200
_MILLION: Final = 1e6

_FUNCTION_GIB: Final = 1_769 / 1_024  # has one vCPU
_EVENTS_IN_A_CALL: Final = 100
_MOST_FUNCTIONS: Final = 1_000
_MOST_BROKERS: Final = 45  # load balancers and endpoint services are 50 each by default
_ENDPOINTS: Final = 5  # of a consumer with Spark, beside those of brokers
_MOST_ENDPOINTS: Final = 50
_PARTITION_MIB: Final = 5
_LEAST_PARTITIONS: Final = 6
_WORKER_CPUS, _WORKER_GIB = 4, 16
_MOST_CPUS: Final = 16
_WRITE_UNIT: Final = 1_024
_MOST_WRITE_UNITS: Final = 40_000
_MOST_VERSIONS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the platform: its size, the share of its limit that is used, and its items.

    `limit` names what the share is of, and `is_hard` says that AWS does not raise it on request.
    """

    name: str
    size: str
    share: float
    limit: str
    is_hard: bool = False
    items: tuple[Item, ...] = ()

    @property
    def usd(self) -> float:
        return sum(item.usd for item in self.items)


@dataclass(frozen=True, slots=True)
class Sizing:
    """The parts for a workload, in the order in which a record passes them."""

    load: Workload
    versions: int
    parts: tuple[Part, ...]

    @property
    def first(self) -> Part:
        """The part that is nearest to its limit, or furthest beyond it."""
        return max(self.parts, key=lambda part: part.share)

    @property
    def usd(self) -> float:
        return sum(part.usd for part in self.parts)


def size_platform(
    load: Workload, prices: PriceList, rates: Rates, *, versions: int = 1, rows: bool = False
) -> Sizing:
    """Size the platform for a workload into a lake, and into DynamoDB by a function with `rows`.

    The sizes of jobs, functions and tables are those of one consumer; all consumers have their own.
    """
    size = _choose_brokers(load, prices)
    workers = _count(load.events * _row_seconds(load, rates.lake_rows, rates) / _WORKER_CPUS)
    busy = load.events * _row_seconds(load, rates.function_rows, rates) if rows else 0
    functions = _count(busy) if rows else 0
    partitions = _count_partitions(load, size, max(workers * _WORKER_CPUS, functions))
    parts = [
        _size_registry(versions),
        _size_producer(load, prices, rates),
        _size_brokers(load, prices, size),
        _size_partitions(load, size, partitions),
        _size_endpoints(load, size),
        _size_job(load, workers, prices),
        *(_size_rows(load, functions, busy, prices) if rows else ()),
    ]
    return Sizing(load, versions, tuple(parts))


def _count(busy: float) -> int:
    """Return how many keep up, if so many would be busy all the time."""
    return max(1, math.ceil(busy * _SPARE))


def _row_seconds(load: Workload, rate: float, rates: Rates) -> float:
    """Return a core's time for a row: that of the rung, and more for larger records."""
    larger = max(0, load.record_bytes - _MEASURED_BYTES)
    return (1 + larger * rates.growth_of_a_byte) / rate


def _choose_brokers(load: Workload, prices: PriceList) -> BrokerSize:
    """Return the cheapest size; more brokers need more load balancers and endpoints."""

    def cost(size: BrokerSize) -> float:
        return sum(item.usd for item in price_brokers(load, prices, size))

    able = [size for size in SIZES if count_brokers(load, size) <= _MOST_BROKERS]
    return min(able or SIZES[-1:], key=cost)


def _count_partitions(load: Workload, size: BrokerSize, readers: int) -> int:
    """Return a number of partitions that brokers share evenly, with a partition for each reader."""
    brokers = count_brokers(load, size)
    needed = max(_LEAST_PARTITIONS, math.ceil(load.mib_in / _PARTITION_MIB), readers)
    return brokers * math.ceil(needed / brokers)


def _size_registry(versions: int) -> Part:
    return Part(
        "registry",
        f"versions: {versions:,}",
        versions / _MOST_VERSIONS,
        f"{_MOST_VERSIONS:,} versions of all schemas of a region",
        is_hard=True,
    )


def _size_producer(load: Workload, prices: PriceList, rates: Rates) -> Part:
    """Size the producer function, whose callers send events in lists."""
    busy = load.events * _row_seconds(load, rates.produced_events, rates)
    environments = _count(busy)
    return Part(
        "producer function",
        f"at once: {environments:,}",
        environments / _MOST_FUNCTIONS,
        f"{_MOST_FUNCTIONS:,} functions that run at once",
        items=_price_function("producer", busy, load.events / _EVENTS_IN_A_CALL, prices),
    )


def _price_function(part: str, busy: float, calls: float, prices: PriceList) -> tuple[Item, Item]:
    seconds = busy * _FUNCTION_GIB * SECONDS
    return (
        prices.item(part, "GB seconds", seconds, "function-second"),
        prices.item(part, "million calls", calls * SECONDS / _MILLION, "function-calls"),
    )


def _size_brokers(load: Workload, prices: PriceList, size: BrokerSize) -> Part:
    brokers = count_brokers(load, size)
    return Part(
        "brokers",
        f"{brokers} {size.name}",
        brokers * size.times / (_MOST_BROKERS * SIZES[-1].times),
        f"{_MOST_BROKERS} {SIZES[-1].name}, a load balancer for each",
        items=price_brokers(load, prices, size),
    )


def _size_partitions(load: Workload, size: BrokerSize, partitions: int) -> Part:
    most = size.partitions * count_brokers(load, size) // ZONES
    return Part(
        "partitions",
        f"{partitions:,}",
        partitions / most,
        f"{most:,} that AWS recommends for these brokers",
    )


def _size_endpoints(load: Workload, size: BrokerSize) -> Part:
    endpoints = count_brokers(load, size) + _ENDPOINTS
    return Part(
        "endpoints",
        f"in a consumer's VPC: {endpoints}",
        endpoints / _MOST_ENDPOINTS,
        f"{_MOST_ENDPOINTS} interface endpoints of a VPC",
    )


def _size_job(load: Workload, workers: int, prices: PriceList) -> Part:
    """Size the Spark job that writes the lake: executors, and a driver."""
    cpus, gib = (workers + 1) * _WORKER_CPUS, (workers + 1) * _WORKER_GIB
    return Part(
        "Spark job",
        f"executors of {_WORKER_CPUS} vCPU: {workers:,}",
        cpus / _MOST_CPUS,
        f"{_MOST_CPUS} vCPU of EMR Serverless at once",
        items=(
            prices.item("job", "vCPU", cpus * load.consumers, "worker-cpu", HOURS),
            prices.item("job", "GB of memory", gib * load.consumers, "worker-memory", HOURS),
        ),
    )


def _size_rows(load: Workload, functions: int, busy: float, prices: PriceList) -> Iterator[Part]:
    """Size the consumer function, of which one runs for each partition, and its table."""
    units = load.events * math.ceil(load.record_bytes / _WRITE_UNIT)
    writes = units * load.consumers * SECONDS / _MILLION
    calls = load.events * load.consumers / _EVENTS_IN_A_CALL
    yield Part(
        "consumer function",
        f"at once: {functions:,}",
        functions / _MOST_FUNCTIONS,
        f"{_MOST_FUNCTIONS:,} functions that run at once",
        items=_price_function("consumer", busy * load.consumers, calls, prices),
    )
    yield Part(
        "DynamoDB table",
        f"write units a second: {units:,.0f}",
        units / _MOST_WRITE_UNITS,
        f"{_MOST_WRITE_UNITS:,} write units a second of a table",
        items=(prices.item("rows", "million write units", writes, "write-units"),),
    )
