"""With partial answers a record that must wait holds back its own partition only."""

from __future__ import annotations

import pytest

from penstock.consuming import Consumed
from penstock.errors import Reason, RegistryUnavailableError, SettingsError, SinkUnavailableError
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.records import Record, Source
from tests.stubs.consuming import World
from tests.stubs.registries import UNKNOWN

_DOWN = RegistryUnavailableError("down")


def test_a_held_record_holds_back_only_its_partition(world: World) -> None:
    good, waits = world.frame({}), encode_glue_frame(UNKNOWN, b"")
    world.registry.fails = {UNKNOWN: _DOWN}

    consumed = world.consume_partitions(
        {"a/0": [good, waits, good, b"junk"], "a/1": [good, b"junk"], "b/0": [waits, waits]},
        partial_answers=True,
    )

    assert consumed == Consumed(
        2, {Reason.UNKNOWN_FRAMING: 1}, 0, held=(Source("a", 0, 1), Source("b", 0, 0))
    )
    assert world.readings.rows.keys() == {"a/0/0", "a/1/0"}
    assert world.errors.rows.keys() == {"a/1/1"}
    assert world.registry.asked.count(UNKNOWN) == 1  # one that is down takes its time


def test_a_record_beyond_the_bound_of_lookups_is_held_and_no_dead_letter(world: World) -> None:
    late = world.frame({"late": 1})
    flood = [
        encode_glue_frame(SchemaKey(FrameKind.GLUE, number.to_bytes(16)), b"")
        for number in range(150)
    ]

    one = world.consume_partitions({"a/0": [*flood, late], "a/1": [late]}, partial_answers=True)
    world.registry.asked.clear()
    other = world.consume_partitions({"a/0": [*flood[100:], late]}, partial_answers=True)

    assert one == Consumed(1, {Reason.UNKNOWN_SCHEMA: 100}, 0, (Source("a", 0, 100),))
    assert other == Consumed(1, {Reason.UNKNOWN_SCHEMA: 50}, 0)


@pytest.mark.parametrize("other", [b"junk", None], ids=str)
def test_a_dead_letter_or_a_tombstone_counts_as_progress(world: World, other: bytes | None) -> None:
    world.registry.fails = {UNKNOWN: _DOWN}
    batch = {"a/0": [encode_glue_frame(UNKNOWN, b"")], "a/1": [other]}

    assert world.consume_partitions(batch, partial_answers=True).held == (Source("a", 0, 0),)


def test_a_batch_without_progress_fails_as_a_whole(world: World) -> None:
    world.registry.fails = {UNKNOWN: _DOWN}
    waits = encode_glue_frame(UNKNOWN, b"")

    with pytest.raises(RegistryUnavailableError, match="down"):
        world.consume_partitions({"a/0": [waits], "a/1": [waits]}, partial_answers=True)


def test_an_error_without_a_reason_fails_the_batch(world: World) -> None:
    world.registry.fails = {UNKNOWN: SettingsError(["no such thing"])}

    with pytest.raises(SettingsError):
        world.consume_partitions(
            {"a/0": [encode_glue_frame(UNKNOWN, b"")], "a/1": [world.frame({})]},
            partial_answers=True,
        )


@pytest.mark.parametrize("partial_answers", [False, True])
def test_what_a_function_has_no_time_for_is_held(
    world: World, caplog: pytest.LogCaptureFixture, partial_answers: bool
) -> None:
    good = world.frame({})
    left = iter([31_000, 30_000, 29_999, 29_998]).__next__  # at least one record is read each time
    records = [
        Record(Source("a", partition, offset), b"k", good)
        for partition in range(2)
        for offset in range(4)
    ]

    consumed = world.build(partial_answers=partial_answers).consume(records, left)

    held = (Source("a", 0, 3), Source("a", 1, 0))
    assert consumed == (Consumed(3, {}, 0, held) if partial_answers else Consumed(8, {}, 0))
    said = "a/0/3 and all later records of its partition are held: the function has less than 30 s"
    assert (said in caplog.text) is partial_answers


@pytest.mark.parametrize("table", ["readings", "errors"])
def test_a_table_outage_fails_the_batch_with_partial_answers_too(world: World, table: str) -> None:
    getattr(world, table).down = SinkUnavailableError("throttled")

    with pytest.raises(SinkUnavailableError):
        world.consume_partitions({"a/0": [world.frame({}), b"junk"]}, partial_answers=True)


def test_the_line_of_a_held_record_is_short_whatever_the_error_quotes(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.registry.fails = {UNKNOWN: RegistryUnavailableError("x" * 2_000)}
    waits = encode_glue_frame(UNKNOWN, b"")

    world.consume_partitions({"a/0": [waits], "a/1": [None]}, partial_answers=True)

    assert "a/0/0 and all later records of its partition are held: xxx" in caplog.text
    assert len(caplog.text) < 1_000
