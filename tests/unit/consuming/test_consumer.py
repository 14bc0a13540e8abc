"""Each record of a batch becomes a reading or an error, or the batch comes again."""

from __future__ import annotations

import logging
import tracemalloc
from collections.abc import Iterator

import pytest

from penstock.consuming import Consumed, readers
from penstock.errors import (
    PenstockError,
    Reason,
    RegistryAccessDeniedError,
    RegistryUnavailableError,
    RowTooLargeError,
    SchemaForbiddenError,
    SchemaRefusedError,
    SettingsError,
    SinkUnavailableError,
)
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.records import Record, Source
from penstock.schemas import Schema
from tests.stubs.consuming import OWN, World
from tests.stubs.registries import UNKNOWN


def test_each_record_is_read_with_the_schema_it_was_written_in(world: World) -> None:
    frames = [world.frame(event) for event in ({}, {"temperature": 30}, {}, {"o": {"x": 0.5}})]

    assert world.consume(*frames) == Consumed(written=4, given_up={}, tombstones=0)

    rows = world.readings.rows
    assert [rows[f"sensor/0/{offset}"]["_schema"] for offset in range(4)] == [1, 2, 1, 3]
    assert "temperature" not in rows["sensor/0/2"]
    assert rows["sensor/0/1"] == {
        **OWN,
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
    monkeypatch.setattr(readers, "_MAX_READERS", 2)
    frames = [world.frame({f"n{number}": number}) for number in (0, 1, 2, 3, 0, 1)]

    assert world.consume(*frames).written == 6
    assert [world.readings.rows[f"sensor/0/{at}"][f"n{n}"] for at, n in ((3, 3), (4, 0))] == [3, 0]
    assert len(world.registry.asked) == 6


def test_a_row_is_written_before_the_next_record_is_read(world: World) -> None:
    frame = world.frame({})
    read, written = 0, []

    def records() -> Iterator[Record]:
        nonlocal read
        for offset in range(50):
            read += 1
            yield Record(Source("sensor", 0, offset), b"k", frame)

    world.readings.refuse = lambda row: written.append(read)
    assert world.build().consume(records()).written == 50

    assert written == list(range(1, 51))


def test_a_log_line_is_short_whatever_an_error_quotes(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.registry.fails = {UNKNOWN: SchemaForbiddenError("secret" * 100_000)}

    with caplog.at_level(logging.WARNING):
        world.consume(encode_glue_frame(UNKNOWN, b""))

    assert len(caplog.text) < 1_000


def _unknown(number: int) -> bytes:
    return encode_glue_frame(SchemaKey(FrameKind.GLUE, number.to_bytes(16)), b"")


def test_a_flood_of_unknown_schemas_is_bounded_and_leaves_other_records_flowing(
    world: World,
) -> None:
    first, late = world.frame({}), world.frame({"late": 1})
    flood = [_unknown(number) for number in range(150)]

    consumed = world.consume(*flood[:50], first, *flood[50:], late, first, *flood)

    assert consumed == Consumed(2, {Reason.UNKNOWN_SCHEMA: 301}, 0)
    assert len(world.registry.asked) == 101
    told = {each.failure.detail.partition(" was not")[2] for each in world.errors.rows.values()}
    assert " looked up, since 100 others of the batch failed" in told


@pytest.mark.parametrize("partial_answers", [False, True])
def test_a_flood_of_unknown_schemas_in_one_partition_stops_no_other(
    world: World, partial_answers: bool
) -> None:
    good, other = world.frame({}), world.frame({"other": 1})
    flood = [_unknown(number) for number in range(200)]

    consumed = world.consume_partitions(
        {"t/0": flood, "t/1": [good] * 3, "t/2": [other, *flood[100:], good]},
        partial_answers=partial_answers,
    )

    assert [f"t/1/{offset}" in world.readings.rows for offset in range(3)] == [True] * 3
    assert world.readings.rows["t/2/0"]["other"] == 1
    # 100 that fail, the two new ones, and the first of t/2 that fails.
    assert len(world.registry.asked) == 103
    held = (Source("t", 0, 100), Source("t", 2, 2))
    assert consumed.held == (held if partial_answers else ())


@pytest.mark.parametrize("ids", [1, 50])
def test_records_of_unknown_schemas_keep_no_payload_in_memory(world: World, ids: int) -> None:
    keys = [SchemaKey(FrameKind.GLUE, number.to_bytes(16)) for number in range(ids)]
    payload = bytes(2**20)
    frames = [encode_glue_frame(key, payload, compress=True) for key in keys]
    tracemalloc.start()

    world.consume(*frames * (50 // ids))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_a_registry_that_is_down_is_asked_once_in_a_batch(world: World) -> None:
    good = world.frame({})
    down = RegistryUnavailableError("down")
    new = [_unknown(number) for number in range(8)]
    world.registry.fails = {SchemaKey(FrameKind.GLUE, n.to_bytes(16)): down for n in range(8)}

    consumed = world.consume_partitions(
        {"a/0": [good], **{f"b/{number}": [good, new[number], good] for number in range(8)}},
        partial_answers=True,
    )

    assert consumed.written == 9
    assert consumed.held == tuple(Source("b", number, 1) for number in range(8))
    assert len(world.registry.asked) == 2


def test_tombstones_are_counted(world: World) -> None:
    assert world.consume(None, world.frame({}), None) == Consumed(1, {}, 2)


def _poison(world: World) -> dict[str, tuple[bytes, Reason]]:
    good = world.frame({"temperature": 30.5})
    forbidden, refused = (SchemaKey(FrameKind.GLUE, number.to_bytes(16)) for number in (1, 2))
    world.registry.fails = {
        forbidden: SchemaForbiddenError("not on the list"),
        refused: SchemaRefusedError("nobody may use it"),
    }
    return {
        "no frame": (b"junk", Reason.UNKNOWN_FRAMING),
        "empty": (b"", Reason.UNKNOWN_FRAMING),
        "short": (good[:10], Reason.TRUNCATED),
        "cut": (good[:-3], Reason.TRUNCATED),
        "longer": (good + b"x", Reason.TRAILING_BYTES),
        "confluent": (b"\x00\x00\x00\x00\x07x", Reason.NO_REGISTRY_FOR_FRAMING),
        "unknown": (encode_glue_frame(UNKNOWN, b""), Reason.UNKNOWN_SCHEMA),
        "forbidden": (encode_glue_frame(forbidden, b""), Reason.FORBIDDEN_SCHEMA),
        "refused": (encode_glue_frame(refused, b""), Reason.REFUSED_SCHEMA),
        "no event": (world.raw("string", b"\x02a", "text"), Reason.UNROUTABLE),
        "no device": (world.raw(_record_of("long"), b"\x02", "other"), Reason.UNROUTABLE),
    }


def _record_of(kind: str) -> Schema:
    return {"type": "record", "name": "other", "fields": [{"name": "timestamp", "type": kind}]}


@pytest.mark.parametrize("name", [
    *("no frame", "empty", "short", "cut", "longer", "confluent", "unknown", "forbidden"),
    *("refused", "no event", "no device"),
])  # fmt: skip
def test_an_unreadable_record_is_given_up(world: World, name: str) -> None:
    value, reason = _poison(world)[name]

    consumed = world.consume(world.frame({}), value, world.frame({"a": "b"}))

    assert consumed == Consumed(written=2, given_up={reason: 1}, tombstones=0)
    (row,) = world.errors.rows.values()
    assert (str(row.record.source), row.failure.reason, row.stage) == (
        "sensor/0/1",
        reason,
        "lambda",
    )
    assert (row.record.key, row.record.value) == (b"k", value)
    assert row.failure.detail
    framed = value[:1] in {b"\x00", b"\x03"} and len(value) >= 6 and name != "short"
    assert (row.schema is not None) == framed


def test_a_row_that_the_table_rejects_is_given_up(world: World) -> None:
    world.readings.refuse = lambda row: RowTooLargeError("too large") if row.get("big") else None

    consumed = world.consume(world.frame({}), b"junk", world.frame({"big": 1}), world.frame({}))

    reasons = {Reason.UNKNOWN_FRAMING: 1, Reason.OVERSIZE: 1}
    assert consumed == Consumed(written=2, given_up=reasons, tombstones=0)
    assert {key: row.failure.reason for key, row in world.errors.rows.items()} == {
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
def test_a_retriable_error_fails_the_batch(world: World, failure: PenstockError) -> None:
    world.registry.fails = {UNKNOWN: failure}

    with pytest.raises(type(failure)):
        world.consume(world.frame({}), b"junk", encode_glue_frame(UNKNOWN, b""))

    assert world.errors.calls == 0


@pytest.mark.parametrize("table", ["readings", "errors"])
def test_a_table_outage_fails_the_batch(world: World, table: str) -> None:
    getattr(world, table).down = SinkUnavailableError("throttled")

    with pytest.raises(SinkUnavailableError):
        world.consume(world.frame({}), b"junk")

    assert world.errors.rows == {}


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
