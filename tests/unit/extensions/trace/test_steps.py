"""Each step of an event is looked at; what is missing and what was not seen is said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from penstock.errors import BrokerUnavailableError, Failure, OperationError, Reason
from penstock.extensions.trace.model import State, Step, Trace
from penstock.extensions.trace.text import list_lines, to_json
from penstock.extensions.trace.topic import FoundRecord, Told, Version
from penstock.framing import SchemaKey
from penstock.records import READING, FailedRecord, Record, Source
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry
from penstock.sinks import DynamoDbClient, ErrorTable, ObjectStore, open_table
from tests.fixtures.root_outputs import make_consumer
from tests.unit.extensions.trace.world import EVENT, NOON, NOON_MS, MemoryTopics, World, world

__all__ = ["world"]


def _states(trace: Trace) -> list[tuple[str, str]]:
    return [(each.name, str(each.state)) for each in trace.steps]


def _step(trace: Trace, name: str) -> Step:
    (found,) = (each for each in trace.steps if each.name == name)
    return found


def _fail(record: Record, stage: str = "lambda") -> FailedRecord:
    key = SchemaKey.parse("d3e21a3b-f828-4ef7-a864-ea05cba14f2c")
    failure = Failure(Reason.TRUNCATED, "cut off")
    return FailedRecord(record, failure, key, stage, NOON_MS + 4_000)


def _put(row: dict[str, Any]) -> None:
    assert open_table(DynamoDbClient(), "p-readings", READING).write([row]) == {}


def test_an_event_is_followed_to_its_row_and_its_file(world: World) -> None:
    record = world.write(7)
    world.put_row(record)
    table = world.append(6, 7, 8)

    found = world.tracer().trace("sensor/0/7")

    assert _states(found) == [
        ("event", "found"),
        ("record", "found"),
        ("frame", "found"),
        ("schema", "found"),
        ("row", "found"),
        ("lake file", "found"),
        ("dead letter", "none"),
    ]
    assert not found.is_open
    assert _step(found, "event").at_ms == NOON_MS - 500
    assert found.seconds[1] == 0.5
    frame = _step(found, "frame").values
    assert record.value is not None
    assert frame["head"] == record.value[:20].hex(" ")
    assert (frame["kind"], frame["compression"]) == ("glue", "none")
    assert frame["schemaId"] == _step(found, "schema").values["id"]
    assert _step(found, "schema").seen == "sensor version 1"
    row = _step(found, "row").values
    assert row["rowKey"] == {
        "deviceId": "000001",
        "readingId": f"{NOON_MS - 500}-sensor-0-7",
    }
    file, snapshot = _step(found, "lake file"), table.current_snapshot()
    assert (file.values["snapshot"], file.at_ms) == (
        str(snapshot.snapshot_id),
        snapshot.timestamp_ms,
    )
    assert file.values["file"] == next(iter(table.inspect.files().to_pylist()))["file_path"]


@pytest.mark.parametrize("name", [f"{NOON_MS - 500}-sensor-0-7", f"sensor/0/7/{NOON_MS}/spark"])
def test_other_names_of_an_event_lead_to_its_record(world: World, name: str) -> None:
    world.write(7)

    assert world.tracer().trace(name).id == "sensor/0/7"
    assert world.topics.asked == [Source("sensor", 0, 7)]


def test_a_key_leads_to_its_newest_record(world: World) -> None:
    world.write(7)
    world.write(9)

    assert world.tracer().trace_key("sensor", "000001", 100).id == "sensor/0/9"
    with pytest.raises(OperationError, match=r"no record with the key 'x' among the last 1,000 "):
        world.tracer().trace_key("sensor", "x", 1_000)
    with pytest.raises(OperationError, match="cannot be looked for: no brokers"):
        world.tracer(topics="no brokers").trace_key("sensor", "x", 1)


def test_what_did_not_arrive_is_missing(world: World) -> None:
    world.write(7)
    world.append(6, 8)

    found = world.tracer().trace("sensor/0/7")

    assert (_step(found, "row").state, _step(found, "lake file").state) == (
        State.MISSING,
        State.MISSING,
    )
    assert found.is_open
    assert world.tracer().trace("sensor/0/5").steps[0].state is State.MISSING
    assert world.tracer().trace("sensor/0/6").steps[0].state is State.NONE  # the lake has it still
    assert not world.tracer().trace("sensor/0/6").is_open


def test_a_dead_letter_is_open_until_it_is_settled(world: World) -> None:
    record = world.write(7)
    world.put_row(record)
    world.append(7)
    world.give_up(_fail(record))

    found = world.tracer().trace("sensor/0/7")

    letter = _step(found, "dead letter")
    assert letter.values["reason"] == "truncated"
    assert letter.command == (
        f"penstock --profile=analytics errors replay --id=sensor/0/7/{NOON_MS}"
    )
    assert (letter.at_ms, found.is_open) == (NOON_MS + 4_000, True)
    errors = ErrorTable(DynamoDbClient(), world.errors, ObjectStore("none"))
    assert errors.mark_done(f"sensor/0/7/{NOON_MS}", "r1")

    found = world.tracer().trace("sensor/0/7")

    letter = _step(found, "dead letter")
    assert (letter.values["state"], letter.command, found.is_open) == ("done", "", False)


def test_a_dead_letter_of_a_topic_that_was_created_again_is_not_the_new_record(
    world: World,
) -> None:
    new = world.write(7)
    world.put_row(new)
    world.append(7)
    old = replace(new, timestamp_ms=NOON_MS - 60_000)
    name = f"sensor/0/7/{old.timestamp_ms}/spark"

    record, row, file, letter = world.tracer().trace(name).steps
    assert (record.state, letter.state) == (State.MISSING, State.NONE)
    assert record.seen == (
        "the topic has another record there, of 2026-11-26T12:00:00.000Z: it was created again"
    )
    assert (row.state, file.state) == (State.NOT_SEEN, State.MISSING)

    world.give_up(_fail(old, "spark"))
    written = NOON - timedelta(minutes=1)
    snapshot = world.append(7, event_time=written, written=written).current_snapshot()

    record, _, file, letter = world.tracer().trace(name).steps
    assert (record.state, file.state) == (State.NONE, State.FOUND)
    assert file.values["snapshot"] == str(snapshot.snapshot_id)
    assert letter.values["id"] == name
    newer = _step(world.tracer().trace("sensor/0/7"), "lake file")
    assert newer.values["snapshot"] != str(snapshot.snapshot_id)


def test_the_replay_of_another_job_and_of_a_join_are_not_that_of_consume(world: World) -> None:
    record = world.write(7)
    world.give_up(_fail(record, "join"))
    world.give_up(_fail(record, "spark"))
    shop = world.errors.removeprefix("p-").removesuffix("-errors")

    found = world.tracer(errors_tables=("p-errors", world.errors)).trace("sensor/0/7")

    letters = [each for each in found.steps if each.name == "dead letter"]
    assert [(each.state, each.values.get("stage")) for each in letters] == [
        (State.NOT_SEEN, None),
        (State.FOUND, "join"),
        (State.FOUND, "spark"),
    ]
    assert letters[1].command == ""
    assert letters[2].command.endswith(f"/spark --job={shop}")


def test_without_the_brokers_the_rest_is_looked_at(world: World) -> None:
    world.give_up(_fail(world.write(7)))
    world.append(7)

    class Down:
        def find(self, source: Source) -> Record | None:
            raise BrokerUnavailableError(f"no broker for {source}")

    for topics, why in ((Down(), "no broker for sensor/0/7"), ("no brokers", "no brokers")):
        found = world.tracer(topics=topics).trace("sensor/0/7")

        assert _states(found) == [
            ("record", "not seen"),
            ("row", "not seen"),
            ("lake file", "found"),
            ("dead letter", "found"),
        ]
        assert found.steps[0].seen == why
    lines = list(list_lines(found))
    assert "not looked at: record: no brokers" in lines
    assert lines[-1].startswith("retry: penstock --profile=analytics errors replay --id=sensor/0/7")


def test_without_registry_tables_and_outputs_the_record_is_shown(world: World) -> None:
    world.write(7)

    found = world.tracer(registries=Registries([]), programs="name them", errors_tables=()).trace(
        "sensor/0/7"
    )

    assert _states(found) == [
        ("record", "found"),
        ("frame", "found"),
        ("schema", "not seen"),
        ("row", "not seen"),
        ("lake file", "not seen"),
        ("dead letter", "not seen"),
    ]
    assert "expected a registry" in _step(found, "frame").seen
    assert _step(found, "row").seen == "name them"
    assert not found.is_open


def test_what_a_host_told_is_used_and_no_registry_is_asked(world: World) -> None:
    record = world.write(7)
    world.put_row(record)
    world.append(7)
    version = Version("sensor", 4, "id")
    failure = Failure(Reason.TRUNCATED, "cut off")
    given = {"registries": Registries([MemoryRegistry()])}

    def trace(told: Told) -> Trace:
        topics = MemoryTopics()
        topics.find = lambda _: FoundRecord(record, told)  # type: ignore[method-assign]
        return world.tracer(topics=topics, **given).trace("sensor/0/7")

    found = trace(Told(version, EVENT, None))
    assert {each.name: each.state for each in found.steps}["row"] is State.FOUND
    assert _step(found, "schema").seen == "sensor version 4"
    found = trace(Told(version, EVENT | {"deviceId": None}, None))
    assert "no row can be made of it: unroutable" in _step(found, "row").seen
    found = trace(Told(version, "bytes", failure))
    assert _step(found, "schema").values["detail"] == "cut off"
    assert "truncated: cut off" in _step(found, "row").seen
    found = trace(Told(None, "bytes", None))
    assert (_step(found, "schema").state, _step(found, "row").state) == (
        State.NOT_SEEN,
        State.NONE,
    )


def test_a_version_that_the_registry_lacks_is_not_seen(world: World) -> None:
    world.write(7)

    found = world.tracer(registries=Registries([MemoryRegistry()])).trace("sensor/0/7")

    assert _step(found, "schema").state is State.NOT_SEEN


def test_bytes_that_are_no_frame_and_a_tombstone_are_shown(world: World) -> None:
    source = Source("sensor", 0, 1)
    world.topics.records += [
        Record(source, None, b"junk"),
        Record(Source("sensor", 0, 2), b"\xff", None),
    ]
    world.append(7)

    junk = world.tracer().trace("sensor/0/1")
    tombstone = world.tracer().trace("sensor/0/2")

    assert _step(junk, "frame").seen.startswith("6a 75 6e 6b: found ")
    assert _step(junk, "row").state is State.NONE
    assert "unknown-framing" in _step(junk, "row").seen
    assert _step(junk, "lake file").state is State.NONE
    assert _step(junk, "record").seen == "sensor/0/1, no key"
    assert _step(tombstone, "record").values["recordKey"] == {"base64": "/w=="}
    assert (_step(tombstone, "frame").state, _step(tombstone, "row").state) == (
        State.NONE,
        State.NONE,
    )


def test_a_value_that_its_version_cannot_read_says_so(world: World) -> None:
    whole = world.write(7)
    assert whole.value is not None
    world.topics.records[:] = [Record(whole.source, b"k", whole.value[:-3], (), NOON_MS)]

    step = _step(world.tracer().trace("sensor/0/7"), "schema")

    assert "sensor version 1, which cannot read it: truncated: " in step.seen
    assert step.values["reason"] == "truncated"


def test_a_table_whose_key_is_not_known_is_not_looked_at(world: World) -> None:
    world.write(7)
    odd = {"name": "g", "table": "p-odd", "mappings": {"sensor": "m"}}
    world.outputs["functions"]["consumer-odd"] = odd

    def tell(trace: Trace) -> list[str]:
        return [each.seen for each in trace.steps if each.values.get("table") == "p-odd"]

    assert tell(world.tracer().trace("sensor/0/7")) == [
        "p-odd: the outputs do not tell the key of its rows; apply the root again"
    ]
    odd["shape"] = {"key": "deviceId", "mode": "upsert", "sort-name": "none"}  # type: ignore[assignment]
    (seen,) = tell(world.tracer().trace("sensor/0/7"))
    assert seen.startswith("p-odd: ")
    assert "key of its rows" not in seen


def test_a_row_that_a_newer_record_replaced_names_it(world: World) -> None:
    old, new = world.write(7), world.write(9)
    world.outputs["platform"]["jobs"]["named"]["consume"]["runs"]["consume"]["arguments"] += [
        *("--mode", "upsert", "--sort", "timestamp"),
    ]
    tracer = world.tracer()
    row = {"deviceId": "000001", "readingId": EVENT["timestamp"], "_source": str(new.source)}
    _put(row)

    found = tracer.trace(str(old.source))

    assert _step(found, "row").seen.endswith("a newer record has replaced it: sensor/0/9")
    assert not [each for each in found.steps if each.name == "row" and each.state != "found"]


def test_files_of_a_folder_are_not_looked_at(world: World) -> None:
    record = world.write(7)
    world.put_row(record)
    words = world.outputs["platform"]["jobs"]["named"]["consume"]["runs"]["consume"]["arguments"]
    words[words.index("--lake-table")] = "--parquet-table"

    step = _step(world.tracer().trace("sensor/0/7"), "lake file")

    assert step.state is State.NOT_SEEN
    assert '"$path"' in step.seen


def test_times_are_between_the_steps_that_have_one() -> None:
    steps = [
        Step("a", State.FOUND, "", at_ms=1_000),
        Step("b", State.FOUND, ""),
        Step("c", State.FOUND, "", at_ms=500),
        Step("d", State.FOUND, "", at_ms=4_500),
    ]

    trace = Trace("x", tuple(steps))

    assert trace.seconds == (None, None, -0.5, 4.0)
    assert [each["seconds"] for each in to_json(trace)["steps"]] == [None, None, -0.5, 4.0]
    assert [line.split() for line in list_lines(trace)][2:] == [
        ["a", "1970-01-01T00:00:01.000Z"],
        ["b"],
        ["c", "1970-01-01T00:00:00.500Z", "-0.500", "s"],
        ["d", "1970-01-01T00:00:04.500Z", "4.000", "s"],
    ]


def test_outputs_of_other_topics_have_no_tables(world: World) -> None:
    world.topics.records.append(Record(Source("other", 0, 1), None, b"x"))
    world.outputs = make_consumer(jobs=("consume",))

    found = world.tracer().trace("other/0/1")

    assert "row" not in [each.name for each in found.steps]
