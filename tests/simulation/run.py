"""One run: an hour of trouble and the calm after it, from one seed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from localcloud.services.glue.registry.store import Status
from penstock.producing import Produced, Refusal
from tests.simulation.jobs import Jobs
from tests.simulation.oracle import (
    Sent,
    Written,
    check_log,
    check_sent,
    check_tables,
    group_by_source,
    inflate,
)
from tests.simulation.programs import (
    BUDGET,
    ERRORS,
    LATEST,
    READINGS,
    SCHEMA,
    Intruder,
    Mapping,
    Sender,
    World,
)
from tests.simulation.replays import Replays
from tests.simulation.scheduler import Scheduler
from tests.simulation.shop import How, Shop, make_shop_tables
from tests.simulation.trips import check_letters, check_trips
from tests.simulation.weather import Trouble
from tests.stubs.dynamodb_tables import DynamoDbTables

PROGRAMS = ("events", "joins", "jobs")
_HOUR = 3_600.0
_CALM_SECONDS = 900.0  # in which everything must end
_LAST_SECONDS = 60.0  # in which no replay begins
_OVERDUE_SECONDS = 700.0  # more than retries are apart, and their lease lasts
_TROUBLE = 0.03  # of calls
_OUTAGE_KINDS = (Trouble.LOST, Trouble.FAILED, Trouble.THROTTLED, Trouble.DENIED, None, None)
_OUTAGES = ("glue", "dynamodb", "s3", "kafka")
_LONGEST_OUTAGE = 300.0
_LOG = "dead-letters/"
_SKEW = 120.0
_TOO_LONG, _OFTEN = 2_500 * "x", 0.02  # a text for which a row has no room; share of events
_SENDERS = 3
_RETRIES = (How.LEASED, How.NEVER, How.AT_ONCE, How.NEVER)  # by seed


@dataclass
class Report:
    """A run: what it did, and what was wrong at its end."""

    seed: int
    problems: list[str]
    fired: Counter[str]
    counts: Counter[str] = field(default_factory=Counter)


class EventMaker:
    """Makes events whose fields come and go, seldom with a value of another kind."""

    def __init__(self, world: World) -> None:
        self._chance = world.chance
        self._numbers = count()

    def __call__(self) -> dict[str, Any]:
        """Make an event; `n` is its number."""
        chance = self._chance
        fields: dict[str, Callable[[], Any]] = {
            "temperature": lambda: chance.choice([30, 21.5, None, -4]),
            "humidity": lambda: chance.randrange(100),
            "label": lambda: chance.choice(["a", "", "\u00e9\u00df"]),
            "on": lambda: chance.random() < 0.5,
            "_topic": lambda: "mine",
            "place": lambda: {"lat": 52.5, **({"name": "x"} if chance.random() < 0.3 else {})},
            "tags": lambda: chance.choice([[], ["a", "b"]]),
            f"late{chance.randrange(3)}": lambda: chance.choice([1, 2.5]),
            f"note{chance.randrange(3)}": lambda: chance.choice(["a note", ""]),
        }
        chosen = chance.sample(sorted(fields), chance.choice([0, 1, 1, 2, 3]))
        event: dict[str, Any] = {"n": next(self._numbers)}
        event |= {name: fields[name]() for name in chosen}
        if chance.random() < _OFTEN:
            event["label"] = _TOO_LONG
        if chance.random() < 0.02:
            name = chance.choice(["temperature", "label", "on", "late1", "late2"])
            event[name] = chance.choice(["warm", True, 7, [1]])
        return event


def run(seed: int, hours: float = 1.0, programs: Collection[str] = PROGRAMS) -> Report:
    """Run a world from a seed, or some of its programs, and check it."""
    scheduler = Scheduler(seed)
    world = World.build(scheduler, _TROUBLE)
    jobs = Jobs(scheduler, world.weather, world.open_dynamodb)
    replays = Replays(world)
    tables = make_shop_tables()
    open_client = partial(world.open_dynamodb, tables)
    shop = Shop(scheduler, world.weather, tables, open_client, world.bucket, _RETRIES[seed % 4])
    with (
        scheduler.instead_of_time(), world.in_place(),
        jobs.in_place(), replays.in_place(), shop.in_place(),
    ):  # fmt: skip
        make_event = EventMaker(world)
        has_events = "events" in programs
        senders = [Sender(world, number, make_event) for number in range(has_events * _SENDERS)]
        for sender in senders:
            skew = scheduler.random.uniform(-_SKEW, _SKEW)
            scheduler.start("sender", sender.run, skew=skew)
        intruder = Intruder(world)
        mappings = [
            Mapping(world, table, number)
            for table in (READINGS, LATEST)
            for number in range(has_events * world.topic.partitions)
        ]
        if has_events:
            scheduler.start("intruder", intruder.run)
        for mapping in mappings:
            scheduler.start("mapping", mapping.run)
        if "joins" in programs:
            shop.start()
        if "jobs" in programs:
            jobs.start()
        if has_events:
            replays.start()
        scheduler.start("outages", lambda: _cause_outages(world))
        scheduler.run(hours * _HOUR)
        world.weather.clear_up()
        intruder.is_ending = shop.is_ending = jobs.is_ending = True
        for sender in senders:
            sender.is_ending = True
        scheduler.run(hours * _HOUR + _CALM_SECONDS - _LAST_SECONDS)
        replays.is_ending = True
        scheduler.run(hours * _HOUR + _CALM_SECONDS)
        due_s = time.time() - _OVERDUE_SECONDS if shop.retries.are_made else 0.0
    problems = [
        *("a sender still waits" for each in senders if not each.is_done),
        *("a mapping still has records" for each in mappings if not each.is_done),
        *("a staging task still has records" for _ in range(not shop.is_done)),
        *("a replay is still at work" for _ in range(replays.at_work)),
        *(f"the dead letter {name} was replaced while it was open" for name in world.replaced),
        *world.problems,
        *shop.problems,
        *jobs.check(),
        *_check(world, intruder, replays),
        *check_letters(shop.topics["trips"], _read_trips(tables)[1].values()),
        *check_trips(shop.topics, *_read_trips(tables), due_s),
    ]
    report = Report(seed, problems, world.weather.fired)
    report.counts.update(
        hours=1,
        events=len(world.told),
        records=len(world.topic.all_records()),
        versions=len(world.glue.versions(SCHEMA, Status.AVAILABLE)),
        refused_versions=len(world.glue.versions(SCHEMA, Status.FAILURE)),
        refused=sum(isinstance(told.outcome, Refusal) for told in world.told),
        joined=len(tables.rows("p-done")),
        letters=len(tables.rows("errors")),
        job_commits=jobs.table.metadata.sequence,
        turns=scheduler.turns,
    )
    scheduler.close()
    return report


def _cause_outages(world: World) -> None:
    chance = world.chance
    while not world.weather.is_calm:
        world.scheduler.sleep(chance.expovariate(1 / 600))
        trouble = chance.choice(_OUTAGE_KINDS)
        seconds = chance.uniform(1, _LONGEST_OUTAGE)
        if not world.weather.is_calm:
            world.weather.begin_outage(chance.choice(_OUTAGES), trouble, seconds)


def _read_trips(tables: DynamoDbTables) -> tuple[dict[str, Any], dict[str, Any]]:
    final = {row["trip"]: row for row in tables.rows("p-done")}
    return final, {row["id"]: row for row in tables.rows("errors")}


def _check(world: World, intruder: Intruder, replays: Replays) -> list[str]:
    versions: list[Any] = world.glue.versions(SCHEMA, Status.AVAILABLE, Status.PENDING)
    written = {
        str(record.source): Written(
            str(record.source),
            (record.key or b"").decode(),
            record.timestamp_ms,
            record.source.offset,
            record.value or b"",
            record.value in intruder.hostile
            or len(inflate(record.value or bytes(2))) > len(_TOO_LONG),
            record.value in intruder.late,
        )
        for record in world.topic.all_records()
    }
    sent = [
        Sent(
            told.event,
            place="{topic}/{partition}/{offset}".format(**told.outcome.describe())
            if isinstance(told.outcome, Produced)
            else "",
            refused_for=str(told.outcome.error) if isinstance(told.outcome, Refusal) else "nothing",
        )
        for told in world.told
    ]
    rows = group_by_source(world.tables.rows(READINGS))
    newest = {row["deviceId"]: row for row in world.tables.rows(LATEST)}
    letters = {row["id"]: row for row in world.tables.rows(ERRORS)}
    log = [text for name, text in world.bucket.objects.items() if name.startswith(_LOG)]
    logged = [(ERRORS, name) for name in letters]
    late: list[Any] = [world.glue.find(each) for each in world.glue.hidden_until]
    return [
        *check_sent(sent, written, versions, BUDGET),
        *check_tables(written.values(), [*versions, *late], rows, newest, letters),
        *check_log(log, logged),
        *replays.check(letters),
    ]
