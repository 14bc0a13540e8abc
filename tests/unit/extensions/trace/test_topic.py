"""Records are read from brokers, or by `penstock read` on a host, as the same bytes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jmespath
import pytest

from penstock.errors import Failure, OperationError, Reason
from penstock.extensions.trace import topic
from penstock.extensions.trace.topic import BrokerTopics, FoundRecord, HostTopics, Told, Version
from penstock.framing import SchemaKey
from penstock.kafka import KafkaSettings
from penstock.operations import ReadRecord
from penstock.records import Record, Source
from penstock.registry import SchemaVersion, VersionStatus
from tests.unit.extensions.trace.world import write_line

_HEADERS = (("a", b"text"), ("b", b"\xff"), ("c", None))
_RECORDS = [
    Record(Source("sensor", 0, 7), b"a'`\"", b"\3\0\xff", _HEADERS, 1_795_234_015_788),
    Record(Source("sensor", 1, 9), b"\xff", b"text", (), 1_795_234_015_789),
    Record(Source("sensor", 1, 10), None, None),
]
_LATE = Record(Source("sensor", 1, 11), None, b"text", (), 1_795_234_015_788_000)  # no date has it


@pytest.fixture
def host(tmp_path: Path) -> HostTopics:
    """A host whose `penstock` notes its words, and prints the lines of a file."""
    program = tmp_path / "penstock"
    program.write_text(
        f'#!/bin/sh\nfor word; do echo "$word"; done > {tmp_path}/words\ncat {tmp_path}/lines\n'
        f"[ -s {tmp_path}/lines ] || {{ echo one >&2; echo denied >&2; exit 1; }}\n"
    )
    program.chmod(0o755)
    return HostTopics("env sh -c", "analytics", {"PATH": f"{tmp_path}:/usr/bin:/bin"})


def _print(folder: Path, *records: Record) -> None:
    (folder / "lines").write_text("".join(write_line(ReadRecord(each)) for each in records))


def test_a_read_that_ends_amid_its_records_is_no_answer(host: HostTopics, tmp_path: Path) -> None:
    _print(tmp_path, *_RECORDS)
    program = tmp_path / "penstock"
    whole = program.read_text()
    assert host.find_newest("sensor", "k", 100) is not None

    program.write_text(f"{whole}echo 'no broker answers' >&2; exit 1\n")
    with pytest.raises(OperationError, match=r"failed on the host: no broker answers$"):
        host.find_newest("sensor", "k", 100)
    program.write_text(f"{whole}exit 255\n")  # of ssh, that was cut
    with pytest.raises(OperationError, match=r"failed on the host: it ended with 255$"):
        host.find_newest("sensor", "k", 100)
    program.write_text(f"{whole}exit 1\n")  # of a record that cannot be decoded
    assert host.find_newest("sensor", "k", 100) is not None


def test_a_host_that_decodes_keys_tells_their_bytes(host: HostTopics, tmp_path: Path) -> None:
    """As a host with PENSTOCK_KEY_FORMAT does."""
    record = Record(Source("sensor", 0, 7), b"\0\0\0\x2a", b"text")
    (tmp_path / "lines").write_text(write_line(ReadRecord(record, key=42)))

    found = host.find(record.source)

    assert found is not None
    assert found.record == record


@pytest.mark.parametrize("record", [*_RECORDS, _LATE], ids=str)
def test_a_host_reads_the_same_record(host: HostTopics, tmp_path: Path, record: Record) -> None:
    _print(tmp_path, record)

    assert host.find(record.source) == FoundRecord(record, Told(None, None, None))
    place = record.source
    assert (tmp_path / "words").read_text().split() == [
        "--profile=analytics",
        "read",
        f"--partition={place.partition}",
        f"--from={place.offset}",
        *("--count=1", "--raw", "--output=json", "--", "sensor"),
    ]


def test_a_host_tells_the_version_and_the_event_or_the_failure(
    host: HostTopics, tmp_path: Path
) -> None:
    key, status = SchemaKey.parse("confluent:7"), VersionStatus.AVAILABLE
    version = SchemaVersion(key, "sensor", 2, status, {"type": "null"}, None)
    failure = Failure(Reason.TRUNCATED, "cut off")
    program = tmp_path / "penstock"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/lines\nexit 1\n")  # as with a failure
    lines = (
        write_line(ReadRecord(_RECORDS[0], None, version, {"temperature": 30.5})),
        write_line(ReadRecord(_RECORDS[1], None, version, None, failure)),
    )
    (tmp_path / "lines").write_text("".join(lines))

    whole, cut = (host.find(each.source) for each in _RECORDS[:2])

    told = Version("sensor", 2, "confluent:7")
    assert whole == FoundRecord(_RECORDS[0], Told(told, {"temperature": 30.5}, None))
    assert cut == FoundRecord(_RECORDS[1], Told(told, "text", failure))


def test_a_place_without_a_record_is_none(host: HostTopics, tmp_path: Path) -> None:
    _print(tmp_path, _RECORDS[1])  # the next one, after a record that was compacted away

    assert host.find(Source("sensor", 1, 8)) is None


def test_a_host_is_asked_for_a_key_of_any_characters(host: HostTopics, tmp_path: Path) -> None:
    _print(tmp_path, *_RECORDS)

    found = host.find_newest("sensor", "a'`\"", 5)
    assert found is not None
    assert found.record == _RECORDS[1]

    words = (tmp_path / "words").read_text().splitlines()
    assert words[2] == "--from=-5"
    expression = jmespath.compile(words[3].removeprefix("--where="))
    assert [bool(expression.search({"key": key})) for key in ("a'`\"", "b")] == [True, False]


def test_a_host_that_fails_is_one_sentence(host: HostTopics, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("")

    with pytest.raises(OperationError, match=r"^`penstock read` failed on the host: denied$"):
        host.find(Source("sensor", 0, 1))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sh -c 'exec sleep 30'", "`penstock read` did not end on the host within 0.1 s"),
        ("no-such-command", "the command of the host, 'no-such-command', cannot be run: No such "),
    ],
)
def test_a_host_that_does_not_answer_is_one_sentence(
    command: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic, "_HOST_SECONDS", 0.1)
    host = HostTopics(command, "", {"PATH": "/usr/bin:/bin"})

    with pytest.raises(OperationError, match=f"^{said}"):
        host.find(Source("sensor", 0, 1))


def test_brokers_are_read_from_the_place_or_from_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    closed: list[bool] = []

    def read(settings: Any, name: str, start: int, partition: int | None = None) -> Iterator[Any]:
        asked.append((settings, name, start, partition))
        try:
            yield from _RECORDS
        finally:
            closed.append(True)

    monkeypatch.setattr(topic, "read_raw_records", read)
    settings = KafkaSettings(("b:1",), region="eu-central-1")
    topics = BrokerTopics(settings)

    assert topics.find(Source("sensor", 0, 7)) == FoundRecord(_RECORDS[0])
    assert topics.find(Source("sensor", 0, 6)) is None
    assert topics.find_newest("sensor", "a'`\"", 5) == FoundRecord(_RECORDS[0])
    assert topics.find_newest("sensor", "none", 5) is None
    assert asked[::2] == [(settings, "sensor", 7, 0), (settings, "sensor", -5, None)]
    assert closed == [True] * 4


def test_the_command_is_one_word_of_a_shell(host: HostTopics, tmp_path: Path) -> None:
    _print(tmp_path, _RECORDS[0])

    assert host.find(Source("a b;$(c)", 0, 7)) is None

    assert (tmp_path / "words").read_text().splitlines()[-1] == "a b;$(c)"
    assert json.loads((tmp_path / "lines").read_text())["topic"] == "sensor"
    assert shlex.split(host.command) == ["env", "sh", "-c"]
