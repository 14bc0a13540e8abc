"""A consumer looks at the schemas of the producer's account, as seed 003 does at its console."""

from __future__ import annotations

import json

import pytest

from tests.e2e.accounts import PRODUCER
from tests.e2e.clients import Host

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_OTHER = "other"  # a registry of the same account, of which the consumer was given nothing


@pytest.fixture(scope="module")
def host(accounts, stories, tmp_path_factory):
    """The host of the consumer, once the story of the seed has made versions."""
    return Host(accounts, "analytics", tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def other(client):
    glue = client("glue", PRODUCER)
    glue.create_registry(RegistryName=_OTHER)
    yield _OTHER
    glue.delete_registry(RegistryId={"RegistryName": _OTHER})


def _look(host, *words, code=0):
    done = host.penstock("schema", *words, "--output", "json")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_schemas_are_listed_with_their_versions(host):
    assert "sensor" in _look(host, "list")["schemas"]

    found = _look(host, "versions", "sensor")

    assert found["mode"] == "BACKWARD"
    assert [each["status"] for each in found["versions"]][:2] == ["AVAILABLE"] * 2
    assert [each["number"] for each in found["versions"]][:2] == [1, 2]


def test_two_versions_are_compared(host):
    shown = {
        number: json.loads(_look(host, "show", "sensor", "--version", str(number))["definition"])
        for number in (1, 2)
    }
    fields = {n: {field["name"] for field in shown[n]["fields"]} for n in shown}
    assert fields[2] - fields[1] == {"temperature"}

    found = _look(host, "diff", "sensor", "1", "2")

    assert [change["path"] for change in found["changes"]] == ["temperature"]
    assert (found["afterReadsBefore"], found["beforeReadsAfter"]) == (True, True)


def test_a_definition_is_checked_and_not_registered(host, tmp_path):
    before = _look(host, "versions", "sensor")
    definition = json.loads(_look(host, "show", "sensor", "--version", "2")["definition"])
    for field in definition["fields"]:
        if field["name"] == "temperature":
            field["type"] = ["null", "string"]
    file = tmp_path / "sensor.avsc"
    file.write_text(json.dumps(definition))

    found = _look(host, "check", "sensor", str(file), code=1)

    assert not found["accepted"]
    assert found["problems"]
    assert _look(host, "versions", "sensor") == before


def test_a_folder_is_planned_with_the_outputs_of_both_roots(host, accounts, tmp_path):
    before = _look(host, "versions", "sensor")
    files = []
    for root in (accounts.producer, accounts.consumers["analytics"]):
        files.append(tmp_path / f"{len(files)}.json")
        files[-1].write_text(root.run("output", "-json").stdout)
    definition = json.loads(_look(host, "show", "sensor")["definition"])
    added = {"name": "planned", "type": ["null", "long"], "default": None}
    folder = tmp_path / "schemas"
    folder.mkdir()
    words = ["plan", str(folder), *(word for file in files for word in ("--outputs", str(file)))]

    def plan(fields, code):
        file = folder / "sensor.avsc"
        file.write_text(json.dumps(definition | {"fields": fields}))
        (found,) = _look(host, *words, code=code)["schemas"]
        return found

    found = plan([*definition["fields"], added], 2)

    assert found["version"] == before["versions"][-1]["number"] + 1
    assert [each["path"] for each in found["changes"]] == ["planned"]
    affected = {(each["program"], each["table"]): each for each in found["effects"]}
    assert {"job consume", "function consumer", "client shell"} <= {name for name, _ in affected}
    lake = affected["job consume", "penstock_analytics_lake.readings"]
    assert (lake["columns"], lake["action"]) == (["+ planned bigint"], "sync")  # it runs once

    found = plan([each for each in definition["fields"] if each["name"] != "deviceId"], 3)

    assert {each["path"] for each in found["findings"] if each["rule"] == "KEY_FIELD"} == {
        "deviceId"
    }
    assert _look(host, "versions", "sensor") == before


def test_nothing_else_may_be_done(host, other, tmp_path):
    definition = {"type": "record", "name": "sensor", "fields": []}
    file = tmp_path / "sensor.avsc"
    file.write_text(json.dumps(definition))

    done = host.penstock("schema", "register", "sensor", str(file))

    assert done.returncode != 0
    assert "is not authorized to perform: glue:" in done.stderr
    done = host.penstock("schema", "list", registry=other)
    assert done.returncode != 0
    assert "is not authorized to perform: glue:ListSchemas" in done.stderr
