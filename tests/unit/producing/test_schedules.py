"""Producers with lists of different ages, deletions, outages and races, in random schedules.

The model: an event that any fresh producer would accept is never refused for good.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.errors import RegistryUnavailableError
from penstock.kafka import KafkaSettings, Security
from penstock.producing import EventProducer, Outcome, Produced, ProducerSettings, Refusal
from penstock.registry import CachedRegistry, ComparedWith, SchemaStore, VersionStatus
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility, Policy
from tests.stubs.clock import FakeTime
from tests.stubs.topic import FakeTopic
from tests.unit.producing.conftest import send, written

_MODES = (Compatibility.BACKWARD, Compatibility.FULL, Compatibility.FORWARD, Compatibility.NONE)
_VALUES = {
    "t": (1, 0.5, 2**53 + 1, "warm", None),
    "u": (1, True, [1], [0.5]),
    "v": ({"x": 1}, {"x": 0.5}, {"y": "a"}),
}
_SUBJECT = "memory/sensor"


class _Client(MemoryRegistry):
    """A client of a shared store that can be cut off, and that another producer can outrun."""

    is_down = False
    up_since: float = -100
    race: Callable[[], object] | None = None

    def _list_versions(self, name: str) -> Any:
        self._call()
        return super()._list_versions(name)

    def _find_version(self, name: str, definition: str) -> str | None:
        self._call()
        return super()._find_version(name, definition)

    def _add(self, name: str, definition: str) -> str:
        race, self.race = self.race, None
        if race is not None:
            race()
        return super()._add(name, definition)

    def _call(self) -> None:
        if self.is_down:
            raise RegistryUnavailableError("the registry is down")


@dataclass
class _World:
    """A store, some producers of one schema, and the choices of one schedule."""

    random: random.Random
    topic: FakeTopic
    mode: Compatibility
    policy: Policy
    time: FakeTime = field(default_factory=FakeTime)
    store: SchemaStore = field(default_factory=SchemaStore)
    deleted_at: float = -100
    wasted: int = 0  # numbers of versions that were used up without a race

    def client(self) -> tuple[_Client, EventProducer]:
        """Build a producer with a registry client and caches of its own."""
        client = _Client(self.store, compatibility=self.mode)
        kafka = KafkaSettings(("127.0.0.1:9",), Security.PLAINTEXT)
        settings = ProducerSettings(kafka, "memory://", policy=self.policy, version_budget=6)
        cached = CachedRegistry(client, clock=self.time.clock)
        return client, EventProducer(settings, cached, self.topic, create_topic=True)  # type: ignore[arg-type]

    def event(self) -> dict[str, Any]:
        """Make up an event."""
        names = self.random.sample(sorted(_VALUES), self.random.randint(0, 2))
        return {name: self.random.choice(_VALUES[name]) for name in names}

    def delete(self) -> None:
        """Delete a version, but not the first, which is the checkpoint."""
        stored = self.store.list_versions(_SUBJECT)[1:]
        usable = [each for each in stored if each.status is VersionStatus.AVAILABLE]
        if usable:
            self.store.delete(self.random.choice(usable).id)
            self.deleted_at = self.time.now

    def count_failed(self) -> int:
        """Count the versions that the registry refused after it had given them a number."""
        stored = self.store.list_versions(_SUBJECT)
        return sum(each.status is VersionStatus.FAILURE for each in stored)


def _run(world: _World, steps: int) -> list[str]:
    """Run a schedule; return what its events became."""
    clients = [world.client() for _ in range(2)]
    send(clients[0][1], {})
    became = []
    for _ in range(steps):
        client, producer = world.random.choice(clients)
        action = world.random.random()
        if action < 0.1:
            world.delete()
        elif action < 0.2:
            client.is_down, client.up_since = not client.is_down, world.time.now
        elif action < 0.4:
            world.time.sleep(world.random.choice([1, 20, 31]))
        else:
            if action > 0.8:
                other = world.client()[1]
                client.race = lambda other=other: send(other, world.event())  # type: ignore[misc]
            event, before, has_race = world.event(), world.count_failed(), client.race is not None
            (outcome,) = send(producer, event)
            client.race = None
            world.wasted += 0 if has_race else world.count_failed() - before
            became.append(_check(world, client, event, outcome))
    return became


def _check(world: _World, client: _Client, event: dict[str, Any], outcome: Outcome) -> str:
    # A producer learns of a deletion when it reads the list again.
    known_for = world.time.now - max(world.deleted_at, client.up_since)
    if isinstance(outcome, Produced):
        if known_for > 30 and not client.is_down:
            reader = MemoryRegistry(world.store)
            assert reader.get(outcome.registration.version.key).schema
        return "written"
    assert isinstance(outcome, Refusal)
    if not outcome.is_final:
        # A version that was refused because of one that is deleted by now is in the way.
        assert client.is_down or outcome.reason == "SchemaRefusedError", outcome.error
        return "undelivered"
    (fresh,) = send(world.client()[1], event)
    assert isinstance(fresh, Refusal), (event, outcome.error)
    # The version that was in the way may be deleted by now, and a refused one be in its place.
    assert fresh.is_final or fresh.reason == "SchemaRefusedError"
    return "rejected"


@pytest.fixture
def world(topic: FakeTopic) -> _World:
    """A world whose producers register under BACKWARD."""
    return _World(random.Random(0), topic, Compatibility.BACKWARD, Policy.EXACT)


@pytest.mark.parametrize("compared_with", list(ComparedWith))
def test_an_event_is_not_rejected_under_an_old_list_of_versions(
    world: _World, compared_with: ComparedWith
) -> None:
    world.store.compared_with = compared_with
    (_, one), (_, two) = world.client(), world.client()
    written(one, {"t": 30}, {"t": 30})
    written(two, {"t": 30}, {"t": 30.5})

    (said,) = written(one, {"t": 31, "humidity": 4})

    assert said["schema"]["diff"] == ["+ humidity: long (optional)"]
    assert [each.status for each in world.store.list_versions(_SUBJECT)] == ["AVAILABLE"] * 3


def test_an_event_that_another_producer_outran_is_written(world: _World) -> None:
    (client, one), (_, two) = world.client(), world.client()
    written(one, {"t": 30})
    written(two, {"t": 30})
    client.race = lambda: written(two, {"t": 30.5})

    conflict, outrun = send(one, {"t": "warm"}, {"t": 31, "humidity": 4})

    assert isinstance(conflict, Refusal)
    assert isinstance(outrun, Produced)
    statuses = [each.status.value for each in world.store.list_versions(_SUBJECT)]
    assert statuses == ["AVAILABLE", "AVAILABLE", "FAILURE", "AVAILABLE"]


def test_times_of_another_form_than_that_of_the_winner_are_written(topic: FakeTopic) -> None:
    world = _World(random.Random(0), topic, Compatibility.NONE, Policy.EXACT)
    (client, one), (_, two) = world.client(), world.client()
    client.race = lambda: written(two, {"timestamp": "2026-11-21T08:00:00Z"})

    assert len(written(one, {"timestamp": 5}, {"timestamp": 6, "t": 30}, {"t": 31})) == 3


def test_without_the_registry_no_event_is_rejected_for_good(world: _World) -> None:
    client, producer = world.client()
    written(producer, {"t": 30})
    client.is_down = True

    known, conflict = send(producer, {"t": 31}, {"t": "warm"})

    assert isinstance(known, Produced)
    assert isinstance(conflict, Refusal)
    assert (conflict.reason, conflict.is_final) == ("RegistryUnavailableError", False)


def test_a_deleted_version_is_not_written_once_the_list_is_read_again(world: _World) -> None:
    _, producer = world.client()
    written(producer, {}, {"t": 1}, {"t": 1, "u": 1})
    deleted = world.store.list_versions(_SUBJECT)[1]
    world.store.delete(deleted.id)
    world.time.sleep(31)

    (said,) = written(producer, {"t": 1})

    assert (said["schema"]["version"], said["schema"]["created"]) == (4, True)
    assert producer.version_count == 3


def test_no_event_that_a_fresh_producer_accepts_is_rejected(
    seeded: random.Random, trials: Callable[[int, int], int], topic: FakeTopic
) -> None:
    became: set[str] = set()
    for at in range(trials(16, 2_000)):
        mode, policy = _MODES[at % 4], [Policy.EXACT, Policy.GROW][at // 4 % 2]
        world = _World(random.Random(seeded.random()), topic, mode, policy)

        became.update(_run(world, 60))

        # Besides races, only a rule with two readings costs numbers.
        assert world.wasted <= (3 if mode in {Compatibility.FULL, Compatibility.FORWARD} else 0)
    assert became == {"written", "rejected", "undelivered"}
