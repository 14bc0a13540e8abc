"""A producer that writes events to Kafka under schemas registered in the schema registry."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, cast

from penstock.attempts import Attempts
from penstock.errors import (
    DeliveryError,
    EventError,
    EventLimitError,
    IncompatibleSchemaError,
    PenstockError,
    RegistryAnswerError,
    RegistryUnavailableError,
    SchemaConflictError,
    SchemaNotFoundError,
    SettingsError,
    TopicNotFoundError,
    VersionBudgetError,
)
from penstock.framing import SchemaKey, encode_frame
from penstock.kafka import Delivery, Message, Producer, ensure_topic, name_nearest_topic
from penstock.producing._batch import AskedTooSoonError, Batch, Prepared
from penstock.producing._deadline import run_within
from penstock.producing._fitting import fit_event
from penstock.producing.outcomes import Outcome, Previewed, Produced
from penstock.producing.refusals import Refusal, make_refusal
from penstock.producing.settings import ProducerSettings
from penstock.producing.stamper import StampedEvent
from penstock.records import RowShape, base_fields, check_key, list_key_fields, write_key
from penstock.registry import (
    CachedRegistry,
    Registration,
    SchemaVersion,
    load_registry,
)
from penstock.schemas import (
    Policy,
    Schema,
    TypeRules,
    VersionSet,
    compile_encoder,
    diff_schemas,
    find_decimal,
    fit_event_time,
    infer_schema,
    parse_event,
    read_decimal,
    to_record,
    write_value,
)

_log = logging.getLogger(__name__)

# The registry seldom gives an impossible answer twice.
_ANSWER_ATTEMPTS = Attempts(first_seconds=0.1, longest_seconds=1, total_seconds=2)

# Limits of a send and of a call to the registry; the time left for the batch is often shorter.
_SEND_SECONDS = 10.0
_CALL_SECONDS = 3.0

# The share of the time for registering: if the registry hangs, known events must still be sent.
_REGISTERING_SHARE = 0.6

_MAX_COMPILED = 1_000


class EventProducer:
    """Writes events to one topic, one batch at a time."""

    def __init__(
        self,
        settings: ProducerSettings,
        registry: CachedRegistry,
        producer: Producer,
        *,
        create_topic: bool = False,
    ) -> None:
        self._settings = settings
        self._create_topic = create_topic
        self._registry = registry
        self._base = base_fields(settings.shape)
        shape = settings.shape
        self._rules = TypeRules(
            settings.numbers,
            settings.times,
            list_key_fields(shape),
            shape.event_time,
            keeps_authored=settings.policy is not Policy.EXACT,
        )
        self._producer = producer
        self._versions = VersionSet(())
        self._listed: tuple[SchemaVersion, ...] = ()
        self._used_keys: set[SchemaKey] = set()

    @property
    def version_count(self) -> int:
        """The number of usable schema versions that this producer knows."""
        return len(self._used_keys.union(_keys(self._listed)))

    def produce(self, events: Sequence[StampedEvent], seconds: float) -> list[Outcome]:
        """Write events, wait until they are acknowledged, and return the outcome of each.

        New schemas are registered, unless the policy is fixed. An event that is not acknowledged
        when the time is over counts as not written; it may or may not be written.
        """
        deadline = time.monotonic() + seconds
        batch = self._open_batch(events, deadline, seconds)
        run_within(seconds * _REGISTERING_SHARE, partial(self._prepare_all, batch))
        # A copy, because a thread that ran out of time may still append to it.
        ready = sorted(batch.prepared, key=lambda each: each.index)
        late = make_refusal(
            DeliveryError(f"not acknowledged within {seconds:g} s, it may or may not be written")
        )
        for each in ready:
            batch.outcomes[each.index] = late
        final = list(batch.outcomes)
        if ready:
            left = deadline - time.monotonic()
            run_within(left, partial(self._send_all, ready, final, left))
        return list(final)

    def preview(self, events: Sequence[StampedEvent], seconds: float) -> list[Previewed | Refusal]:
        """Return what would become of each event; new versions are in the registry alone."""
        batch = self._open_batch(events, time.monotonic() + seconds, seconds)
        self._prepare_all(batch)
        ready = {each.index: Previewed(each.registration, each.warning) for each in batch.prepared}
        return [ready.get(at, cast("Refusal", each)) for at, each in enumerate(batch.outcomes)]

    def _open_batch(self, events: Sequence[StampedEvent], deadline: float, seconds: float) -> Batch:
        late = make_refusal(
            RegistryUnavailableError(f"its schema is not registered after {seconds:g} s")
        )
        return Batch(events, deadline, [late] * len(events))

    def _prepare_all(self, batch: Batch) -> None:
        """Prepare events, first those of known versions: the others' calls may use up the time."""
        left = self._prepare_some(range(len(batch.events)), batch)
        batch.may_ask = True
        self._prepare_some(left, batch)

    def _prepare_some(self, indexes: Iterable[int], batch: Batch) -> list[int]:
        """Prepare some events; return those that must ask the registry and may not yet."""
        left = []
        for index in indexes:
            if time.monotonic() > batch.deadline:
                break  # no caller waits for the rest
            event = batch.events[index]
            try:
                batch.prepared.append(self._prepare(index, event, batch))
            except PenstockError as error:
                batch.outcomes[index] = make_refusal(error, self._diff(event.event, error))
            except AskedTooSoonError:
                left.append(index)
        return left

    def _prepare(self, index: int, stamped: StampedEvent, batch: Batch) -> Prepared:
        event = stamped.event if stamped.is_parsed else parse_event(_write_json(stamped.event))
        registration, record = self._register(event, stamped.base, batch)
        version = registration.version
        payload = _compile(version)(record)
        frame = encode_frame(version.key, payload, self._settings.compression)
        shape = self._settings.shape
        key = write_key(shape, _read_values(shape, version.schema, record))
        warning = self._warn(registration)
        return Prepared(index, Message(self._settings.topic, frame, key), registration, warning)

    def _warn(self, registration: Registration) -> str:
        """Return a warning if a new version uses half of the version budget or more."""
        if not registration.created or self._settings.policy is Policy.FIXED:
            return ""
        warning = self._versions.warn(
            registration.version.schema, self._settings.policy, self._settings.version_budget
        )
        if warning:
            _log.warning("schema %s: %s", registration.version.name, warning)
        return warning

    def _register(
        self, event: dict[str, Any], base: Mapping[str, Any], batch: Batch
    ) -> tuple[Registration, dict[str, Any]]:
        """Find or register the schema of an event; retry while the registry's answer is wrong."""
        is_fixed = self._settings.policy is Policy.FIXED
        find = self._find_fixed if is_fixed else self._find_or_register
        for _ in _ANSWER_ATTEMPTS:
            try:
                registration, record = find(event, base, batch)
                self._used_keys.add(registration.version.key)
                return registration, record
            except RegistryAnswerError as error:
                problem = error
        raise problem

    def _find_or_register(
        self, event: dict[str, Any], base: Mapping[str, Any], batch: Batch
    ) -> tuple[Registration, dict[str, Any]]:
        """Find or register the schema of an event, and return its record too.

        Other producers register versions too. So no event is rejected, and no version registered,
        under a list of versions that was read before the event came.
        """
        name, settings = self._settings.schema_name, self._settings
        while True:
            versions = self._read_versions(batch)
            try:
                known = versions.merged
                inferred = infer_schema(event, name, known, self._base, self._rules)
                chosen = versions.choose(inferred, settings.policy, settings.version_budget)
                timed = fit_event_time({**base, **event}, chosen, settings.shape.event_time)
                record = to_record(timed, chosen)
                check_key(settings.shape, _read_values(settings.shape, chosen, record))
                listed = self._find_listed(chosen)
                if listed is not None:
                    return listed, record
                if batch.is_list_fresh:
                    return self._register_new(chosen, batch), record
            except PenstockError as error:
                if not make_refusal(error).is_final:
                    raise
                if batch.is_list_fresh and self._read_versions(batch) is versions:
                    raise
            self._refresh(batch)

    def _find_fixed(
        self, event: dict[str, Any], base: Mapping[str, Any], batch: Batch
    ) -> tuple[Registration, dict[str, Any]]:
        """Return the newest version and the record of an event that fits it; register nothing.

        Before an event is rejected, the versions are listed again, once for a batch.
        """
        shape = self._settings.shape
        while True:
            versions = batch.ask(partial(self._registry.versions, self._settings.schema_name))
            self._listed = versions
            try:
                record = fit_event(event, base, versions, self._settings)
                check_key(shape, _read_values(shape, versions[-1].schema, record))
                previous = versions[-2] if len(versions) > 1 else None
                return Registration(versions[-1], False, previous), record
            except (EventError, SchemaNotFoundError, SettingsError):
                if batch.is_list_fresh:
                    raise
            self._refresh(batch)

    def _refresh(self, batch: Batch) -> None:
        """List the versions again, once for all events of a batch."""
        if batch.is_list_fresh:
            return
        if not batch.may_ask:
            raise AskedTooSoonError
        batch.ask(partial(self._registry.refresh, self._settings.schema_name))
        batch.is_list_fresh = True

    def _register_new(self, schema: Schema, batch: Batch) -> Registration:
        """Register a schema; the registry's rule is asked once for all events of a batch."""
        form = json.dumps(schema)
        if form in batch.incompatible:
            raise batch.incompatible[form].with_traceback(None)
        try:
            return self._registry.register(self._settings.schema_name, schema)
        except IncompatibleSchemaError as error:
            batch.incompatible[form] = error
            raise

    def _read_versions(self, batch: Batch) -> VersionSet:
        versions = batch.ask(partial(self._registry.versions, self._settings.schema_name))
        keys, known_keys = _keys(versions), _keys(self._listed)
        if keys != known_keys:
            known, before = len(known_keys), self._versions
            if keys[:known] != known_keys:  # a version was deleted
                known, before = 0, VersionSet(())
            new = versions[known:]
            # If they contradict each other, nothing is kept: the next event finds it out again.
            merged = VersionSet([version.schema for version in new], before)
            self._listed, self._versions = (*self._listed[:known], *new), merged
            self._used_keys = set()
        return self._versions

    def _find_listed(self, schema: Schema) -> Registration | None:
        """Return the version that `VersionSet.choose` returned the schema of, if it is one.

        It is not registered again: its text may differ from ours, and Glue compares texts.
        """
        for previous, version in zip((None, *self._listed), self._listed, strict=False):
            if version.schema is schema:
                return Registration(version, False, previous)
        return None

    def _diff(self, event: Any, error: PenstockError) -> tuple[str, ...]:
        """Return the schema changes that the event would make, if its schema is the problem."""
        merged = self._versions.merged
        if not isinstance(error, SchemaConflictError | VersionBudgetError) or merged is None:
            return ()
        try:
            name = self._settings.schema_name
            inferred = infer_schema(event, name, None, self._base, self._rules)
        except PenstockError:  # it contradicts itself
            return ()
        # A field that the event leaves out is no change: a record may leave fields out.
        return tuple(str(each) for each in diff_schemas(merged, inferred).changes if each.after)

    def _send_all(self, ready: list[Prepared], outcomes: list[Outcome], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        sent: Sequence[Delivery | PenstockError]
        try:
            sent = self._send([each.message for each in ready], deadline)
        except PenstockError as error:
            sent = [error] * len(ready)
        for each, delivery in zip(ready, sent, strict=True):
            if isinstance(delivery, Delivery):
                outcomes[each.index] = Produced(delivery, each.registration, each.warning)
            else:
                outcomes[each.index] = make_refusal(delivery)

    def _send(self, messages: list[Message], deadline: float) -> Sequence[Delivery | PenstockError]:
        """Send records; if the topic does not exist and may be created, create and send again."""
        try:
            return self._producer.send_all(messages, seconds=deadline - time.monotonic())
        except TopicNotFoundError:
            if not self._create_topic:
                raise name_nearest_topic(self._settings.kafka, self._settings.topic) from None
            left = deadline - time.monotonic()
            ensure_topic(self._settings.kafka, self._settings.new_topic, timeout_seconds=left)
        return self._producer.send_all(messages, seconds=deadline - time.monotonic())


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(version: SchemaVersion) -> Callable[[Any], bytes]:
    return compile_encoder(version.schema)


def _keys(versions: Sequence[SchemaVersion]) -> tuple[SchemaKey, ...]:
    return tuple(version.key for version in versions)


def _read_number(type_: Any, value: bytes) -> Any:
    for each in type_ if isinstance(type_, list) else [type_]:
        if isinstance(each, dict) and (found := find_decimal(each, each.get("size"))):
            return read_decimal(value, found[1])
    return value


def _read_values(shape: RowShape, schema: Schema, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the fields that a row's key and order need, by their names in JSON.

    Decimals are numbers and not bytes.
    """
    names = {*list_key_fields(shape), shape.event_time}
    values = {}
    for field in schema["fields"] if isinstance(schema, dict) else ():
        if (name := field.get("jsonName", field["name"])) in names:
            value = record[field["name"]]
            # The value of a union has the name of its branch before it.
            value = value[1] if type(value) is tuple else value
            values[name] = _read_number(field["type"], value) if type(value) is bytes else value
    return values


def _write_json(event: Any) -> str:
    try:
        return write_value(event, allow_nan=True)
    except RecursionError as error:
        raise EventLimitError("found objects and lists too deep to be read") from error


def build_event_producer(
    settings: ProducerSettings, *, create_topic: bool = False
) -> EventProducer:
    """Build a producer of one topic; it makes no network call.

    Unless `create_topic` is true, a topic that does not exist is an error: it may be a typo.
    """
    return EventProducer(
        settings,
        CachedRegistry(load_registry(settings.registry, call_seconds=_CALL_SECONDS)),
        Producer(settings.kafka, _SEND_SECONDS, settings.max_record_bytes),
        create_topic=create_topic,
    )
