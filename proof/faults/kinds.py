"""The faults: each says how it happens to one system, or to what all of them read from."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from localcloud.brokers import BrokerCluster
from localcloud.faults import Fault, Faults, Kind
from proof.faults.sender import Sender
from proof.faults.tended import Tended
from systems.registry import Registry

_WAIT_SECONDS: Final = 300
_KILLS: Final = 3
_HELD_SECONDS: Final = 4.0
_DOWN_SECONDS: Final = 6
_OUTAGE_SECONDS: Final = 40
_STALL_SECONDS: Final = 45
_COMMIT: Final = {"service": "glue", "operation": "UpdateTable"}
_CONFLICT: Final = {"status": 400, "code": "ConcurrentModificationException"}


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

    def await_commit(self, kind: Kind) -> Fault:
        """Wait until a commit is held in Glue, where it has its effect later or never."""
        fault = self.break_calls(**_COMMIT, kind=kind, calls=1, seconds=_HELD_SECONDS)
        _await_broken(fault, 1)
        return fault

    def await_rows(self) -> bool:
        """Wait until the system has written more."""
        before = self.count()
        return _await(lambda: self.count() > before)


def kill_amid_commits(scene: Scene) -> bool:
    """Kill it amid a commit that Glue performs, amid one that it does not, and at random."""
    moments: list[Kind | None] = [Kind.LATENCY, Kind.HANG, None]
    scene.rng.shuffle(moments)
    fired = []
    for kind in moments:
        fault = scene.await_commit(kind) if kind else None
        time.sleep(scene.rng.uniform(0, _HELD_SECONDS / 2 if kind else _HELD_SECONDS))
        killed = scene.tended.kill()
        fired.append(killed and (fault is None or fault.broken == 1) and scene.await_rows())
    return all(fired)


def kill_amid_the_first_commit(scene: Scene) -> bool:
    """Kill it as its first commit is held, which Glue does not perform."""
    fault = scene.await_commit(Kind.HANG)
    return fault.broken == 1 and scene.tended.kill() and scene.await_rows()


def stall_amid_a_commit(scene: Scene) -> bool:
    """Stop it as a commit is held, let a second one take over, and wake it."""
    fault = scene.await_commit(Kind.LATENCY)
    return scene.tended.subject.stall(_STALL_SECONDS) and fault.broken == 1


def cut_answers(scene: Scene) -> bool:
    """Perform three commits and cut the connection instead of answering."""
    for _ in range(_KILLS):
        fault = scene.break_calls(**_COMMIT, kind=Kind.CUT, calls=1)
        if not _await_broken(fault, 1):
            return False
        time.sleep(scene.rng.uniform(2, 8))
    return True


def close_catalog(scene: Scene) -> bool:
    """Answer every call to Glue with 500 for a while."""
    fault = scene.break_calls(service="glue", kind=Kind.ERROR)
    time.sleep(_OUTAGE_SECONDS)
    fault.calls = 0
    return fault.broken > 0


def refuse_commits(scene: Scene) -> bool:
    """Say of ten commits in turn that another one came first."""
    fault = scene.break_calls(**_COMMIT, **_CONFLICT, kind=Kind.ERROR, calls=10)
    return _await_broken(fault, 10)


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


def _await_broken(fault: Fault, calls: int) -> bool:
    return _await(lambda: fault.broken == calls)


def _await(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + _WAIT_SECONDS
    while not (is_met := condition()) and time.monotonic() < until:
        time.sleep(0.2)
    return is_met
