"""One run of a schedule: senders, faults, calm, and the oracle."""

from __future__ import annotations

import json
import logging
import math
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from campaign.copies import find_copy_problems
from campaign.faults import inject
from campaign.growth import find_growth, is_read
from campaign.history import Fate, History, Sample, Sent, Staged
from campaign.joins import find_join_problems
from campaign.oracle import Kind, Problem, find_problems, find_unanswered
from campaign.platform import TOPIC, Platform, running_platform
from campaign.readers import read_bucket, read_records, read_versions
from campaign.schedule import Schedule, Step
from campaign.senders import Fields, Sender, Stranger
from campaign.workers import Worker
from localcloud.testing import wait_until
from systems.supervised import SupervisedJob
from systems.trials import Trials

_SENDERS: Final = 3
_START_SECONDS: Final = 600  # of a driver on a machine with much else to do
_OFFSETS_SECONDS: Final = 60
_ANSWER_SECONDS: Final = 300  # after the last fault, until all senders must be answered again
_CALM_SECONDS: Final = 300  # without progress, after which what is not there is lost
_LONGEST_SECONDS: Final = 1_500  # until all that was sent must be there
_QUIET_SECONDS: Final = 10  # in which nothing more may come
_POLL_SECONDS: Final = 5
_SOAK_FIELDS: Final = 12
_WARM_SECONDS, _PEAK_SECONDS = 30, 60
_LATE: Final = {Kind.LOST, Kind.ORDER}  # what time may mend
_LOG = logging.getLogger("campaign")


@dataclass(frozen=True, slots=True)
class Fired:
    """A step, and how often its fault was seen to happen; `error` is why it could not."""

    step: Step
    times: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run; `recovery_seconds` are those from the last fault until all is there."""

    fired: tuple[Fired, ...]
    problems: tuple[Problem, ...]
    history: History
    recovery_seconds: float
    starts: int
    samples: tuple[Sample, ...] = ()  # while there were faults
    peak: float = 0.0

    @property
    def is_valid(self) -> bool:
        """True if there were faults, and each of them happened."""
        return bool(self.fired) and all(each.times for each in self.fired)

    @property
    def code(self) -> int:
        """The exit code: 0 if all is well, 1 if something is wrong, 3 if a fault did not happen."""
        if self.problems:
            return 1
        return 0 if self.is_valid else 3

    def tell(self, trials: Trials) -> None:
        """Tell the trials of a row of docs/faults.md what became of the records."""
        kinds = Counter(problem.kind for problem in self.problems)
        trials.records += len(self.history.records)
        trials.lost += kinds.pop(Kind.LOST, 0)
        trials.twice += kinds.pop(Kind.TWICE, 0)
        trials.wrong += kinds.total()
        trials.recovered_in.append(self.recovery_seconds)


class Run:
    """A platform with its senders."""

    def __init__(self, platform: Platform, seed: int) -> None:
        self._platform = platform
        self._fields = Fields()
        self._kept: dict[str, Any] = {}
        self._calm: dict[str, list[Sent]] = {}
        calls = platform.calls
        self._senders = [
            Sender(f"s{number}", _random(seed, number), self._fields, calls, platform.producer)
            for number in range(_SENDERS)
        ]
        servers = platform.world.kafka.cluster.bootstrap_servers("PLAINTEXT")
        self._servers = servers
        other = platform.replays.other if platform.replays else None
        self._stranger = Stranger(_random(seed, "stranger"), servers, TOPIC, self._versions, other)

    def begin(self) -> None:
        """Send until the first events are in all tables, then let the senders go on."""
        for each in self._senders:
            wait_until(f"an event of {each.name} is written", partial(_is_answered, each))
        wait_until("the first rows are there", lambda: not self._find_late(), _START_SECONDS)
        for thread in self._workers:
            thread.start()

    def begin_soak(self) -> float:
        """Send at half of the peak from now on, and return the peak, in events a second."""
        for _ in range(_SOAK_FIELDS):
            self._fields.grow()
        peak = self._measure_peak()
        self._pace(peak / 2)
        with _timed("catching up"):
            until = time.monotonic() + _CALM_SECONDS
            while not is_read(self._platform.offsets.read(), peak / 2) and time.monotonic() < until:
                time.sleep(_POLL_SECONDS)
        return peak

    def _measure_peak(self) -> float:
        """Send without pauses, and return the rate of the slowest program."""
        self._pace(math.inf)
        time.sleep(_WARM_SECONDS)
        began, before = time.monotonic(), self._platform.offsets.read()
        time.sleep(_PEAK_SECONDS)
        after = self._platform.offsets.read()
        seconds = time.monotonic() - began
        rates = {name: (count - before[name]) / seconds for name, count in after.items()}
        _LOG.info("records a second: %s", {name: round(rate) for name, rate in rates.items()})
        return min(rates.values())

    def _pace(self, rate: float) -> None:
        """Let all senders together send so many events a second at most."""
        for each in self._senders:
            each.pace.rate = rate / _SENDERS

    def suffer(self, steps: tuple[Step, ...]) -> tuple[Fired, ...]:
        """Let each fault begin at its second, and wait until all have ended."""
        began = time.monotonic()
        with ThreadPoolExecutor(max(1, len(steps))) as pool:
            running = []
            for step in steps:
                time.sleep(max(0, began + step.second - time.monotonic()))
                running.append(pool.submit(self._inject, step))
            return tuple(each.result() for each in running)

    def _inject(self, step: Step) -> Fired:
        began = time.monotonic()
        try:
            fired = Fired(step, inject(step.fault, self._platform, self._fields, step.arguments))
        except Exception as error:  # the run is invalid then, and must still be judged
            fired = Fired(step, 0, f"{type(error).__name__}: {error}")
        seconds = time.monotonic() - began
        what = f"{step.second} s: {step.fault} {json.dumps(step.arguments)}"
        _LOG.info("%s: %d times in %.0f s %s", what, fired.times, seconds, fired.error)
        return fired

    def end(self) -> float:
        """Stop the senders when they are answered, and return the seconds until all is there."""
        began = time.monotonic()
        self._calm = self._await_answers()
        for each in self._workers:
            each.stop()
        for each in self._workers:
            each.join()
        # Offsets tell the second at which all is there, and readings, which take long, whether.
        while not is_read(self._platform.offsets.read(), 0):
            if time.monotonic() > began + _OFFSETS_SECONDS:  # a driver that died told no last ones
                break
            time.sleep(1)
        recovered = changed = time.monotonic()
        before: list[Problem] = []
        while late := self._find_late():
            if late != before:
                before, changed = late, recovered
            if recovered > min(changed + _CALM_SECONDS, began + _LONGEST_SECONDS):
                break
            _LOG.info("waiting for %d, such as %s", len(late), late[0].what)
            if self._platform.replays:
                self._platform.replays.run()
            time.sleep(_POLL_SECONDS)
            recovered = time.monotonic()
        return round(recovered - began, 1)

    def _await_answers(self) -> dict[str, list[Sent]]:
        """Let the senders go on until all are answered; return the events of that time."""
        until = time.monotonic() + _ANSWER_SECONDS
        before = [len(each.sent) for each in self._senders]
        while True:
            pairs = zip(self._senders, before, strict=True)
            calm = {each.name: each.sent[count:] for each, count in pairs}
            is_over = time.monotonic() > until or not all(each.is_alive() for each in self._senders)
            if is_over or not find_unanswered(calm):
                return calm
            time.sleep(1)

    def read(self, *, with_lake: bool = True, is_last: bool = False) -> History:
        """Return what was sent, and what is there now.

        The last one reads all kept events again, and tells of the senders after the faults.
        """
        s3, bucket = self._platform.client("s3"), self._platform.bucket
        self._kept = read_bucket(s3, bucket, {} if is_last else self._kept)
        return History(
            [each for sender in self._senders for each in list(sender.sent)],
            dict(self._stranger.hostile),
            read_records(self._servers, TOPIC),
            self._versions(),
            self._platform.read_made(with_lake=with_lake),
            self._kept,
            [end for job in self.jobs for end in job.ends],
            max(each.peak_mb for each in self.jobs),
            dict(self._stranger.mended),
            self._platform.read_others(),
            self._calm if is_last else {},
            {each.name: each.error for each in self._workers if each.error},
        )

    @property
    def _workers(self) -> list[Worker]:
        others = (each.sender for each in self._platform.others.values())
        return [*self._senders, self._stranger, *others]

    @property
    def jobs(self) -> list[SupervisedJob]:
        """The jobs that are started again whenever they end."""
        return [self._platform.job, *(each.job for each in self._platform.others.values())]

    def _versions(self) -> dict[str, str]:
        return read_versions(self._platform.client("glue"), self._platform.world.name, TOPIC)

    def _find_late(self) -> list[Problem]:
        """Return the problems that time may mend; the lake is read if there are no others."""
        for with_lake in (False, True):
            found = _judge(self.read(with_lake=with_lake))
            if late := [each for each in found if each.kind in _LATE]:
                return late
        return []


def run_schedule(schedule: Schedule, folder: Path, *, soak: bool = False) -> Outcome:
    """Run a schedule on a platform of its own, whose files and logs are in the folder.

    A soak measures first how much the platform carries, and goes on with half of it.
    """
    with running_platform(folder, schedule) as platform:
        run = Run(platform, schedule.seed)
        with _timed("the first rows"):
            run.begin()
        peak = run.begin_soak() if soak else 0.0
        with _timed("the faults"), platform.watching(folder / "samples.jsonl") as samples:
            fired = run.suffer(schedule.steps)
        recovery_seconds = run.end()
        _LOG.info("all is there after %.0f s", recovery_seconds)
        time.sleep(_QUIET_SECONDS)
        with _timed("reading"):
            history = run.read(is_last=True)
        with _timed("the oracle"):
            problems = [*_judge(history), *(find_growth(samples, peak / 2) if soak else ())]
        starts = sum(each.starts for each in run.jobs)
        return Outcome(
            fired, tuple(problems), history, recovery_seconds, starts, tuple(samples), peak
        )


def _judge(history: History) -> list[Problem]:
    problems = find_problems(history)
    for each in history.others.values():
        problems += (
            find_join_problems(each) if isinstance(each, Staged) else find_copy_problems(each)
        )
    return problems


def _is_answered(sender: Sender) -> bool:
    sender.send(1)
    return sender.sent[-1].fate is Fate.WRITTEN


@contextmanager
def _timed(what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    _LOG.info("%s took %.0f s", what, time.monotonic() - began)


def _random(seed: int, name: object) -> Random:
    return Random(f"{seed}/{name}")  # noqa: S311 - no secret
