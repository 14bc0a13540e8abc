"""`penstock read` prints what real brokers hold, from any place, decoded or with the reason."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from kafka import KafkaProducer

from penstock.cli import main
from penstock.framing import SchemaKey, encode_glue_frame
from penstock.kafka import (
    FoundOffsets,
    KafkaSettings,
    PartitionOffsets,
    Security,
    look_up_offsets,
    read_offsets,
)
from penstock.kafka.login import client_options
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import encode
from systems.clusters import ANONYMOUS, PRODUCER, Brokers, logged_in
from tests.fixtures.commands import read_json
from tests.stubs.terminal import Terminal

pytestmark = pytest.mark.kafka

_SCHEMA = {
    "type": "record",
    "name": "sensor",
    "fields": [
        {"name": "temperature", "type": "double"},
        {"name": "raw", "type": ["null", "bytes"], "default": None},
    ],
}
Run = Callable[..., tuple[int, list[str]]]


@pytest.fixture(scope="module")
def settings(brokers: Brokers) -> KafkaSettings:
    return brokers.settings(Security.PLAINTEXT)


@pytest.fixture
def topic(brokers: Brokers) -> str:
    name = brokers.create_topic(partitions=2)
    brokers.allow(ANONYMOUS, name, "READ", "WRITE")
    return name


@pytest.fixture
def run(plaintext_environ: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command, and return its exit code and the lines it printed."""

    def run(*words: str) -> tuple[int, list[str]]:
        code = main(["read", *words], plaintext_environ)
        printed = capsys.readouterr()
        return code, (printed.out + printed.err).splitlines()

    return run


def _send(settings: KafkaSettings, topic: str, *values: bytes | None, **place: Any) -> None:
    with KafkaProducer(**client_options(settings)) as producer:
        for number, value in enumerate(values):
            sent = {"partition": 0, "timestamp_ms": 1_000_000_000_000 + number} | place
            producer.send(topic, value, **sent).get(30)


def test_a_record_is_shown_with_its_schema_and_all_its_parts(
    run: Run, settings: KafkaSettings, topic: str
) -> None:
    registry = MemoryRegistry()
    version = registry.register("sensor", _SCHEMA).version
    frame = encode_glue_frame(
        version.key, encode({"temperature": 30.5, "raw": b"\xff"}, _SCHEMA), compress=True
    )
    _send(settings, topic, frame, None, key=b"000001", headers=[("trace", b"a\x1b[1m")])
    with patch("penstock.operations.topics.load_registries", lambda *_: Registries([registry])):
        text = run(topic, "--registry", "glue://any")
        code, lines = run(topic, "--registry", "glue://any", "--output", "json")

    where = "2001-09-09T01:46:40.000Z  key=000001  trace=a\\x1b[1m"
    assert text == (
        0,
        [
            f'{topic}/0/0  {where}  schema=sensor v1  {{"temperature": 30.5, "raw": "/w=="}}',
            f"{topic}/0/1  {where.replace('.000', '.001')}  tombstone",
        ],
    )
    assert code == 0
    first, second = read_json("read", "".join(f"{line}\n" for line in lines))
    assert first == {
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "timestamp": "2001-09-09T01:46:40.000Z",
        "key": "000001",
        "headers": [{"name": "trace", "value": "a\x1b[1m"}],
        "schema": {"name": "sensor", "version": 1, "id": str(version.key)},
        "failure": None,
        "value": {"temperature": 30.5, "raw": "/w=="},
    }
    assert (second["value"], second["schema"]) == (None, None)


def test_a_terminal_sees_how_many_records_are_read_while_they_go_elsewhere(
    run: Run, settings: KafkaSettings, topic: str
) -> None:
    _send(settings, topic, b"1", b"2")

    with patch.object(sys, "stderr", Terminal()) as stderr:
        run(topic, "--count", "2")

    assert "\r\x1b[K[                    ] 0 % of 2 records, " in stderr.getvalue()
    assert "[####################] 100 % of 2 records, " in stderr.getvalue()


def test_a_value_that_cannot_be_decoded_is_shown_with_the_reason(
    run: Run, settings: KafkaSettings, topic: str
) -> None:
    unknown = encode_glue_frame(SchemaKey.parse("d3e21a3b-f828-4ef7-a864-ea05cba14f2c"), b"\xff")
    _send(settings, topic, b'{"plain": 1}', unknown)

    code, lines = run(topic)
    assert code == 1
    assert lines[0].endswith('the value is  {"plain": 1}')
    assert "unknown-framing: found" in lines[0]
    assert "no-registry-for-framing: " in lines[1]
    assert "\\xff" in lines[1]

    code, lines = run(topic, "--output", "json")
    plain, framed = read_json("read", "".join(f"{line}\n" for line in lines))
    assert (code, plain["value"], plain["failure"]["reason"]) == (
        *(1, '{"plain": 1}', "unknown-framing"),
    )
    assert framed["value"] == {"base64": "AwDT4ho7+ChO96hk6gXLoU8s/w=="}


def test_it_begins_at_any_place_and_ends_at_the_end(
    run: Run, settings: KafkaSettings, topic: str
) -> None:
    _send(settings, topic, *[b"%d" % number for number in range(5)])
    _send(settings, topic, b"other", partition=1)

    def read(*words: str) -> list[str]:
        return sorted(line.rpartition("  ")[2] for line in run(topic, *words)[1])

    assert read() == ["0", "1", "2", "3", "4", "other"]
    assert read("--partition", "0", "--from", "3") == ["3", "4"]
    assert read("--partition", "0", "--count", "2") == ["0", "1"]
    assert read("--from", "2001-09-09T01:46:40.003+00:00") == ["3", "4"]
    assert read("--from", "2001-09-09T01:46:40.004Z", "--partition", "0") == ["4"]
    assert read("--from", "2030-01-01T00:00:00+00:00") == []
    assert len(read("--from", "1960-01-01T00:00:00Z")) == 6
    assert read("--from", "end") == []
    assert read("--from", "-2") == ["3", "4", "other"]


def test_an_expression_chooses_among_records(run: Run, settings: KafkaSettings, topic: str) -> None:
    _send(settings, topic, *[b"%d" % number for number in range(5)], key=b"a")
    _send(settings, topic, b"5", key=b"b")

    def read(expression: str, *words: str) -> tuple[int, list[str]]:
        code, lines = run(topic, "--where", expression, *words)
        return code, [line.rpartition("  ")[2] for line in lines]

    assert read("key == 'b' && failure") == (1, ["5"])
    assert read("offset >= `3`", "--count", "1") == (1, ["3"])
    assert read("schema") == (0, [])
    assert read("key == 'b'", "--raw") == (1, ["raw=NQ=="])
    code, lines = run(topic, "--where", "key == 'b'", "--raw", "--output", "json")
    (found,) = read_json("read --raw", "".join(f"{line}\n" for line in lines))
    assert (code, found["raw"], found["value"]) == (1, "NQ==", "5")
    assert read("abs(key)")[1][0].startswith(
        f"penstock: --where cannot be evaluated for {topic}/0/0: "
    )
    with pytest.raises(SystemExit, match="2"):
        read("key ==")


def test_it_ends_behind_the_marker_of_a_transaction(run: Run, brokers: Brokers, topic: str) -> None:
    options = client_options(brokers.settings(Security.IAM))
    with (
        logged_in(brokers, PRODUCER),
        KafkaProducer(**options, transactional_id=topic) as producer,
    ):
        producer.init_transactions()
        for value, end in ((b"kept", "commit"), (b"aborted", "abort")):
            producer.begin_transaction()
            producer.send(topic, value, partition=0).get(30)
            getattr(producer, f"{end}_transaction")()

    code, lines = run(topic)

    assert code == 1  # no frame
    assert [line.rpartition("  ")[2] for line in lines] == ["kept"]


def test_a_follower_waits_for_new_records_until_it_is_interrupted(
    run: Run, settings: KafkaSettings, topic: str
) -> None:
    shown = []

    def print_line(line: str) -> None:
        shown.append(line.rpartition("  ")[2])
        if shown == ["first", "second"]:
            raise KeyboardInterrupt
        _send(settings, topic, b"second")

    _send(settings, topic, b"first")
    with patch("penstock.cli._read.print_line", print_line):
        assert run(topic, "--follow") == (1, [])  # values without a frame

    assert shown == ["first", "second"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--partition", "2"], "found partition 2, expected one of 0 to 1 of TOPIC"),
        (["--from", "9"], "found offset 9, expected one of 0 to 1 of TOPIC/0"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(
    run: Run, settings: KafkaSettings, topic: str, words: list[str], message: str
) -> None:
    _send(settings, topic, b"one")

    assert run(topic, *words) == (1, ["penstock: " + message.replace("TOPIC", topic)])


def test_a_topic_that_is_missing_or_not_allowed_is_an_error(run: Run, brokers: Brokers) -> None:
    hidden = brokers.create_topic()

    for name in (hidden, "nothing-here"):
        code, lines = run(name)
        assert code == 1
        assert lines[0].startswith("penstock: ")
        assert name in lines[0]


@pytest.mark.parametrize("words", [["--from", "soon"], ["--count", "0"], ["--partition", "-1"]])
def test_a_place_that_cannot_be_is_wrong_usage(run: Run, words: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("topic", *words)

    assert caught.value.code == 2


def _send_packed(settings: KafkaSettings, topic: str, codec: str) -> None:
    with KafkaProducer(**client_options(settings), compression_type=codec) as producer:
        producer.send(topic, b"v" * 100).get(30)


@pytest.mark.parametrize("codec", ["gzip", "lz4", "snappy", "zstd"])
def test_records_of_each_compression_are_read(
    run: Run, settings: KafkaSettings, topic: str, codec: str
) -> None:
    _send_packed(settings, topic, codec)

    _, (line,) = run(topic)

    assert "v" * 100 in line


def test_a_compression_without_its_package_is_named(
    run: Run, settings: KafkaSettings, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _send_packed(settings, topic, "zstd")
    monkeypatch.setattr("kafka.codec.zstd", None)

    assert run(topic) == (
        1,
        [
            f"penstock: reading {topic}: found records in the compression zstd, which this Python "
            "cannot unpack: install the package zstandard"
        ],
    )


def test_missing_offsets_are_distinguished_by_their_cause(
    settings: KafkaSettings, brokers: Brokers, topic: str
) -> None:
    options = client_options(brokers.settings(Security.IAM))
    _send(settings, topic, b"a")
    _send(settings, topic, None, b"c", key=b"k")
    with (
        logged_in(brokers, PRODUCER),
        KafkaProducer(**options, transactional_id=topic) as producer,
    ):
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"aborted", partition=0).get(30)
        producer.abort_transaction()
    _send(settings, topic, b"f")

    offsets = read_offsets(settings, [topic])
    ranges = {(topic, 0): [range(2), range(3, 9)], (topic, 1): [], (topic, 2): [range(3)]}
    found = look_up_offsets(settings, ranges)

    assert [replace(each, first_ms=None) for each in offsets] == [
        PartitionOffsets(topic, 0, 0, 6, None),
        PartitionOffsets(topic, 1, 0, 0, None),
    ]
    # 1 is a tombstone, 3 was aborted, 4 is the transaction's marker; 6 to 8 and partition 2 are of
    # a topic that was there before.
    assert found == {
        (topic, 0): FoundOffsets(1, 2, (range(1), range(5, 6), range(6, 9))),
        (topic, 1): FoundOffsets(0, 0, ()),
        (topic, 2): FoundOffsets(0, 0, (range(3),)),
    }
