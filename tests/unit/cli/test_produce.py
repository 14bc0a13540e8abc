"""`penstock produce` writes events and says of each what became of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import BrokerNameError, DeliveryError
from penstock.operations import _event_lines
from penstock.operations._event_lines import read_event_lines
from penstock.registry.memory import MemoryRegistry
from tests.fixtures.commands import read_json
from tests.fixtures.producing import (
    SCHEMA,
    Run,
    piped_stdin,
    registry,
    run,
    topic,
    write,
)
from tests.stubs.clock import FakeTime
from tests.stubs.registries import CountedRegistry
from tests.stubs.topic import FakeTopic

__all__ = ["registry", "run", "topic", "write"]


def _places(lines: list[str]) -> list[str]:
    return [line.partition("  ")[0] for line in lines]


def test_generated_events_conform_to_the_registered_schema(
    run: Run, topic: FakeTopic, registry: MemoryRegistry
) -> None:
    registry.register("sensor", SCHEMA)

    code, lines = run("--seed", "1")

    assert code == 0
    assert lines[:-1] == [f"sensor/0/{number}  schema=sensor v1" for number in range(10)]
    assert lines[-1].startswith("sent 10, refused 0, not acknowledged 0 in ")
    assert lines[-1].endswith(" records/s)")
    events = topic.events(registry)
    assert len({event["deviceId"] for event in events}) > 1
    assert all(event["timestamp"] > 1_700_000_000_000 for event in events)  # the present
    run("--seed", "1", "--records", "3")
    again = topic.events(registry)[10:]
    assert [each["temperature"] for each in again] == [each["temperature"] for each in events[:3]]


def test_generated_events_register_nothing_and_fill_required_fields(
    run: Run, topic: FakeTopic, registry: MemoryRegistry
) -> None:
    fields = [{"name": "id", "type": "string"}, {"name": "raw", "type": "bytes"}]
    fields += [{"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}]
    registry.register("sale", {"type": "record", "name": "Sale", "fields": fields})
    words = ["--schema-name", "sale", "--key", "id", "--records", "2", "--event-time"]

    code, lines = run(*words, "at")

    assert (code, _places(lines[:2])) == (0, ["sensor/0/0", "sensor/0/1"])
    assert all(event["at"] > 1_700_000_000_000 for event in topic.events(registry))  # the present
    assert len(registry.versions("sale")) == 1
    code, lines = run(*words, "missing")
    assert code == 1
    assert (
        "PENSTOCK_EVENT_TIME names missing, expected a field of version 1 of schema sale: "
        in lines[0]
    )


@pytest.mark.parametrize("type_", ["int", {"type": "long", "logicalType": "timestamp-micros"}])
def test_a_time_that_the_present_is_not_put_into_is_generated_too(
    run: Run, registry: MemoryRegistry, type_: object
) -> None:
    fields = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": type_}]
    registry.register("sensor", {**SCHEMA, "fields": fields})

    code, lines = run("--records", "5")

    assert code == 0, lines


def test_generated_events_take_no_other_policy(run: Run, write: Callable[..., str]) -> None:
    code, lines = run("--policy", "grow")

    assert (code, lines) == (2, ["penstock: --policy is grow, expected a FILE with the events"])
    assert run("--policy", "grow", write('{"temperature": 1}'))[0] == 0


def test_a_producers_url_with_a_mode_for_new_schemas_will_do(
    run: Run, registry: MemoryRegistry
) -> None:
    registry.register("sensor", SCHEMA)

    code, _ = run("--registry", "glue://plant?region=eu-central-1&compatibility=FULL")

    assert code == 0


def test_a_schema_of_no_record_is_an_error(run: Run, registry: MemoryRegistry) -> None:
    registry.register("sensor", "long")

    assert run() == (
        1,
        ["penstock: found version 1 of schema sensor, expected the schema of a record"],
    )


def test_a_schema_that_is_not_registered_is_an_error(run: Run) -> None:
    assert run("--schema-name", "pump") == (
        1,
        [
            "penstock: found no version of schema pump in memory://, expected one that events can "
            "be generated for"
        ],
    )


def test_each_line_of_a_file_is_written_or_refused_by_its_number(
    run: Run, topic: FakeTopic, registry: MemoryRegistry, write: Callable[..., str]
) -> None:
    path = write(
        '\ufeff{"temperature": 30}\r',
        "",
        '{"temperature": "warm"}',
        "{temperature: 30}",
        '["no event"]',
        '{"temperature": 30, "temperature": 31}',
        '{"temperature": 31, "flow\\u001b[1m": 2}',
    )

    code, lines = run(path)

    assert code == 1
    assert lines[0] == "sensor/0/0  schema=sensor v1  new version"
    assert lines[1].startswith(f"{path}, line 3: refused: temperature: found ")
    assert lines[2] == (
        f"{path}, line 4: refused: found text that is not JSON at column 2, expected one whole "
        "object in each line: Expecting property name enclosed in double quotes"
    )
    assert lines[3] == f"{path}, line 5: refused: found a list, expected a JSON object"
    assert lines[4].startswith(f"{path}, line 6: refused: temperature: found the key twice")
    assert lines[5].startswith("sensor/0/1  schema=sensor v2  new version  + ")
    assert "\x1b" not in "".join(lines)
    assert lines[6].startswith("sent 2, refused 4, not acknowledged 0 in ")
    assert lines[6].endswith("; new versions: sensor v1, sensor v2")
    assert [event["deviceId"] for event in topic.events(registry)] == ["000001"] * 2


def test_json_has_an_object_for_each_event_and_one_for_the_summary(
    run: Run, write: Callable[..., str]
) -> None:
    code, lines = run(write('{"temperature": 30}', "no"), "--output", "json")

    first, second, last = read_json("produce", "".join(f"{line}\n" for line in lines))
    assert code == 1
    assert (first["number"], first["offset"], first["schema"]["version"]) == (1, 0, 1)
    assert (second["number"], second["error"]["reason"]) == (2, "EventTextError")
    assert (last["summary"]["sent"], last["summary"]["refused"]) == (1, 1)
    assert last["summary"]["newVersions"] == ["sensor v1"]


def test_only_so_many_events_are_written_and_quietly(
    run: Run, topic: FakeTopic, write: Callable[..., str]
) -> None:
    code, lines = run(write(*['{"temperature": 1}'] * 5), "--records", "3", "--quiet")

    assert (code, len(lines), len(topic.records)) == (0, 1, 3)


def test_stdin_is_read_and_a_last_line_without_a_break_counts(run: Run, topic: FakeTopic) -> None:
    with piped_stdin() as stdin:
        os.write(stdin, b'{"temperature": 1}\n{"temperature": 2}')
        os.close(stdin)
        code, lines = run("-")

    assert (code, _places(lines[:-1])) == (0, ["sensor/0/0", "sensor/0/1"])


def test_a_line_is_read_as_soon_as_it_is_there() -> None:
    with piped_stdin() as stdin:
        os.write(stdin, b'{"a": 1}\n{"a"')
        chunks = read_event_lines("-", lambda: False)
        assert [each.event for each in next(chunks)] == [{"a": 1}]
        os.write(stdin, b": 2}\n")
        assert [each.event for each in next(chunks)] == [{"a": 2}]
        os.close(stdin)
        assert list(chunks) == []


def test_a_line_without_end_is_refused_and_takes_no_memory(
    run: Run, write: Callable[..., str]
) -> None:
    path = write('"' + "x" * 2_000, '{"temperature": 1}')

    with (
        patch.object(_event_lines, "_MAX_LINE", 1_000),
        patch.object(_event_lines, "_READ_SIZE", 9),
    ):
        code, lines = run(path)

    assert code == 1
    assert lines[0] == f"{path}, line 1: refused: found a line of more than 1,000 bytes"
    assert lines[1].startswith("sensor/0/0  ")


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
@pytest.mark.parametrize("text", ["", "\n \r\n"])
def test_a_source_without_events_is_an_error(
    run: Run, write: Callable[..., str], text: str, words: tuple[str, ...]
) -> None:
    assert run(write(text), *words) == (
        *(1, ["penstock: found no events in the source, expected a JSON object in each line"]),
    )


def test_a_file_that_cannot_be_read_is_an_error(run: Run, tmp_path: Path) -> None:
    assert run(str(tmp_path)) == (1, [f"penstock: {tmp_path} cannot be read: Is a directory"])
    missing = tmp_path / "missing"
    assert run(str(missing)) == (
        *(1, [f"penstock: {missing} cannot be read: No such file or directory"]),
    )


def test_records_that_are_not_acknowledged_are_told(
    run: Run, topic: FakeTopic, write: Callable[..., str]
) -> None:
    topic.is_there, topic.refused = True, {1: DeliveryError("no answer")}

    code, lines = run(path := write(*['{"temperature": 1}'] * 3))

    assert code == 1
    assert lines[1] == f"{path}, line 2: not acknowledged: no answer"
    assert lines[3].startswith("sent 2, refused 0, not acknowledged 1 in ")


def test_an_outage_ends_the_command_with_one_sentence(
    run: Run, topic: FakeTopic, write: Callable[..., str]
) -> None:
    topic.failure = BrokerNameError("b-1.example does not resolve")

    code, lines = run(path := write(*['{"temperature": 1}'] * 2_000))

    assert code == 1
    assert lines[0] == f"{path}, line 1 and the next 999: not acknowledged: {topic.failure}"
    assert lines[1].startswith("sent 0, refused 0, not acknowledged 1,000 in ")
    assert lines[2] == (
        f"penstock: stopped after {path}, line 1,000: the brokers or the registry accepted "
        "none of the last 1,000 events"
    )


@pytest.mark.parametrize("words", [["--records", "0"], ["--rate", "0"], ["--rate", "fast"]])
def test_a_number_that_cannot_be_is_wrong_usage(run: Run, words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run(*words)

    assert caught.value.code == 2


def test_a_rate_is_kept(run: Run, write: Callable[..., str]) -> None:
    clock = FakeTime()

    with patch("penstock.operations.producing.time", clock):
        code, _ = run(write(*['{"temperature": 1}'] * 40, ""), "--rate", "20")

    assert code == 0
    assert clock.now == pytest.approx(1.9)  # 20 batches of 2; the first one does not wait


def test_the_time_that_writing_takes_counts_for_the_rate(
    run: Run, topic: FakeTopic, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, send_all = FakeTime(), topic.send_all

    def send_slowly(*given: Any, **more: Any) -> Any:
        clock.sleep(0.06)
        return send_all(*given, **more)

    topic.is_there = True
    monkeypatch.setattr(topic, "send_all", send_slowly)
    with patch("penstock.operations.producing.time", clock):
        code, _ = run(write(*['{"temperature": 1}'] * 40, ""), "--rate", "20")

    assert code == 0
    assert clock.now == pytest.approx(1.96)


def test_a_warm_producer_asks_the_registry_for_nothing(run: Run, registry: CountedRegistry) -> None:
    registry.register("sensor", SCHEMA)

    def count(records: int) -> int:
        before = len(registry.calls)
        assert run("--records", str(records), "--quiet")[0] == 0
        return len(registry.calls) - before

    assert count(5_000) == count(1)
