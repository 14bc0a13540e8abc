"""A run: all systems read the same topics at once, round by round."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from proof.change import Change, Round
from proof.flink import Flink
from proof.iceberg_sink import IcebergSink
from proof.oracle import Found, Judgement, is_complete, judge
from proof.penstock_function import PenstockFunction
from proof.penstock_job import PenstockJob
from proof.sent import Sent
from proof.system import System
from proof.topics import Topics
from systems.accounts import running_aws
from systems.brokers import running_broker
from systems.place import Place
from systems.registry import Registry, running_registry

SYSTEMS: Final[Mapping[str, Callable[[Place], System]]] = {
    "penstock-job": PenstockJob,
    "penstock-function": PenstockFunction,
    "iceberg-sink": IcebergSink,
    "flink": Flink,
}
QUIET_SECONDS: Final = 60
_OUTAGE_SECONDS: Final = 30
_POLL_SECONDS: Final = 3
_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class Stream:
    """A change in one system, and what became of it."""

    system: System
    name: str
    change: Change
    why_ended: list[str] = field(default_factory=list)
    restarted: bool = False
    quiet_seconds: float = QUIET_SECONDS
    _seen: int = -1
    _since: float = 0.0

    @property
    def ended(self) -> bool:
        """Return whether it has ended, after a restart too."""
        return len(self.why_ended) > 1

    def describe_trouble(self) -> str:
        """Return the first error that ended it, or else its last one."""
        if self.why_ended:
            return self.why_ended[0]
        return self.system.describe_trouble(self.change.name)

    def find(self) -> Found:
        """Read its table and its dead letters."""
        name = self.change.name
        return Found(self.system.tables.read(name), self.system.letters.read(name))

    def await_round(self) -> None:
        """Begin to wait for the records of a round."""
        self._seen, self._since = -1, time.monotonic()

    def is_settled(self, sent: Sequence[Sent]) -> bool:
        """Return whether all is there, nothing comes any more, or the stream has ended twice."""
        if self.ended:
            return True
        if why := self.system.why_ended(self.change.name):
            _LOG.info("%s %s ended: %s", self.name, self.change.name, why)
            self.why_ended.append(why)
            if not self.restarted:
                self.restarted = True
                self.system.restart(self.change.name)
                self.await_round()
            return self.ended
        rows = self.system.tables.read(self.change.name)
        if is_complete(sent, Found(rows, ())):
            return True
        found = Found(rows, self.system.letters.read(self.change.name))
        if is_complete(sent, found):
            return True
        count = len(found.rows) + len(found.letters)
        if count != self._seen:
            self._seen, self._since = count, time.monotonic()
        return time.monotonic() - self._since > self.quiet_seconds


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a change in a system, and the system's own words for its error."""

    system: str
    change: str
    judgement: Judgement
    trouble: str


@dataclass(slots=True)
class Run:
    """The topics, the registry, and a stream for each change and system."""

    topics: Topics
    registry: Registry
    streams: Sequence[Stream]
    changes: Sequence[Change]
    folder: Path
    sent: dict[str, list[Sent]] = field(default_factory=dict)

    def send_all(self) -> None:
        """Send round after round; those with an outage of the registry come alone."""
        for wave in range(max(len(each.rounds) for each in self.changes)):
            rounds = {
                each.name: (each, each.rounds[wave])
                for each in self.changes
                if wave < len(each.rounds)
            }
            for down in (False, True):
                some = [pair for pair in rounds.values() if pair[1].registry_down is down]
                if some:
                    _LOG.info("round %d of %d changes", wave + 1, len(some))
                    self._send(some, registry_down=down)

    def _send(self, some: Sequence[tuple[Change, Round]], *, registry_down: bool) -> None:
        if registry_down:
            with self.registry.relay.cut():
                sent = self._send_records(some)
                time.sleep(_OUTAGE_SECONDS)
        else:
            sent = self._send_records(some)
        self._settle(sent)

    def _send_records(self, some: Sequence[tuple[Change, Round]]) -> dict[str, list[Sent]]:
        sent = {change.name: self.topics.send(change, round_) for change, round_ in some}
        for name, records in sent.items():
            self.sent.setdefault(name, []).extend(records)
        return sent

    def _settle(self, sent: Mapping[str, Sequence[Sent]]) -> None:
        waiting = [each for each in self.streams if each.change.name in sent]
        for each in waiting:
            each.await_round()
        while waiting:
            time.sleep(_POLL_SECONDS)
            _LOG.debug("waiting for %s", [(each.name, each.change.name) for each in waiting])
            waiting = [each for each in waiting if not each.is_settled(sent[each.change.name])]

    def judge(self) -> Iterator[Outcome]:
        """Yield the verdict on each stream."""
        for each in self.streams:
            sent, found = self.sent[each.change.name], each.find()
            judgement = judge(each.change, sent, found, restarted=each.restarted, ended=each.ended)
            trouble = each.describe_trouble().replace(str(self.folder), "")
            yield Outcome(each.name, each.change.name, judgement, trouble)


def run_changes(
    changes: tuple[Change, ...], systems: Sequence[str], folder: Path, quiet_seconds: float
) -> list[Outcome]:
    """Send changes to systems, and return the verdict on each stream.

    A stream is waited for until all records of a round are found, or nothing has come for so long.
    """
    with ExitStack() as stack:
        servers = stack.enter_context(running_broker(folder / "broker"))
        registry = stack.enter_context(running_registry(folder))
        aws = stack.enter_context(running_aws(folder / "aws"))
        for change in changes:
            registry.register(change.name, change.versions)
        place = Place(servers, registry.host, aws, folder)
        topics = Topics(servers, registry, changes)
        stack.callback(topics.close)
        opened = {}
        for name in systems:
            opened[name] = SYSTEMS[name](place)
            stack.callback(opened[name].close)
        for each in opened.values():
            each.start([change.name for change in changes])
        streams = [
            Stream(system, name, change, quiet_seconds=quiet_seconds)
            for name, system in opened.items()
            for change in changes
        ]
        run = Run(topics, registry, streams, changes, folder)
        run.send_all()
        return list(run.judge())
