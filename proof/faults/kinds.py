"""The faults: each says how it happens to one system, or to what all of them read from.

It has happened if it met the system once, however that goes on; a series ends where it does not.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from localcloud.brokers import BrokerCluster
from localcloud.faults import Fault, Faults, Kind
from localcloud.testing import ask_for
from proof.faults.sender import Sender
from proof.faults.tended import Tended
from systems.registry import Registry

_WAIT_SECONDS: Final = 300
_CUTS: Final = 3
_PAUSE: Final = (2, 8)  # seconds, at least and at most
_HELD_SECONDS: Final = 4.0
_DOWN_SECONDS: Final = 6
_OUTAGE_SECONDS: Final = 40
_STALL_SECONDS: Final = 45
_COMMIT: Final = {"service": "glue", "operation": "UpdateTable"}
_CONFLICT: Final = {"status": 400, "code": "ConcurrentModificationException"}
_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scene:
    """A system, or a service that it needs: the subjects of faults."""

    tended: Tended
    count: Callable[[], int]
    faults: Faults
    rng: random.Random

    def break_calls(self, **settings: Any) -> Fault:
        """Break calls of the system to AWS."""
        return self.faults.add(account=self.tended.subject.account, **settings)

    def await_broken(self, fault: Fault) -> bool:
        """Wait until all calls of a fault are broken; return whether they are."""
        return self._await(lambda: fault.broken == fault.calls, f"call {fault.calls}")

    def await_commit(self, kind: Kind) -> bool:
        """Wait until a commit is held in Glue, where it has its effect later or never."""
        return self.await_broken(
            self.break_calls(**_COMMIT, kind=kind, calls=1, seconds=_HELD_SECONDS)
        )

    def await_rows(self) -> bool:
        """Wait until the system has written more; return whether it has."""
        before = self.count()
        return self._await(lambda: self.count() > before, "more rows")

    def _await(self, condition: Callable[[], bool], what: str) -> bool:
        is_met = ask_for(condition, _WAIT_SECONDS)
        if not is_met:
            account = self.tended.subject.account
            _LOG.info("%s has not come to %s in %.0f s", account, what, _WAIT_SECONDS)
        return is_met


def kill_amid_commits(scene: Scene) -> bool:
    """Kill it amid a commit that Glue performs, amid one that it does not, and at random."""
    moments: list[Kind | None] = [Kind.LATENCY, Kind.HANG, None]
    scene.rng.shuffle(moments)
    fired = False
    for kind in moments:
        if kind and not scene.await_commit(kind):
            break
        time.sleep(scene.rng.uniform(0, _HELD_SECONDS / 2 if kind else _HELD_SECONDS))
        fired |= scene.tended.kill()
        if not scene.await_rows():
            break
    return fired


def kill_amid_the_first_commit(scene: Scene) -> bool:
    """Kill it as its first commit is held, which Glue does not perform."""
    fired = scene.await_commit(Kind.HANG) and scene.tended.kill()
    scene.await_rows()
    return fired


def stall_amid_a_commit(scene: Scene) -> bool:
    """Stop it as a commit is held, let a second one take over, and wake it."""
    return scene.await_commit(Kind.LATENCY) and scene.tended.subject.stall(_STALL_SECONDS)


def cut_answers(scene: Scene) -> bool:
    """Perform three commits and cut the connection instead of answering."""
    fired = False
    for _ in range(_CUTS):
        if not scene.await_broken(scene.break_calls(**_COMMIT, kind=Kind.CUT, calls=1)):
            break
        fired = True
        time.sleep(scene.rng.uniform(*_PAUSE))
    return fired


def close_catalog(scene: Scene) -> bool:
    """Answer every call to Glue with 500 for a while."""
    fault = scene.break_calls(service="glue", kind=Kind.ERROR)
    time.sleep(_OUTAGE_SECONDS)
    fault.calls = 0
    return fault.broken > 0


def refuse_commits(scene: Scene) -> bool:
    """Say of ten commits in turn that another one came first."""
    fault = scene.break_calls(**_COMMIT, **_CONFLICT, kind=Kind.ERROR, calls=10)
    scene.await_broken(fault)
    return fault.broken > 0


def kill_broker(cluster: BrokerCluster, registry: Registry, sender: Sender) -> bool:
    """Kill the only broker with -9 twice, and start it again."""
    fired = []
    for _ in range(2):
        pid = cluster.pids[1]
        cluster.kill(1)
        time.sleep(_DOWN_SECONDS)
        cluster.restart(1)
        fired.append(cluster.pids[1] != pid)
        time.sleep(4 * _DOWN_SECONDS)
    return all(fired)


def cut_registry(cluster: BrokerCluster, registry: Registry, sender: Sender) -> bool:
    """Take the registry away while the first records of a new version come."""
    with registry.relay.cut():
        before = sender.use_version(1)
        time.sleep(_OUTAGE_SECONDS)
        return sender.sent > before


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A fault: its title, and how it happens to each system or to what all read from."""

    title: str
    happen: Callable[[Scene], bool] | None = None
    happen_to_all: Callable[[BrokerCluster, Registry, Sender], bool] | None = None
    workers: int = 1
    warm: bool = True
    systems: tuple[str, ...] = ("penstock-job", "iceberg-sink", "flink")


FAULTS: Final[Mapping[str, FaultKind]] = {
    "killed": FaultKind(
        "The process is killed with -9 amid two commits and at a random moment",
        happen=kill_amid_commits,
    ),
    "killed-first": FaultKind(
        "The process is killed with -9 amid the first commit to a new table",
        happen=kill_amid_the_first_commit,
        warm=False,
        systems=("penstock-job", "iceberg-sink", "iceberg-sink-defaults", "flink"),
    ),
    "two-at-once": FaultKind(
        "The process stops amid a commit, a second one takes over, and the first goes on",
        happen=stall_amid_a_commit,
        workers=2,
        systems=("penstock-job", "iceberg-sink"),
    ),
    "broker": FaultKind(
        "The only broker is killed with -9 twice, and starts again",
        happen_to_all=kill_broker,
    ),
    "commit-cut": FaultKind(
        "Glue performs three commits, and the answers are cut off",
        happen=cut_answers,
    ),
    "commit-refused": FaultKind(
        "Glue says of ten commits in turn that another one came first",
        happen=refuse_commits,
    ),
    "catalog-down": FaultKind(
        f"Glue answers all calls with 500 for {_OUTAGE_SECONDS} s",
        happen=close_catalog,
    ),
    "registry-down": FaultKind(
        f"The registry is down for {_OUTAGE_SECONDS} s as a new version comes",
        happen_to_all=cut_registry,
    ),
}
