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
from penstock.sinks import Source

_OWN = {"deviceId": "d-1", "timestamp": 1795234015788}
_UNKNOWN = "00000000-0000-4000-8000-000000000000"


@dataclass
class FakeTable:
    """A table in memory that refuses what it is told to."""

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
                self.rows[item.get("_source") or item["id"]] = dict(item)
        return {place: error for place, error in refused.items() if error}


class Registry(MemoryRegistry):
    """A registry that fails for some ids as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: dict[str, PenstockError] = {}

    def get(self, version_id: str) -> SchemaVersion:
        """Return the version, or fail."""
        if version_id in self.fails:
            raise self.fails[version_id]
        return super().get(version_id)


@dataclass
class World:
    """A consumer, and all that it touches."""

    registry: Registry
    readings: FakeTable
    errors: FakeTable

    def consume(self, *values: bytes | None) -> Consumed:
        """Consume a batch of one partition."""
        consumer = Consumer(self.registry, self.readings, self.errors, "lambda")
        return consumer.consume(
            Record(Source("sensor", 0, offset), b"k", value) for offset, value in enumerate(values)
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
    return World(Registry(), FakeTable(), FakeTable())


def test_each_record_is_read_with_the_schema_it_was_written_in(world: World) -> None:
    frames = [world.frame(event) for event in ({}, {"temperature": 30}, {}, {"o": {"x": 0.5}})]

    assert world.consume(*frames) == Consumed(written=4, given_up=0, tombstones=0)

    rows = world.readings.rows
    assert [rows[f"sensor/0/{offset}"]["_schema"] for offset in range(4)] == [1, 2, 1, 3]
    assert "temperature" not in rows["sensor/0/2"]
    assert rows["sensor/0/1"] == {
        **_OWN,
        "temperature": 30,
        "readingId": "1795234015788-0-1",
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


def test_tombstones_are_counted(world: World) -> None:
    assert world.consume(None, world.frame({}), None) == Consumed(1, 0, 2)


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

    assert consumed == Consumed(written=2, given_up=1, tombstones=0)
    (row,) = world.errors.rows.values()
    assert (row["id"], row["reason"], row["stage"]) == ("sensor/0/1", reason.value, "lambda")
    assert (row["key"], row.get("value")) == (b"k", value)
    assert row["detail"]
    framed = value[:1] in {b"\x00", b"\x03"} and len(value) >= 6 and name != "short"
    assert ("schemaId" in row) == framed


def test_a_row_that_the_table_refuses_is_given_up(world: World) -> None:
    world.readings.refuse = lambda row: RowTooLargeError("too large") if row.get("big") else None

    consumed = world.consume(world.frame({}), b"junk", world.frame({"big": 1}), world.frame({}))

    assert consumed == Consumed(written=2, given_up=2, tombstones=0)
    assert {key: row["reason"] for key, row in world.errors.rows.items()} == {
        "sensor/0/1": "unknown-framing",
        "sensor/0/2": "oversize",
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


def test_a_record_without_any_place_left_brings_the_batch_again(world: World) -> None:
    world.errors.refuse = lambda row: RowTooLargeError("Item size has exceeded 400 KB")

    with pytest.raises(
        RowTooLargeError,
        match=r"^sensor/0/0 is no reading and cannot be kept as an error: Item size has",
    ):
        world.consume(b"junk")


def test_settings_name_what_is_missing_and_hide_the_external_id() -> None:
    with pytest.raises(SettingsError) as caught:
        ConsumerSettings.from_environ({"PENSTOCK_READINGS_TABLE": "r"})
    settings = ConsumerSettings("glue://plant?external_id=hidden", "r", "e")

    assert len(caught.value.problems) == 2
    assert "PENSTOCK_ERRORS_TABLE (--errors-table) is missing" in str(caught.value)
    assert "hidden" not in repr(settings)


def test_a_consumer_is_built_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    assert build_consumer(ConsumerSettings("memory://", "r", "e"), "job").consume([]) == Consumed(
        0, 0, 0
    )
