"""Programs that are not Penstock's, on a consumer's host: they read, and write where granted."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.e2e.accounts import PRODUCER
from tests.e2e.clients import LANGUAGES, Host
from tests.fixtures.commands import read_json

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_COUNT = 3
_CONNECTED = ("connection", "access lists")  # one of its registries cannot be reached
_PLACE = ("topic", "partition", "offset")


@pytest.fixture(scope="module")
def host(accounts, stories, tmp_path_factory):
    """The host of the consumer, once there are records."""
    made = Host(accounts, "analytics", tmp_path_factory.mktemp("host"))
    made.compile()
    return made


@pytest.fixture(scope="module")
def schema(client):
    """A schema of which nobody has a topic."""
    glue, name = client("glue", PRODUCER), "nobodys"
    fields = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"}]
    glue.create_schema(
        RegistryId={"RegistryName": "penstock"},
        SchemaName=name,
        DataFormat="AVRO",
        Compatibility="BACKWARD",
        SchemaDefinition=json.dumps({"type": "record", "name": name, "fields": fields}),
    )
    yield name
    glue.delete_schema(SchemaId={"RegistryName": "penstock", "SchemaName": name})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_reads_what_the_consumer_function_has_written(host, language):
    words = ["--count", str(_COUNT)] if language == "python" else [str(_COUNT)]

    done = host.run(language, "sensor", *words)

    assert done.returncode == 0, done.stderr
    rows = host.accounts.rows("analytics")
    found = dict(_read_line(language, line) for line in done.stdout.splitlines())
    assert len(found) == _COUNT
    for place, value in found.items():
        row = rows.get(f"sensor/{place}")
        if value is not None:
            assert (value["deviceId"], value["timestamp"]) == (row["deviceId"], row["timestamp"])
        else:  # those that are no frames
            assert row is None
    assert any(found.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_that_the_registry_refuses_passes_no_record(host, language):
    words = ["--count", str(_COUNT)] if language == "python" else [str(_COUNT)]

    done = host.run(language, "sensor", *words, external_id="of-another-consumer")

    assert done.returncode == 1
    # What is no frame needs no registry, and may come first.
    read = dict(_read_line(language, line) for line in done.stdout.splitlines())
    assert not any(read.values())
    assert "sts:AssumeRole" in done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_writes_a_record_that_becomes_a_row(host, language):
    device = f"from-{language}"
    event = {"deviceId": device, "timestamp": int(time.time() * 1_000)}
    what = json.dumps(event) if language == "python" else device

    done = host.run(language, "sensor", "--write", what)

    assert done.returncode == 0, done.stderr
    written = done.stdout.strip()
    if language == "python":
        written = "{partition}/{offset}".format(**json.loads(written))
    partition, offset = written.split("/")
    answer = {"topic": "sensor", "partition": partition, "offset": offset}
    assert host.accounts.await_row("analytics", answer)["deviceId"] == device


def test_ten_events_of_penstock_produce_are_ten_rows(host):
    done = host.penstock("produce", "--topic", "sensor", "--records", "10")

    assert done.returncode == 0, done.stderr
    *lines, summary = done.stdout.splitlines()
    assert summary.startswith("sent 10, refused 0, not acknowledged 0 in ")
    for line in lines:
        place, schema, *_ = line.split("  ")
        assert re.fullmatch(r"schema=sensor v\d+", schema)
        host.accounts.await_row("analytics", dict(zip(_PLACE, place.split("/"), strict=True)))
    topic, partition, offset = lines[0].partition("  ")[0].split("/")
    words = ["--partition", partition, "--from", offset, "--count", "1", "--output", "json"]
    shown = host.penstock("read", topic, *words)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["value"]["deviceId"]


def test_the_doctor_connects_from_the_host_by_its_login(host):
    """The topics are those of the contract; one that the access lists do not have is named."""
    contract = {"contract": host.accounts.producer.outputs()["contracts"]["analytics"]}

    def look():
        (host.folder / "contract.json").write_text(json.dumps(contract))
        words = ("--contract", "contract.json", "--connect", "--output", "json")
        return host.penstock("doctor", *words)

    def list_states(done):
        (found,) = read_json("doctor", done.stdout)
        seen = [each for each in found["findings"] if each["hop"] in _CONNECTED]
        return {(each["hop"], each["state"], each["code"]) for each in seen}

    whole = look()
    contract["contract"]["programs"]["clients"]["writes"].append("nobodys")
    half = look()

    assert list_states(whole) == {(each, "ok", "") for each in _CONNECTED}
    assert half.returncode == 2, half.stdout + half.stderr
    assert ("access lists", "broken", "TopicForbiddenError") in list_states(half)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_is_told_that_a_topic_is_not_granted(host, language, schema):
    what = json.dumps({"deviceId": "d", "timestamp": 1}) if language == "python" else "device"

    done = host.run(language, schema, "--write", what)

    assert done.returncode == 1, done.stderr
    told = f"{schema} is not granted: ask the producer's account to add it to the topics that this"
    assert f"{told} consumer writes" in done.stderr


def _read_line(language, line):
    """Return the place of a record that a client has printed, and its value."""
    if language == "python":
        shown = json.loads(line)
        return f"{shown['partition']}/{shown['offset']}", shown.get("value")
    place, _, shown = line.partition(" ")
    return place, None if shown == "unreadable" else json.loads(shown)
