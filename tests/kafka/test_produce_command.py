"""`penstock produce` on real brokers and Glue, under a schema of another program."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from penstock.cli import main
from penstock.kafka import KafkaSettings, Security, Topic, ensure_topic
from systems.clusters import ANONYMOUS, PRODUCER, Brokers, logged_in
from tests.fixtures.accounts import ActAs
from tests.fixtures.backups import ACCOUNT

pytestmark = pytest.mark.kafka

_REGISTRY, _SCHEMA, _TOPIC = "test-schema-registry", "test_payload_schema", "test"
_URL = f"glue://{_REGISTRY}?region=eu-central-1"
_DEFINITION = {
    "type": "record",
    "name": "payload",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "amount", "type": "int"},
        {"name": "sold", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
Run = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture(scope="module")
def settings(brokers: Brokers) -> KafkaSettings:
    return brokers.settings(Security.PLAINTEXT)


@pytest.fixture
def run(
    settings: KafkaSettings,
    act_as: ActAs,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command, and return its exit code and the lines of both outputs."""
    act_as(ACCOUNT)

    def run(*words: str, servers: str = ",".join(settings.bootstrap_servers)) -> Any:
        environ = {"KAFKA_BOOTSTRAP_SERVERS": servers, "KAFKA_SECURITY": "plaintext"}
        code = main([*words, "--registry", _URL], environ)
        printed = capsys.readouterr()
        return code, printed.out.splitlines(), printed.err.splitlines()

    return run


@pytest.fixture(scope="module")
def registered(client: Callable[..., Any]) -> None:
    """Register a schema as another program does, with fields that are required."""
    client("glue").create_registry(RegistryName=_REGISTRY)
    client("glue").create_schema(
        RegistryId={"RegistryName": _REGISTRY},
        SchemaName=_SCHEMA,
        DataFormat="AVRO",
        Compatibility="BACKWARD",
        SchemaDefinition=json.dumps(_DEFINITION),
    )


@pytest.mark.usefixtures("registered")
def test_ten_records_are_ten_lines_and_ten_events_to_read(run: Run, brokers: Brokers) -> None:
    with logged_in(brokers, PRODUCER):
        ensure_topic(brokers.settings(Security.IAM), Topic(_TOPIC, partitions=2))
    brokers.allow(ANONYMOUS, _TOPIC, "READ", "WRITE")

    words = ["--schema-name", _SCHEMA, "--topic", _TOPIC, "--key", "id", "--event-time", "sold"]
    code, lines, problems = run("produce", *words, "--records", "10")

    assert (code, problems, len(lines)) == (0, [], 11)
    assert {line.rpartition("  ")[2] for line in lines[:-1]} == {f"schema={_SCHEMA} v1"}
    code, read, problems = run("read", _TOPIC, "--output", "json")
    assert (code, problems) == (0, [])
    records = [json.loads(line) for line in read]
    places = {"{topic}/{partition}/{offset}".format(**each) for each in records}
    assert places == {line.partition("  ")[0] for line in lines[:-1]}
    assert all(each["value"].keys() == {"id", "amount", "sold"} for each in records)
    assert {each["key"] for each in records} == {each["value"]["id"] for each in records}


@pytest.mark.usefixtures("registered")
def test_a_hop_that_is_missing_is_named(run: Run, brokers: Brokers) -> None:
    hidden = brokers.create_topic()
    words = ["produce", "--schema-name", _SCHEMA, "--key", "id", "--event-time", "sold"]
    words += ["--records", "2", "--topic"]

    for topic, servers, hop in (
        (hidden, {}, hidden),
        ("any", {"servers": "no-such-host.invalid:9092"}, "no-such-host.invalid"),
        ("any", {"servers": "127.0.0.1:9"}, "127.0.0.1:9"),
    ):
        code, lines, problems = run(*words, topic, **servers)
        assert (code, len(lines)) == (1, 2)
        assert lines[0].startswith("event 1 and the next 1: not acknowledged: ")
        assert hop in lines[0]
        assert problems[0].startswith("penstock: stopped after event 2: ")
