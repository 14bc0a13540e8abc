"""Schedules: the faults of a run and their seconds, made from a seed, and kept as JSON.

A schedule is a pure function of its seed and its length, so that a run can be repeated. The faults
come in rounds: each of them once in a new order, and new fields of events before many of them,
since registries are asked for new versions only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final, Self

from systems.moments import CAPTURED, CONSUMED, REPLAYED, STAGED

_FIRST_SECOND: Final = 5.0
_PAUSES: Final = (4.0, 12.0)
_SOAK_PAUSES: Final = (30.0, 60.0)  # in which readers come to the end of the topic again
_BROKERS: Final = (1, 2, 3)
Arguments = Mapping[str, Any]

# The answers of AWS that go wrong: the calls, how, and for about how many of them.
_UNAVAILABLE: Final = {"kind": "error", "status": 500}
_ANSWERS: Final[tuple[Arguments, ...]] = (
    {"service": "dynamodb", "operation": "BatchWriteItem", "kind": "unprocessed", "items": 3},
    {"service": "dynamodb", "operation": "BatchWriteItem", "kind": "throttle"},
    {"service": "dynamodb", "operation": "BatchWriteItem", "kind": "cut"},
    {"service": "dynamodb", "operation": "PutItem", "code": "InternalServerError", **_UNAVAILABLE},
    {"service": "dynamodb", "operation": "PutItem", "kind": "cut"},
    {"service": "s3", "operation": "PutObject", "kind": "cut"},
    {"service": "s3", "operation": "PutObject", "kind": "error", "status": 503, "code": "SlowDown"},
    {"service": "s3", "operation": "GetObject", "code": "InternalError", **_UNAVAILABLE},
    {"service": "glue", "operation": "UpdateTable", "kind": "cut"},
    {
        "service": "glue",
        "operation": "UpdateTable",
        "kind": "error",
        "status": 400,
        "code": "ConcurrentModificationException",
    },
)
_REGISTRY: Final[tuple[Arguments, ...]] = (
    {"operation": "GetSchemaVersion", "code": "InternalServiceException", **_UNAVAILABLE},
    {"operation": "RegisterSchemaVersion", "code": "InternalServiceException", **_UNAVAILABLE},
    {"operation": "GetSchemaVersion", "kind": "throttle"},
)

_WRITES: Final = ("PutObject", "UpdateTable", "PutItem")  # of files, of the lake, and of rows


@dataclass(frozen=True, slots=True)
class Step:
    """A fault that begins at a second of the run."""

    second: float
    fault: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of a run, in the order of their seconds, and its other programs.

    Without `base`, the commit of the code of the first driver, that is of this clone too.
    """

    seed: int
    steps: tuple[Step, ...]
    programs: tuple[str, ...] = ()
    base: str = ""

    def prefix(self, count: int) -> Schedule:
        """Return the schedule of the first steps."""
        return replace(self, steps=self.steps[:count])

    def upgrade(self, base: str) -> Schedule:
        """Return the schedule that begins with the upgrade from a commit."""
        rng = Random(f"{self.seed}/upgrade")  # noqa: S311 - no secret
        step = Step(0.0, "driver-upgraded", _ARGUMENTS["driver-upgraded"](rng))
        return replace(self, steps=(step, *self.steps), base=base)

    def write(self, path: Path) -> None:
        """Write the schedule as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a schedule that was written."""
        kept = json.loads(path.read_text())
        steps = tuple(Step(**step) for step in kept["steps"])
        return cls(kept["seed"], steps, tuple(kept["programs"]), kept["base"])


def make_schedule(
    seed: int,
    minutes: float,
    *,
    soak: bool = False,
    only: Collection[str] = (),
    programs: Collection[str] = (),
) -> Schedule:
    """Return the schedule of a seed: a pure function.

    That of a soak has fewer faults a minute. With `only`, there are no other faults. `programs`
    run beside the job, and have faults of their own.
    """
    rng = Random(seed)  # noqa: S311 - no secret
    pauses = _SOAK_PAUSES if soak else _PAUSES
    others = {fault for name in PROGRAMS - {*programs} for fault in _FAULTS_OF[name]}
    steps = _make_steps(rng, 60 * minutes, pauses, {*(only or FAULTS)} - others)
    return Schedule(seed, tuple(steps), tuple(sorted(programs)))


def choose_programs(seed: int) -> tuple[str, ...]:
    """Return the one other program that a run of this seed has."""
    return (Random(f"{seed}/programs").choice(sorted(PROGRAMS)),)  # noqa: S311 - no secret


def shrink(schedule: Schedule, fails: Callable[[Schedule], bool]) -> Schedule:
    """Return the shortest prefix that fails, by halves: the whole schedule must fail."""
    passing, failing = 0, len(schedule.steps)
    while failing - passing > 1:
        middle = (passing + failing) // 2
        if fails(schedule.prefix(middle)):
            failing = middle
        else:
            passing = middle
    return schedule.prefix(failing)


def _make_steps(
    rng: Random, seconds: float, pauses: tuple[float, float], faults: Collection[str]
) -> Iterator[Step]:
    second = _FIRST_SECOND
    for fault in _make_rounds(rng, faults):
        if second >= seconds:
            return
        yield Step(round(second, 1), fault, _ARGUMENTS[fault](rng))
        second += rng.uniform(*pauses)


def _make_rounds(rng: Random, faults: Collection[str]) -> Iterator[str]:
    every = [*_ARGUMENTS, *["answers-wrong"] * 3, *["fields-new"] * 3]
    while True:
        round_ = [each for each in every if each in faults]
        rng.shuffle(round_)
        yield from round_


def _choose_broker(rng: Random) -> Arguments:
    return {"broker": rng.choice(_BROKERS), "seconds": round(rng.uniform(2, 12), 1)}


def _choose_split(rng: Random) -> Arguments:
    """Split a broker from others, at times for longer than followers count as in sync (30 s)."""
    return {
        "broker": rng.choice(_BROKERS),
        "seconds": round(rng.uniform(5, 40), 1),
        "of": rng.choice(["clients", "followers"]),
    }


def _choose_answers(rng: Random) -> Arguments:
    return _break_some(rng, rng.choice(_ANSWERS))


def _choose_registry(rng: Random) -> Arguments:
    return _break_some(rng, {"service": "glue", **rng.choice(_REGISTRY)})


def _break_some(rng: Random, calls: Arguments) -> Arguments:
    return {
        **calls,
        "probability": rng.choice([0.2, 0.5, 0.9]),
        "seed": rng.randrange(2**32),
        "seconds": round(rng.uniform(5, 20), 1),
    }


# The faults by name, and what chooses their arguments; `campaign.faults` has what they do.
_ARGUMENTS: Final[Mapping[str, Callable[[Random], Arguments]]] = {
    "broker-killed": _choose_broker,
    "broker-stopped": _choose_broker,
    "links-slow": lambda rng: {**_choose_broker(rng), "latency": round(rng.uniform(0.05, 1), 2)},
    "links-cut": _choose_broker,
    "links-split": _choose_split,
    "driver-killed": lambda rng: {"operation": rng.choice(_WRITES), "calls": rng.randint(1, 4)},
    "driver-killed-at": lambda rng: {"moment": rng.choice(sorted(CONSUMED))},
    "driver-upgraded": lambda rng: {
        "max-offsets-per-trigger": rng.choice(["500", "2000"]),
        "trigger": rng.choice(["1 second", "3 seconds"]),
    },
    "driver-stopped": lambda rng: {"seconds": round(rng.uniform(1, 8), 1)},
    "driver-stalls": lambda rng: {"seconds": round(rng.uniform(30, 60), 1)},
    "lake-maintained": lambda rng: {},
    "replay-killed": lambda rng: {"moment": rng.choice(sorted(REPLAYED))},
    "staging-killed": lambda rng: {"moment": rng.choice(sorted(STAGED))},
    "staging-stalls": lambda rng: {"seconds": round(rng.uniform(30, 60), 1)},
    "cdc-killed": lambda rng: {"moment": rng.choice(sorted(CAPTURED))},
    "cdc-stalls": lambda rng: {"seconds": round(rng.uniform(30, 60), 1)},
    "connector-killed": lambda rng: {"seconds": round(rng.uniform(1, 8), 1)},
    "database-killed": lambda rng: {"seconds": round(rng.uniform(1, 8), 1)},
    "keys-moved": lambda rng: {},
    "function-hangs": lambda rng: {"function": rng.choice(["consumer", "producer"])},
    "group-rebalanced": lambda rng: {"seconds": round(rng.uniform(2, 12), 1)},
    "clock-wrong": lambda rng: {"minutes": rng.choice([-16, 16]), "seconds": 10.0},
    "driver-clock-wrong": lambda rng: {"seconds": rng.choice([-240, 240])},
    "answers-wrong": _choose_answers,
    "registry-wrong": _choose_registry,
    "registry-down": lambda rng: {"seconds": round(rng.uniform(5, 20), 1)},
    "role-denied": lambda rng: {"role": rng.choice(["function", "reader"]), "seconds": 10.0},
    "password-replaced": lambda rng: {
        "broker": rng.choice(_BROKERS),
        "password": f"word-{rng.randrange(2**32)}",
    },
    "fields-new": lambda rng: {},
}
FAULTS: Final = frozenset(_ARGUMENTS)
# The other programs, and the faults that need them.
_FAULTS_OF: Final = {
    "replay": {"replay-killed"},
    "staging": {"staging-killed", "staging-stalls"},
    "cdc": {"cdc-killed", "cdc-stalls", "connector-killed", "database-killed", "keys-moved"},
}
PROGRAMS: Final = frozenset(_FAULTS_OF)
