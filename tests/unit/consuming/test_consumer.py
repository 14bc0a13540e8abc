"""Each record of a batch becomes a reading or an error, or the batch comes again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.consuming import Consumed, Consumer, ConsumerSettings, Record, build_consumer
from penstock.errors import (
    PenstockError,
    Reason,
    RegistryAccessDeniedError,
    RegistryUnavailableError,
    RowTooLargeError,
    SchemaForbiddenError,
    SchemaRefusedError,
    SettingsError,
    SinkRefusedError,
    SinkUnavailableError,
)
from penstock.framing import encode_glue_frame
from penstock.registry import MemoryRegistry, SchemaVersion
from penstock.schemas import BASE_FIELDS, Schema, encode, infer_schema, to_record
from penstock.sinks import ErrorRecord, Source

_OWN = {"deviceId": "d-1", "timestamp": 1795234015788}
_ENVIRON = {
    "PENSTOCK_REGISTRY": "memory://",
    "PENSTOCK_READINGS_TABLE": "r",
    "PENSTOCK_ERRORS_TABLE": "e",
    "PENSTOCK_PARKED_BUCKET": "b",
}
_UNKNOWN = "00000000-0000-4000-8000-000000000000"


@dataclass
class FakeTable:
    """A table of readings in memory that refuses what it is told to."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuse: Callable[[Mapping[str, Any]], SinkRefusedError | None] = lambda _: None
    down: PenstockError | None = None
    calls: int = 0

    def write(self, items: Sequence[Mapping[str, Any]]) -> dict[int, SinkRefusedError]:
        """Take what is not refused."""
        self.calls += 1
        if self.down:
            raise self.down
        refused = {place: self.refuse(item) for place, item in enumerate(items)}
        for place, item in enumerate(items):
            if refused[place] is None:
                self.rows[item["_source"]] = dict(item)
        return {place: error for place, error in refused.items() if error}


@dataclass
class FakeErrors:
    """A table of errors in memory; the first row of a record stays."""

    rows: dict[str, ErrorRecord] = field(default_factory=dict)
    down: PenstockError | None = None
    calls: int = 0

    def keep(self, records: Sequence[ErrorRecord]) -> None:
        """Take all of them."""
        self.calls += 1
        if self.down:
            raise self.down
        for record in records:
            self.rows.setdefault(str(record.source), record)


class Registry(MemoryRegistry):
    """A registry that fails for some ids as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: dict[str, PenstockError] = {}
        self.asked: list[str] = []

    def get(self, version_id: str) -> SchemaVersion:
        """Return the version, or fail."""
        self.asked.append(version_id)
        if version_id in self.fails:
            raise self.fails[version_id]
        return super().get(version_id)


@dataclass
class World:
    """A consumer, and all that it touches."""

    registry: Registry
    readings: FakeTable
    errors: FakeErrors

    def consume(self, *values: bytes | None) -> Consumed:
        """Consume a batch of one partition."""
        return self.consume_partitions({"sensor/0": values})

    def consume_partitions(
        self, batch: Mapping[str, Sequence[bytes | None]], *, partial_answers: bool = False
    ) -> Consumed:
        """Consume a batch of partitions by topic/partition."""
        consumer = Consumer(
            self.registry, self.readings, self.errors, "lambda", partial_answers=partial_answers
        )
        return consumer.consume(
            Record(Source(name.split("/")[0], int(name.split("/")[1]), offset), b"k", value)
            for name, values in batch.items()
            for offset, value in enumerate(values)
        )

    def frame(self, event: Mapping[str, Any]) -> bytes:
        """Write an event as the producer does."""
        schema = infer_schema(event, "sensor", None, BASE_FIELDS)
        return self.raw(schema, encode(to_record(event, schema, _OWN), schema))

    def raw(self, schema: Schema, payload: bytes, name: str = "sensor") -> bytes:
        """Frame a payload under a schema."""
        return encode_glue_frame(self.registry.register(name, schema).version.id, payload)


@pytest.fixture
def world() -> World:
    return World(Registry(), FakeTable(), FakeErrors())


def test_each_record_is_read_with_the_schema_it_was_written_in(world: World) -> None:
    frames = [world.frame(event) for event in ({}, {"temperature": 30}, {}, {"o": {"x": 0.5}})]

    assert world.consume(*frames) == Consumed(written=4, given_up={}, tombstones=0)

    rows = world.readings.rows
    assert [rows[f"sensor/0/{offset}"]["_schema"] for offset in range(4)] == [1, 2, 1, 3]
    assert "temperature" not in rows["sensor/0/2"]
    assert rows["sensor/0/1"] == {
        **_OWN,
        "temperature": 30,
        "readingId": "1795234015788-sensor-0-1",
        "_topic": "sensor",
        "_source": "sensor/0/1",
        "_schema": 2,
        "_schemaId": rows["sensor/0/1"]["_schemaId"],
    }
    assert rows["sensor/0/3"]["o"] == {"x": 0.5}
    assert world.errors.rows == {}


def test_a_whole_number_stays_exact_though_a_later_version_widens_it(world: World) -> None:
    frames = [world.frame({"n": 2**53 + 1}), world.frame({"n": 0.5})]

    world.consume(*frames)

    assert world.readings.rows["sensor/0/0"]["n"] == 2**53 + 1


def test_many_versions_are_read_with_little_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.consuming.consumer._MAX_READERS", 2)
    frames = [world.frame({f"n{number}": number}) for number in (0, 1, 2, 3, 0, 1)]

    assert world.consume(*frames).written == 6
    assert [world.readings.rows[f"sensor/0/{at}"][f"n{n}"] for at, n in ((3, 3), (4, 0))] == [3, 0]


def test_tombstones_are_counted(world: World) -> None:
    assert world.consume(None, world.frame({}), None) == Consumed(1, {}, 2)


def _poison(world: World) -> dict[str, tuple[bytes, Reason]]:
    good = world.frame({"temperature": 30.5})
    forbidden, refused = ("0" * 31 + "1", "0" * 31 + "2")
    ids = [
        f"{each[:8]}-{each[8:12]}-{each[12:16]}-{each[16:20]}-{each[20:]}"
        for each in (forbidden, refused)
    ]
    world.registry.fails = {
        ids[0]: SchemaForbiddenError("not on the list"),
        ids[1]: SchemaRefusedError("nobody may use it"),
    }
    return {
        "no frame": (b"junk", Reason.UNKNOWN_FRAMING),
        "empty": (b"", Reason.UNKNOWN_FRAMING),
        "short": (good[:10], Reason.TRUNCATED),
        "cut": (good[:-3], Reason.TRUNCATED),
        "longer": (good + b"x", Reason.TRAILING_BYTES),
        "confluent": (b"\x00\x00\x00\x00\x07x", Reason.NO_REGISTRY_FOR_FRAMING),
        "unknown": (encode_glue_frame(_UNKNOWN, b""), Reason.UNKNOWN_SCHEMA),
        "forbidden": (encode_glue_frame(ids[0], b""), Reason.FORBIDDEN_SCHEMA),
        "refused": (encode_glue_frame(ids[1], b""), Reason.REFUSED_SCHEMA),
        "no event": (world.raw("string", b"\x02a", "text"), Reason.UNROUTABLE),
        "no device": (world.raw(_record_of("long"), b"\x02", "other"), Reason.UNROUTABLE),
    }


def _record_of(kind: str) -> Schema:
    return {"type": "record", "name": "other", "fields": [{"name": "timestamp", "type": kind}]}


@pytest.mark.parametrize("name", [
    *("no frame", "empty", "short", "cut", "longer", "confluent", "unknown", "forbidden"),
    *("refused", "no event", "no device"),
])  # fmt: skip
def test_a_record_that_never_can_be_read_is_given_up(world: World, name: str) -> None:
    value, reason = _poison(world)[name]

    consumed = world.consume(world.frame({}), value, world.frame({"a": "b"}))

    assert consumed == Consumed(written=2, given_up={reason: 1}, tombstones=0)
    (row,) = world.errors.rows.values()
    assert (str(row.source), row.reason, row.stage) == ("sensor/0/1", reason, "lambda")
    assert (row.key, row.value) == (b"k", value)
    assert row.detail
    framed = value[:1] in {b"\x00", b"\x03"} and len(value) >= 6 and name != "short"
    assert (row.schema_id is not None) == framed


def test_a_row_that_the_table_refuses_is_given_up(world: World) -> None:
    world.readings.refuse = lambda row: RowTooLargeError("too large") if row.get("big") else None

    consumed = world.consume(world.frame({}), b"junk", world.frame({"big": 1}), world.frame({}))

    reasons = {Reason.UNKNOWN_FRAMING: 1, Reason.OVERSIZE: 1}
    assert consumed == Consumed(written=2, given_up=reasons, tombstones=0)
    assert {key: row.reason for key, row in world.errors.rows.items()} == {
        "sensor/0/1": Reason.UNKNOWN_FRAMING,
        "sensor/0/2": Reason.OVERSIZE,
    }
    assert world.readings.rows.keys() == {"sensor/0/0", "sensor/0/3"}


@pytest.mark.parametrize(
    "failure",
    [
        RegistryUnavailableError("down"),
        RegistryAccessDeniedError("denied"),
        SettingsError(["nothing that a record could be blamed for"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_that_may_pass_brings_the_batch_again(
    world: World, failure: PenstockError
) -> None:
    world.registry.fails = {_UNKNOWN: failure}

    with pytest.raises(type(failure)):
        world.consume(world.frame({}), b"junk", encode_glue_frame(_UNKNOWN, b""))

    assert (world.readings.calls, world.errors.calls) == (0, 0)


@pytest.mark.parametrize("table", ["readings", "errors"])
def test_a_table_that_is_down_brings_the_batch_again(world: World, table: str) -> None:
    getattr(world, table).down = SinkUnavailableError("throttled")

    with pytest.raises(SinkUnavailableError):
        world.consume(world.frame({}), b"junk")

    assert world.errors.rows == {}


_DOWN = RegistryUnavailableError("down")


def test_a_record_that_must_wait_holds_back_its_partition_alone(world: World) -> None:
    good, waits = world.frame({}), encode_glue_frame(_UNKNOWN, b"")
    world.registry.fails = {_UNKNOWN: _DOWN}

    consumed = world.consume_partitions(
        {"a/0": [good, waits, good, b"junk"], "a/1": [good, b"junk"], "b/0": [waits, waits]},
        partial_answers=True,
    )

    assert consumed == Consumed(
        2, {Reason.UNKNOWN_FRAMING: 1}, 0, held=(Source("a", 0, 1), Source("b", 0, 0))
    )
    assert world.readings.rows.keys() == {"a/0/0", "a/1/0"}
    assert world.errors.rows.keys() == {"a/1/1"}
    assert world.registry.asked.count(_UNKNOWN) == 1  # one that is down takes its time


@pytest.mark.parametrize("other", [b"junk", None], ids=str)
def test_an_error_or_a_tombstone_gets_a_batch_forward(world: World, other: bytes | None) -> None:
    world.registry.fails = {_UNKNOWN: _DOWN}
    batch = {"a/0": [encode_glue_frame(_UNKNOWN, b"")], "a/1": [other]}

    assert world.consume_partitions(batch, partial_answers=True).held == (Source("a", 0, 0),)


def test_a_batch_that_gets_nowhere_fails_as_a_whole(world: World) -> None:
    world.registry.fails = {_UNKNOWN: _DOWN}
    waits = encode_glue_frame(_UNKNOWN, b"")

    with pytest.raises(RegistryUnavailableError, match="down"):
        world.consume_partitions({"a/0": [waits], "a/1": [waits]}, partial_answers=True)


def test_a_failure_that_no_record_is_blamed_for_is_not_held_back(world: World) -> None:
    world.registry.fails = {_UNKNOWN: SettingsError(["no such thing"])}

    with pytest.raises(SettingsError):
        world.consume_partitions(
            {"a/0": [encode_glue_frame(_UNKNOWN, b"")], "a/1": [world.frame({})]},
            partial_answers=True,
        )


@pytest.mark.parametrize("table", ["readings", "errors"])
def test_a_table_that_is_down_is_no_part_of_an_answer(world: World, table: str) -> None:
    getattr(world, table).down = SinkUnavailableError("throttled")

    with pytest.raises(SinkUnavailableError):
        world.consume_partitions({"a/0": [world.frame({}), b"junk"]}, partial_answers=True)


@pytest.mark.parametrize("count", [1, 2, 25, 26])
def test_poison_at_every_place_of_a_batch_stops_no_other(world: World, count: int) -> None:
    good = [world.frame({"n": number}) for number in range(count)]
    for place in range(count):
        world.readings.rows.clear()
        world.errors.rows.clear()
        values: list[bytes | None] = [*good]
        values[place] = good[place][:-1]

        consumed = world.consume(*values)

        assert consumed == Consumed(count - 1, {Reason.TRUNCATED: 1}, 0)
        assert world.errors.rows.keys() == {f"sensor/0/{place}"}
        assert {key: row["n"] for key, row in world.readings.rows.items()} == {
            f"sensor/0/{number}": number for number in range(count) if number != place
        }


def test_settings_name_what_is_missing_and_hide_the_external_id() -> None:
    with pytest.raises(SettingsError) as caught:
        ConsumerSettings.from_environ({"PENSTOCK_READINGS_TABLE": "r"})
    settings = ConsumerSettings("glue://plant?external_id=hidden", "r", "e", "b")

    assert len(caught.value.problems) == 3
    assert "PENSTOCK_PARKED_BUCKET (--parked-bucket) is missing" in str(caught.value)
    assert "PENSTOCK_ERRORS_TABLE (--errors-table) is missing" in str(caught.value)
    assert "hidden" not in repr(settings)


@pytest.mark.parametrize(("text", "expected"), [("true", True), ("false", False), (None, False)])
def test_partial_answers_are_asked_for_in_so_many_words(text: str | None, expected: bool) -> None:
    environ = {"PENSTOCK_PARTIAL_ANSWERS": text} if text else {}

    assert ConsumerSettings.from_environ(_ENVIRON | environ).partial_answers is expected


def test_any_other_word_is_refused() -> None:
    with pytest.raises(
        SettingsError,
        match=r"^PENSTOCK_PARTIAL_ANSWERS is 'yes', expected true where the mapping has Report",
    ):
        ConsumerSettings.from_environ(_ENVIRON | {"PENSTOCK_PARTIAL_ANSWERS": "yes"})


def test_a_consumer_is_built_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    settings = ConsumerSettings("memory://", "r", "e", "b")

    assert build_consumer(settings, "job").consume([]) == Consumed(0, {}, 0)
