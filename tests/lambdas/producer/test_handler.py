"""The producer's handler as Lambda runs it, with the events that are shipped with it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import snapshot_restore_py

from penstock.credentials import load_session
from penstock.errors import (
    BrokerUnavailableError,
    RejectedEventError,
    SettingsError,
    UndeliveredEventError,
)
from penstock.extensions import doctor
from penstock.framing import SchemaKey
from penstock.producing import EventProducer
from tests.fixtures.rejected import REGION, keys_of
from tests.lambdas.producer.in_process import FOLDER, Context, Function, function, load

__all__ = ["function"]

_EVENTS = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("events/*.json")}

# Each event with what becomes of it when it is the first of its schema.
_FIRST = {
    "add_temperature": {"temperature": "long"},
    "bad_names": {
        "1st reading": "long",
        "größe.mm": "long",
        "déjà vu": "boolean",
        "temp-c": "double",
        "deviceID": "string",
    },
    "booleans": {"alarms": "array", "door_open": "boolean", "on": "boolean"},
    "contradict_temperature": {"temperature": "string"},
    "device": {"temperature": "long"},
    "empty": {},
    "floats": dict.fromkeys(("humidity", "pressure", "gain", "offset"), "double"),
    "huge": {"waveform": "array"},
    "lists": {"tags": "array", "samples": "array", "matrix": "array"},
    "nested": {"location": "record", "samples": "array"},
    "nulls": {},
    "widen_temperature": {"temperature": "double"},
}


@pytest.mark.parametrize("name", sorted(_FIRST))
def test_each_event_makes_the_schema_that_it_says(function: Function, name: str) -> None:
    answer = function(_EVENTS[name])

    registry = function.module._intake.value.producer._registry
    fields = registry.get(SchemaKey.parse(answer["schema"]["id"])).schema["fields"][2:]
    types = [each["type"][1] for each in fields]
    kinds = [each["type"] if isinstance(each, dict) else each for each in types]
    names = [each.get("jsonName", each["name"]) for each in fields]
    assert dict(zip(names, kinds, strict=True)) == _FIRST[name]
    (event,) = function.topic.events(registry)
    given = {"deviceId": "000001", "timestamp": event["timestamp"]} | _EVENTS[name]
    assert event == {key: _without_nulls(given[key]) for key in event}
    assert event.keys() == {"deviceId", "timestamp", *_FIRST[name]}


def _without_nulls(value: Any) -> Any:
    """A null in an object is the same to a record as no field; one in a list stays."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def test_all_events_are_tested() -> None:
    assert _EVENTS.keys() == {*_FIRST, "api", "api_base64", "batch", "text"}
    assert len(_EVENTS) >= 12


def test_the_story_of_the_readme(function: Function) -> None:
    said = [function(_EVENTS[name]) for name in ("empty", "add_temperature", "empty", "nested")]
    widened = function(_EVENTS["widen_temperature"])

    assert [each["schema"]["version"] for each in said] == [1, 2, 1, 3]
    assert said[1]["schema"]["diff"] == ["+ temperature: long (optional)"]
    assert widened["schema"]["version"] == 4
    with pytest.raises(
        RejectedEventError, match="temperature: found the string 'warm', expected dou"
    ):
        function(_EVENTS["contradict_temperature"])
    assert function(_EVENTS["add_temperature"])["schema"]["version"] == 4


@pytest.mark.filterwarnings("ignore:No application metrics")
def test_a_question_to_the_doctor_writes_no_event_and_a_number_is_an_event(
    function: Function, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "examine_program", lambda name, environ: {"asked": name})

    assert function({"doctor": True}) == {"asked": "penstock-producer"}
    assert function({"doctor": 1})["offset"] == 0  # to Python, 1 equals True


def test_a_batch_and_apis_are_answered(
    function: Function, client: Callable[..., Any], bucket: str
) -> None:
    batch = function(_EVENTS["batch"])
    one, many = function(_EVENTS["api"]), function(_EVENTS["api_base64"])

    assert [each["error"]["reason"] if "error" in each else each["offset"] for each in batch] == [
        *(0, 1, "SchemaConflictError", "EventTextError", 2)
    ]
    assert (one["statusCode"], json.loads(one["body"])["offset"]) == (200, 3)
    assert (many["statusCode"], json.loads(many["body"])[0]["offset"]) == (207, 4)
    with pytest.raises(RejectedEventError, match="found text that is not JSON"):
        function(_EVENTS["text"], aws_request_id="another")
    assert len(keys_of(client, bucket)) == 4  # number 1 of the second call is that of the first


def test_a_rejected_event_is_kept_and_logged_without_its_content(
    function: Function, client: Callable[..., Any], bucket: str
) -> None:
    function({"temperature": 30})
    with pytest.raises(RejectedEventError) as caught:
        function({"temperature": "secret"})

    (key,) = keys_of(client, bucket)
    kept = json.loads(client("s3").get_object(Bucket=bucket, Key=key)["Body"].read())
    assert (kept["event"], kept["function"]) == ({"temperature": "secret"}, "penstock-producer")
    assert str(caught.value).endswith(f"; the event is kept as {key}")
    line = next(
        line for line in function.lines if line.get("message") == "an event was not written"
    )
    assert (line["level"], line["reason"], line["kept_as"]) == (
        *("WARNING", "SchemaConflictError", key),
    )
    assert line["function_request_id"] == Context.aws_request_id
    assert "secret" not in json.dumps(function.lines)


def test_figures_are_those_that_the_alarms_watch(function: Function) -> None:
    function([{"a": 1}, {"b": 1}, {"a": "x"}])

    metrics = function.metrics
    (directive,) = metrics["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Penstock"
    assert directive["Dimensions"] == [["FunctionName", "Schema"]]
    assert (metrics["FunctionName"], metrics["Schema"]) == ("penstock-producer", "sensor")
    figures = {each["Name"]: metrics[each["Name"]][0] for each in directive["Metrics"]}
    assert figures.pop("Latency") > 0
    assert figures == {
        "WrittenEvents": 2,
        "RejectedEvents": 1,
        "UndeliveredEvents": 0,
        "NewSchemaVersions": 2,
        "SchemaVersions": 2,
    }
    units = {each["Name"]: each["Unit"] for each in directive["Metrics"]}
    assert (units["Latency"], units["SchemaVersions"]) == ("Milliseconds", "Count")


def test_without_kafka_the_event_is_kept_within_the_time(
    function: Function, client: Callable[..., Any], bucket: str
) -> None:
    function.topic.failure = BrokerUnavailableError("127.0.0.1:9 cannot be reached")

    with pytest.raises(UndeliveredEventError, match="cannot be reached; the event is kept as"):
        function({"t": 1}, milliseconds=20_000)

    assert len(keys_of(client, bucket)) == 1
    assert function.metrics["UndeliveredEvents"] == [1.0]


def test_an_event_that_cannot_be_kept_is_logged_with_the_reason(
    function: Function, client: Callable[..., Any], bucket: str
) -> None:
    function({"temperature": 30})
    client("s3").delete_bucket(Bucket=bucket)

    with pytest.raises(RejectedEventError, match="NoSuchBucket"):
        function({"temperature": "warm"})

    client("s3").create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    line = next(
        line for line in function.lines if line.get("message") == "an event was not written"
    )
    assert "NoSuchBucket" in line["not_kept"]


def test_clients_are_built_once_and_again_after_a_snapshot(function: Function) -> None:
    function({})
    intake = function.module._intake.value
    function({})
    assert function.module._intake.value is intake

    session, numbers = load_session(), random.getstate()
    ((hook, arguments, more),) = snapshot_restore_py.get_after_restore()
    hook(*arguments, **more)

    assert function.module._intake.value is not intake
    assert isinstance(function.module._intake.value.producer, EventProducer)
    assert function.module._intake.value.producer._registry is not intake.producer._registry
    assert load_session() is not session
    assert random.getstate() != numbers
    assert function({})["offset"] == 2


def test_missing_settings_are_reported_at_the_start() -> None:
    with pytest.raises(SettingsError, match=r"PENSTOCK_REJECTED_BUCKET .* is missing"):
        load({"AWS_REGION": "eu-central-1"})
