"""The workers of a run, the maximum capacity of its application, and the quota of its account.

A run counts with all executors that Spark may ask for, as under load: a run without
`spark.dynamicAllocation.maxExecutors` takes all that is left.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from localcloud.errors import JobFailedError
from localcloud.jobs import Submission

# EMR's sizes of workers: by vCPU, the least and most memory in GB, and the step between.
_SIZES = {
    1: (2, 8, 1),
    2: (4, 16, 1),
    4: (8, 30, 1),
    8: (16, 60, 4),
    16: (32, 120, 8),
}
_NO_LIMIT, _NO_MAXIMUM = 10**6, 10**12  # EMR's default of maxExecutors is infinity
_DEFAULT_CORES, _DEFAULT_MEMORY = "4", "14g"  # EMR's defaults, for drivers and executors
_OVERHEAD, _MIN_OVERHEAD_MIB = 0.1, 384
_MIB = {"m": 1.0, "g": 1024.0, "t": 1024.0**2, "k": 1 / 1024}
_MEMORY = re.compile(r"(\d+)([kmgt])b?", re.IGNORECASE)


APPLICATION_IS_FULL = (
    "ApplicationMaxCapacityExceededException: Worker could not be allocated as the application has "
    "exceeded maximumCapacity settings"
)
# As runs in accounts with the default quota ended; assumption `account-capacity`.
ACCOUNT_IS_FULL = (
    "ServiceQuotaExceededException: the account has reached the service limit on the maximum vCPU "
    "it can use concurrently"
)


@dataclass(frozen=True, slots=True)
class Capacity:
    """An amount of processors and memory."""

    vcpus: int = 0
    memory_gb: int = 0

    def __add__(self, other: Capacity) -> Capacity:
        return Capacity(self.vcpus + other.vcpus, self.memory_gb + other.memory_gb)

    def __sub__(self, other: Capacity) -> Capacity:
        return Capacity(self.vcpus - other.vcpus, self.memory_gb - other.memory_gb)

    def times(self, count: int) -> Capacity:
        """Return the capacity of several workers."""
        return Capacity(self.vcpus * count, self.memory_gb * count)

    def count_in(self, room: Capacity) -> int:
        """Return how many of these fit into the room."""
        return min(room.vcpus // self.vcpus, room.memory_gb // self.memory_gb)

    def exceeds(self, room: Capacity) -> list[str]:
        """Return which of `cpu` and `memory` the room has too little of."""
        pairs = {
            "cpu": (self.vcpus, room.vcpus),
            "memory": (self.memory_gb, room.memory_gb),
        }
        return [name for name, (needed, left) in pairs.items() if needed > left]


@dataclass(frozen=True, slots=True)
class Workers:
    """A run's driver, an executor of it, and the most executors that it may have."""

    driver: Capacity
    executor: Capacity
    max_executors: int


class Occupied:
    """The part of an application's maximum capacity, or of an account's, that each run takes."""

    def __init__(self, refusal: str = APPLICATION_IS_FULL) -> None:
        self._refusal = refusal
        self._by_run: dict[str, Capacity] = {}
        self._lock = threading.Lock()

    @contextmanager
    def take(self, run_id: str, workers: Workers, maximum: Mapping[str, str]) -> Iterator[Workers]:
        """Hold the workers of a run: its driver, an executor, and those that fit besides.

        Yields:
            the workers that it has at most.

        Raises:
            JobFailedError: there is no room for a driver and an executor.
        """
        with self._lock:
            room = _read_maximum(maximum) - sum(self._by_run.values(), Capacity())
            least = workers.driver + workers.executor
            exceeded = least.exceeds(room)
            if exceeded:
                settings = ", ".join(f"{name}: {maximum[name]}" for name in exceeded)
                raise JobFailedError(f"{self._refusal}: [{settings}]")
            most = min(workers.max_executors, workers.executor.count_in(room - workers.driver))
            self._by_run[run_id] = workers.driver + workers.executor.times(most)
        try:
            yield replace(workers, max_executors=most)
        finally:
            with self._lock:
                del self._by_run[run_id]


def read_workers(submission: Submission) -> Workers:
    """Return the workers that a submission asks for, by EMR's defaults.

    Raises:
        ValueError: EMR has no worker of that size.
    """
    dynamic = _read_option(submission, "spark.dynamicAllocation.enabled", "true") == "true"
    most = (
        _read_option(submission, "spark.dynamicAllocation.maxExecutors", str(_NO_LIMIT))
        if dynamic
        else _read_option(submission, "spark.executor.instances", "3", "--num-executors")
    )
    return Workers(
        _read_worker(submission, "driver"), _read_worker(submission, "executor"), int(most)
    )


def _read_option(submission: Submission, name: str, default: str, flag: str = "") -> str:
    """Return a flag or a setting of a submission; the flag wins."""
    words = submission.flags
    if flag in words:
        return words[words.index(flag) + 1]
    return submission.settings.get(name, default)


def _read_worker(submission: Submission, kind: str) -> Capacity:
    cores = int(_read_option(submission, f"spark.{kind}.cores", _DEFAULT_CORES, f"--{kind}-cores"))
    text = _read_option(submission, f"spark.{kind}.memory", _DEFAULT_MEMORY, f"--{kind}-memory")
    heap = _read_mib(f"spark.{kind}.memory", text)
    usual = f"{max(int(heap * _OVERHEAD), _MIN_OVERHEAD_MIB)}m"
    overhead = f"spark.{kind}.memoryOverhead"
    wanted = math.ceil(
        (heap + _read_mib(overhead, _read_option(submission, overhead, usual))) / 1024
    )
    if cores not in _SIZES:
        raise ValueError(f"spark.{kind}.cores is {cores}, expected one of {list(_SIZES)}")
    least, most, step = _SIZES[cores]
    memory = least + max(0, math.ceil((wanted - least) / step)) * step
    if memory > most:
        raise ValueError(
            f"spark.{kind}.memory is {text}, with its overhead {wanted} GB; "
            f"a worker of {cores} vCPU has at most {most} GB"
        )
    return Capacity(cores, memory)


def _read_mib(name: str, text: str) -> float:
    found = _MEMORY.fullmatch(text if text[-1:].isalpha() else f"{text}m")
    if found is None:
        raise ValueError(f"{name} is {text}, expected a size such as 4g")
    return int(found[1]) * _MIB[found[2].lower()]


def _read_maximum(maximum: Mapping[str, str]) -> Capacity:
    """Return the maximum of an application: {"cpu": "32 vCPU", "memory": "128 GB"}, or less."""
    found = {name: re.match(r"\d+", text) for name, text in maximum.items()}
    limits = {name: int(number[0]) for name, number in found.items() if number}
    return Capacity(limits.get("cpu", _NO_MAXIMUM), limits.get("memory", _NO_MAXIMUM))
