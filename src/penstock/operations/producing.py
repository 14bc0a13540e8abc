"""Events into a topic: generated from a registered schema, or read from JSON lines."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final, TypeVar

from penstock.errors import BrokerError, OperationError, SchemaNotFoundError, TopicNotFoundError
from penstock.framing import SchemaKey
from penstock.kafka import KafkaSettings, Producer, Security, name_nearest_topic
from penstock.operations._event_lines import STDIN, SourceEvent, read_event_lines
from penstock.producing import (
    EventProducer,
    Previewed,
    Produced,
    ProducerSettings,
    Refusal,
    Stamper,
    make_refusal,
)
from penstock.records import RowShape
from penstock.registry import CachedRegistry, TrialRegistry, load_admin, load_registry
from penstock.schemas import Policy, Schema, compile_sampler, fit_event_time, select_base
from penstock.settings import Settings, nested, parse_switch, setting

# For `preview_events`, which builds a producer and never connects it.
NO_BROKERS: Final = KafkaSettings(("none:9",), Security.PLAINTEXT)
_Outcome = TypeVar("_Outcome")

_NO_EVENTS = "found no events in the source, expected a JSON object in each line"
_BATCH_EVENTS = 1_000
_BATCH_SECONDS = 30.0
_CALL_SECONDS = 5.0
_SEND_SECONDS = 10.0
_POLL_SECONDS = 0.2
_BATCHES_PER_SECOND = 10  # the most, if a rate is given


@dataclass(frozen=True, slots=True)
class ProduceSettings(Settings):
    """The brokers, the topic, the registry and the schema."""

    producer: ProducerSettings = nested(ProducerSettings)
    create_topic: bool = setting(
        "PENSTOCK_CREATE_TOPIC",
        "true to create the topic if it does not exist, which may be a typo",
        parse=parse_switch,
        default=False,
    )


@dataclass(frozen=True, slots=True)
class GeneratedEvents:
    """Random events that conform to the newest version of the schema; the same ones for a seed."""

    seed: int | None = None

    def locate(self, number: int) -> str:
        """Return the place of an event, for messages."""
        return f"event {number:,}"


@dataclass(frozen=True, slots=True)
class EventLines:
    """The events of a file of JSON lines; `-` is stdin."""

    path: str

    def locate(self, number: int) -> str:
        """Return the place of an event, for messages."""
        return f"{'stdin' if self.path == STDIN else self.path}, line {number:,}"


@dataclass(frozen=True, slots=True)
class ProducedEvent:
    """An event's number in its source, and its record, or why it is not written."""

    number: int
    written: Produced | None = None
    refusal: Refusal | None = None

    def describe(self) -> dict[str, Any]:
        """Return it as plain values."""
        if self.written:
            return {"number": self.number, **self.written.describe()}
        return {"number": self.number, **(self.refusal.describe(None) if self.refusal else {})}


@dataclass(frozen=True, slots=True)
class PreviewedEvent:
    """An event's number in its source, and what would become of it.

    `is_new` says that its schema version does not exist: it would be registered for this event, or
    for one before it.
    """

    number: int
    preview: Previewed | Refusal
    is_new: bool = False

    def describe(self) -> dict[str, Any]:
        """Return it as plain values; a version that does not exist has no id."""
        if isinstance(self.preview, Refusal):
            verdict = "refused" if self.preview.is_final else "not decided"
            return {"number": self.number, "verdict": verdict, **self.preview.describe(None)}
        described = self.preview.describe()
        if self.is_new:
            described["schema"]["id"] = None
        verdict = "new version" if self.is_new else "known version"
        return {"number": self.number, "verdict": verdict, **described}


def preview_events(
    settings: ProduceSettings,
    source: GeneratedEvents | EventLines,
    *,
    max_records: int | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Sequence[PreviewedEvent]]:
    """Yield what would become of events, in batches; nothing is registered or sent.

    The schema is read once, with its rule; versions that the events would make count for those
    after them.

    Raises:
        SettingsError: the URL names no registry of Glue, Confluent or Apicurio.
        OperationError, SchemaNotFoundError, RegistryError: see `produce_events`.
    """
    chosen = _choose_settings(settings, source)
    registry = CachedRegistry(TrialRegistry(load_admin(chosen.registry), chosen.schema_name))
    producer = EventProducer(chosen, registry, Producer(chosen.kafka, _SEND_SECONDS))
    stamper = Stamper(chosen.shape, chosen.device_id)
    made: set[SchemaKey] = set()
    has_events = False
    chunks = _read_source(source, chosen, registry, is_stopped)
    for batch in _split(chunks, _BATCH_EVENTS, max_records):
        if is_stopped():
            return
        yield [_note(*each, made) for each in _preview(producer, stamper, batch)]
        has_events = True
    if not has_events and not is_stopped():
        raise OperationError(_NO_EVENTS)


def _preview(
    producer: EventProducer, stamper: Stamper, batch: Sequence[SourceEvent]
) -> list[tuple[int, Previewed | Refusal]]:
    def preview(events: Sequence[Any]) -> Sequence[Previewed | Refusal]:
        stamped = [stamper.stamp(each, is_parsed=True) for each in events]
        return producer.preview(stamped, _BATCH_SECONDS)

    return _pair(batch, preview)


def _note(number: int, preview: Previewed | Refusal, made: set[SchemaKey]) -> PreviewedEvent:
    """Return a previewed event; the key of a version that it would make is added to `made`."""
    if isinstance(preview, Refusal):
        return PreviewedEvent(number, preview)
    key = preview.registration.version.key
    if preview.registration.created:
        made.add(key)
    return PreviewedEvent(number, preview, key in made)


def produce_events(
    settings: ProduceSettings,
    source: GeneratedEvents | EventLines,
    *,
    max_records: int | None = None,
    rate: float | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Sequence[ProducedEvent]]:
    """Write events to a topic in batches, and yield the outcomes of each acknowledged batch.

    Args:
        settings: the brokers, the topic, the registry and the schema.
        source: the events; they are read as they are needed, in their order.
        max_records: the most events to write.
        rate: the most events per second.
        is_stopped: asked between batches and while waiting; no batch begins after it is true.

    Raises:
        OperationError: the source cannot be read, or has no event that could be written.
        SchemaNotFoundError: events are to be generated for a schema that is not registered.
        SettingsError, RegistryError, TopicNotFoundError: the registry or topic cannot be used.
    """
    chosen = _choose_settings(settings, source)
    registry = CachedRegistry(load_registry(chosen.registry, call_seconds=_CALL_SECONDS))
    chunks = _read_source(source, chosen, registry, is_stopped)
    batches = _split(chunks, _BATCH_EVENTS if rate is None else _batch_size(rate), max_records)
    stamper = Stamper(chosen.shape, chosen.device_id)
    produced: Sequence[ProducedEvent] = ()
    with Producer(chosen.kafka, _SEND_SECONDS, chosen.max_record_bytes) as kafka:
        _check_topic(settings, kafka)
        producer = EventProducer(chosen, registry, kafka, create_topic=settings.create_topic)
        for batch in batches if rate is None else _pace(batches, rate, is_stopped):
            if is_stopped():
                return
            yield (produced := _produce(producer, stamper, batch))
            _check_progress(produced, source)
    if not produced and not is_stopped():
        raise OperationError(_NO_EVENTS)


def _choose_settings(
    settings: ProduceSettings, source: GeneratedEvents | EventLines
) -> ProducerSettings:
    if isinstance(source, GeneratedEvents):
        return replace(settings.producer, policy=Policy.FIXED)
    return settings.producer


def _check_topic(settings: ProduceSettings, kafka: Producer) -> None:
    """Raise TopicNotFoundError for a topic that may be a typo, before a schema is registered."""
    topic = settings.producer.topic
    try:
        kafka.connect([topic])
    except TopicNotFoundError:
        if not settings.create_topic:
            raise name_nearest_topic(settings.producer.kafka, topic) from None
    except BrokerError:
        return  # each event says why it is not written


def _read_source(
    source: GeneratedEvents | EventLines,
    settings: ProducerSettings,
    registry: CachedRegistry,
    is_stopped: Callable[[], bool],
) -> Iterator[list[SourceEvent]]:
    if isinstance(source, EventLines):
        return read_event_lines(source.path, is_stopped)
    name = settings.schema_name
    version = registry.latest(name)
    if version is None:
        raise SchemaNotFoundError(
            f"found no version of schema {name} in {registry.source}, expected one that events can "
            "be generated for"
        )
    if not isinstance(version.schema, dict) or version.schema["type"] != "record":
        raise OperationError(
            f"found version {version.number} of schema {name}, expected the schema of a record"
        )
    return _generate(version.schema, settings.shape, Random(source.seed))  # noqa: S311


def _generate(schema: Schema, shape: RowShape, random: Random) -> Iterator[list[SourceEvent]]:
    """Yield events without end; the present is their time, if the schema has a field for it."""
    sample = compile_sampler(schema)
    base = {shape.event_time: 0} if shape.event_time else {}
    present = select_base(schema, fit_event_time(base, schema, shape.event_time))
    for first in itertools.count(1, _BATCH_EVENTS):
        events = [sample(random) for _ in range(_BATCH_EVENTS)]
        left_out = ({k: v for k, v in event.items() if k not in present} for event in events)
        yield list(map(SourceEvent, itertools.count(first), left_out))


def _batch_size(rate: float) -> int:
    return min(_BATCH_EVENTS, max(1, int(rate / _BATCHES_PER_SECOND)))


def _split(
    chunks: Iterator[list[SourceEvent]], size: int, records: int | None
) -> Iterator[list[SourceEvent]]:
    """Yield batches of at most `size` events, and at most `records` events in all."""
    for chunk in chunks:
        for start in range(0, len(chunk), size):
            batch = chunk[start : start + size][:records]
            yield batch
            if records is not None:
                records -= len(batch)
                if not records:
                    return


def _pace(
    batches: Iterator[list[SourceEvent]], rate: float, is_stopped: Callable[[], bool]
) -> Iterator[list[SourceEvent]]:
    """Yield each batch when it is due."""
    due = time.monotonic()
    for batch in batches:
        while (left := due - time.monotonic()) > 0 and not is_stopped():
            time.sleep(min(left, _POLL_SECONDS))
        # Time that the source was silent is not made up for.
        due = max(due, time.monotonic()) + len(batch) / rate
        yield batch


def _produce(
    producer: EventProducer, stamper: Stamper, batch: Sequence[SourceEvent]
) -> Sequence[ProducedEvent]:
    def write(events: Sequence[Any]) -> Sequence[Produced | Refusal]:
        return producer.produce(
            [stamper.stamp(each, is_parsed=True) for each in events], _BATCH_SECONDS
        )

    return [
        ProducedEvent(number, refusal=outcome)
        if isinstance(outcome, Refusal)
        else ProducedEvent(number, outcome)
        for number, outcome in _pair(batch, write)
    ]


def _pair(
    batch: Sequence[SourceEvent], write: Callable[[Sequence[Any]], Sequence[_Outcome | Refusal]]
) -> list[tuple[int, _Outcome | Refusal]]:
    """Return the number and the outcome of each event; those that cannot be read are refused."""
    readable = [each.event for each in batch if each.problem is None]
    outcomes = iter(write(readable) if readable else ())
    return [
        (each.number, make_refusal(each.problem) if each.problem else next(outcomes))
        for each in batch
    ]


def _check_progress(
    produced: Sequence[ProducedEvent], source: GeneratedEvents | EventLines
) -> None:
    """Raise an error if brokers or registry let no event through: the next batch would wait too."""
    if all(each.refusal and not each.refusal.is_final for each in produced):
        raise OperationError(
            f"stopped after {source.locate(produced[-1].number)}: the brokers or the registry "
            f"accepted none of the last {len(produced):,} events"
        )
