"""The programs of the simulation: environments of producer functions, and event source mappings."""

from __future__ import annotations

import io
import json
import random
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast
from unittest.mock import patch
from weakref import WeakKeyDictionary

import fastavro

from localcloud.services.glue.registry.store import Version
from penstock.consuming import Consumed, Consumer, ErrorSink
from penstock.errors import PenstockError, RegistryError
from penstock.kafka import KafkaSettings, Security
from penstock.producing import EventProducer, Outcome, ProducerSettings, Refusal, Stamper
from penstock.records import READING, Mode, RowShape
from penstock.registry import CachedRegistry, Registries
from penstock.registry.glue import GlueRegistry, GlueSettings
from penstock.schemas import Policy
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, open_table
from tests.simulation.aws import SimulatedClient, SimulatedGlue, SimulatedTables
from tests.simulation.bucket import SimulatedBucket
from tests.simulation.remembered import results_remembered
from tests.simulation.scheduler import Program, Scheduler
from tests.simulation.topic import SimulatedProducer, SimulatedTopic
from tests.simulation.weather import Weather
from tests.stubs.dynamodb_tables import DynamoDbTables

SCHEMA = "sensor"
BUDGET = 30  # versions
READINGS, LATEST, ERRORS = "readings", "latest", "errors"
NEWEST = RowShape(mode=Mode.UPSERT, sort_name=None)
TABLES_OF_ERRORS = ERRORS, f"{ERRORS}-{LATEST}"
SHAPES = {READINGS: READING, LATEST: NEWEST}

_KAFKA = KafkaSettings(("127.0.0.1:9",), Security.PLAINTEXT)
_PRODUCER_SECONDS, _CONSUMER_SECONDS = 20.0, 60.0  # time-outs of the functions
_RETRY_SECONDS = 8.0
_LAG_SECONDS = 300.0  # of a poller that has lost its partition and does not know
_BATCH = 40
_POLL_SECONDS = 0.02
_SHORT = 0.05  # share of what seldom happens
_NEXT_DEVICE = 0.1  # of batches, which are the first of another device
_LATE_DEVICE = "late"
_PAGE = 5  # rows of a query
_GROWN_SECONDS = 5_000.0  # after which the topic has one more partition
_MOST_BYTES = 2_000  # of a row, so that one that is too large costs little


@dataclass
class Told:
    """An event and its last outcome; None until the sender has one."""

    event: dict[str, Any]
    outcome: Outcome | None = None
    tries: int = 0


@dataclass
class World:
    """The services, and all that was sent."""

    scheduler: Scheduler
    weather: Weather
    glue: SimulatedGlue
    tables: DynamoDbTables
    topic: SimulatedTopic
    bucket: SimulatedBucket
    told: list[Told] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    asked: WeakKeyDictionary[object, SimulatedClient] = field(default_factory=WeakKeyDictionary)

    @classmethod
    def build(cls, scheduler: Scheduler, trouble: float) -> World:
        """Build a world without records; this share of calls goes wrong."""
        keys = {name: shape.table_key for name, shape in SHAPES.items()}
        keys |= dict.fromkeys(TABLES_OF_ERRORS, ("id",))
        tables = DynamoDbTables(keys, page=_PAGE)
        for name in SHAPES:
            tables.tables[name].most_bytes = _MOST_BYTES
        weather = Weather(scheduler, trouble)
        topic = SimulatedTopic(SCHEMA, 4, scheduler.random.uniform(0, _GROWN_SECONDS))
        glue, bucket = SimulatedGlue(scheduler.random), SimulatedBucket(weather)
        return cls(scheduler, weather, glue, tables, topic, bucket)

    @property
    def chance(self) -> random.Random:
        """The source of chance."""
        return self.scheduler.random

    def open_registry(self) -> tuple[CachedRegistry, SimulatedClient]:
        """Return a registry with nothing cached, and the client that it asks."""
        client = SimulatedClient("glue", self.weather, self.glue.handle)
        registry = GlueRegistry(GlueSettings("simulated", "eu-central-1", call_seconds=3), client)
        return CachedRegistry(registry, clock=time.monotonic), client

    def hear(self, program: object) -> Callable[[PenstockError], None]:
        """Return what hears of an outage: the program must ask its registry from now on."""
        client = self.asked[program]
        before = client.answered

        def hear(said: PenstockError) -> None:
            is_outage = isinstance(said, RegistryError) and said.retriable
            if is_outage and client.answered == before and not client.under_way:
                self.problems.append(f"without a call, a registry is said to be down: {said!r}")

        return hear

    def open_dynamodb(self, tables: DynamoDbTables | None = None) -> DynamoDbClient:
        """Return a client of the tables, or of others."""
        service = SimulatedTables(self.weather, self.chance, tables or self.tables, self.replaced)
        return DynamoDbClient(client=SimulatedClient("dynamodb", self.weather, service.handle))

    def open_producer(self) -> EventProducer:
        """Return the producer of an environment that has just started."""
        policy = self.chance.choice([*[Policy.GROW] * 7, Policy.EXACT])
        settings = ProducerSettings(
            _KAFKA, "glue://simulated", policy=policy, version_budget=BUDGET, topic=self.topic.name
        )
        producer = SimulatedProducer(self.topic, self.weather)
        registry, client = self.open_registry()
        opened = EventProducer(settings, registry, producer)  # type: ignore[arg-type]
        self.asked[opened] = client
        return opened

    def open_consumer(
        self, table: str, errors: ErrorSink | None = None, stage: str = "lambda"
    ) -> Consumer:
        """Return the consumer of an environment that has just started, or of a task."""
        client, store = self.open_dynamodb(), cast("ObjectStore", self.bucket)
        name = ERRORS if table == READINGS else f"{ERRORS}-{table}"
        errors = errors or ErrorTable(client, name, store, clock=time.time)
        registry, asked = self.open_registry()
        consumer = Consumer(
            Registries([registry]),
            open_table(client, table, SHAPES[table]),
            errors,
            stage,
            partial_answers=table == READINGS and stage == "lambda",
        )
        self.asked[consumer] = asked
        return consumer

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put programs of the simulation in the place of threads, and their turns in that of waits.

        A call that ran out of time goes on, as its thread does.
        """
        sleep = self.scheduler.sleep

        class Awaited(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                while not self.done():
                    sleep(_POLL_SECONDS)
                return super().result()

        with (
            patch("penstock.producing.producer.run_within", self._run_within),
            patch("penstock.registry.cache.Future", Awaited),
            results_remembered(),
        ):
            yield

    def _run_within(self, seconds: float, call: Any) -> bool:
        program = self.scheduler.start("call", call)
        if not self.scheduler.wait(program, seconds):
            return False
        if program.error is not None:
            raise program.error
        return True


class Sender:
    """A program that sends events, and sends those again that may be written later.

    Its environment dies now and then; what the environment was doing goes on, or not.
    """

    def __init__(self, world: World, number: int, make_event: Any) -> None:
        self._world = world
        self._make_event = make_event
        self._devices = (f"d-{number}-{device}" for device in count())
        self._stamper = Stamper(READING, next(self._devices))
        self._producer = world.open_producer()
        self._left: list[Told] = []
        self.is_ending = False

    @property
    def is_done(self) -> bool:
        """Whether each event of the sender is written, or refused for good."""
        return self.is_ending and not self._left

    def run(self) -> None:
        """Send batches, for as long as the simulation takes."""
        world, chance = self._world, self._world.chance
        while not self.is_done:
            world.scheduler.sleep(chance.expovariate(1 / 100))
            batch, self._left = self._left[:20], self._left[20:]
            if not self.is_ending:
                batch += [self._begin() for _ in range(chance.randint(0, 4))]
            if chance.random() < _NEXT_DEVICE:
                self._stamper = Stamper(READING, next(self._devices))
            if batch:
                self._send(batch)

    def _begin(self) -> Told:
        told = Told(self._make_event())
        self._world.told.append(told)
        return told

    def _send(self, batch: list[Told]) -> None:
        world = self._world
        if world.weather.happens("producer starts again", _SHORT):
            self._producer = world.open_producer()
        outcomes: list[Outcome] = []
        hear = world.hear(self._producer)

        def invoke() -> None:
            stamped = [self._stamper.stamp(each.event) for each in batch]
            outcomes.extend(self._producer.produce(stamped, _PRODUCER_SECONDS / 2))

        function = world.scheduler.start("producer", invoke)
        patience = _PRODUCER_SECONDS
        if world.weather.happens("producer killed", _SHORT):
            patience = world.chance.uniform(0, 1)
        if not world.scheduler.wait(function, patience):
            function.kill()
            self._producer = world.open_producer()
            self._left += batch
            return
        if function.error is not None:
            raise function.error
        for told, outcome in zip(batch, outcomes, strict=True):
            told.tries += 1
            told.outcome = outcome
            if isinstance(outcome, Refusal) and not outcome.is_final:
                self._left.append(told)
                hear(outcome.error)


class Mapping:
    """The poller of one partition for one function, as Lambda's event source mapping is."""

    def __init__(self, world: World, table: str, partition: int) -> None:
        self._world = world
        self._table = table
        self._partition = partition
        self._consumer = world.open_consumer(table)
        self._other = world.open_consumer(table)
        self._other_run: Program | None = None
        self.position = 0

    @property
    def is_done(self) -> bool:
        """Whether all records were delivered, with success."""
        return self.position == len(self._world.topic.records[self._partition])

    def run(self) -> None:
        """Deliver records in order, for as long as the simulation takes."""
        world = self._world
        while True:
            records = world.topic.records[self._partition]
            batch = records[self.position : self.position + world.chance.randint(1, _BATCH)]
            if not batch:
                world.scheduler.sleep(world.chance.uniform(1, 20))
                continue
            if (consumed := self._invoke(batch)) is None:
                world.scheduler.sleep(world.chance.uniform(1, _RETRY_SECONDS))
                continue
            if world.weather.happens("delivered again", _SHORT):
                continue
            held = [source.offset for source in consumed.held]
            if self.position in held:
                world.problems.append(f"{batch[0].source}: an answer, and no record has an outcome")
            self.position = min(held, default=batch[-1].source.offset + 1)

    def _invoke(self, batch: list[Any]) -> Consumed | None:
        world = self._world
        if world.weather.happens("consumer starts again", _SHORT):
            self._consumer = world.open_consumer(self._table)
        if world.weather.happens("delivered to two", _SHORT):
            self._invoke_other(batch)
        hear = world.hear(self._consumer)
        found: list[Consumed] = []
        function = world.scheduler.start(
            "consumer", lambda: found.append(self._consumer.consume(batch))
        )
        patience = _CONSUMER_SECONDS
        if world.weather.happens("consumer killed", _SHORT):
            patience = world.chance.uniform(0, 1)
        if not world.scheduler.wait(function, patience):
            function.kill()
            self._consumer = world.open_consumer(self._table)
            return None
        if isinstance(function.error, PenstockError):
            hear(function.error)
            return None  # the mapping delivers the batch again, whatever the error
        if function.error is not None:
            raise function.error
        return found[0]

    def _invoke_other(self, batch: list[Any]) -> None:
        """Let another environment consume a batch too, now or when others have gone on.

        It is a new one if the last is still at work.
        """
        is_busy = self._other_run is not None and not self._other_run.is_done
        if is_busy or self._world.weather.happens("consumer starts again", _SHORT):
            self._other = self._world.open_consumer(self._table)
        seconds = self._world.chance.choice([0, self._world.chance.uniform(0, _LAG_SECONDS)])

        def consume() -> None:
            self._world.scheduler.sleep(seconds)
            self._other.consume(batch)

        self._other_run = self._world.scheduler.start("other consumer", consume)


@dataclass
class Intruder:
    """A program that writes what no producer of Penstock writes, between the records of others."""

    world: World
    hostile: set[bytes] = field(default_factory=set)
    late: set[bytes] = field(default_factory=set)  # whose version becomes known later
    is_ending: bool = False

    def run(self) -> None:
        """Write records now and then."""
        chance = self.world.chance
        while not self.is_ending:
            self.world.scheduler.sleep(chance.expovariate(1 / 120))
            value = self._make_value()
            self.hostile.add(value)
            device = _LATE_DEVICE if value in self.late else f"d-{chance.randrange(3)}"
            self.world.topic.append(device.encode(), value)

    def _make_value(self) -> bytes:
        chance = self.world.chance
        genuine = [
            each.value
            for each in self.world.topic.all_records()
            if each.value and each.value not in self.hostile
        ]
        make = chance.choice(["noise", "unknown", "late", "truncated", "zlib", "refused"])
        if make == "late" and (version := self.world.glue.add_late(SCHEMA)):
            value = _write_smallest(version, _LATE_DEVICE)
            self.late.add(value)
            return value
        if make == "refused" and (refused := self.world.glue.add_refused(SCHEMA)):
            return _write_smallest(refused, "d-0")
        if make == "truncated" and genuine:
            value = chance.choice(genuine)
            return value[: chance.randrange(18, len(value))]
        if make == "unknown":
            return b"\x03\x00" + chance.randbytes(16) + b"\x02a"
        if make == "zlib" and genuine:  # which ends too early, or has bytes after its end
            value = chance.choice(genuine)
            stream, more = zlib.compress(value[18:]), chance.randrange(1, 6)
            stream = chance.choice([stream[:-more], stream + chance.randbytes(more)])
            return b"\x03\x05" + value[2:18] + stream
        return b"{" + chance.randbytes(chance.randrange(30))


def _write_smallest(version: Version, device: str) -> bytes:
    """Return the frame of a record that has the fields without defaults."""
    out = io.BytesIO()
    event = {"deviceId": device, "timestamp": 0, "must": 1}
    fastavro.schemaless_writer(out, json.loads(version.definition), event)
    return b"\x03\x00" + uuid.UUID(version.id).bytes + out.getvalue()
