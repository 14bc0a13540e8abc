"""A registry's answer is a version, or an error that says what to do."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from urllib3 import HTTPResponse, PoolManager

from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    PenstockError,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaRefusedError,
)
from penstock.framing import SchemaKey
from penstock.registry import (
    CachedRegistry,
    CacheLimits,
    ConfluentRegistry,
    VersionStatus,
    _http_client,
)
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading
from tests.unit.registry.http.conftest import FakeServer

_KEY = SchemaKey.parse("confluent:7")
_PLACES = "GET /schemas/ids/7/versions?deleted=true"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ((401, "no"), RegistryAccessDeniedError, "with 401: no"),
        ((403, '{"message": "no."}'), RegistryAccessDeniedError, "with 403: no$"),
        ((404, "<html>"), RegistryAnswerError, "with 404: <html>"),
        ((404, '{"error_code": 404, "name": "NotFoundException"}'), RegistryAnswerError, "404"),
        ((404, '{"error_code": 40403}'), SchemaNotFoundError, "version confluent:7 is not f"),
        ((302, ""), RegistryAnswerError, "with 302: no reason given"),
        ((400, '{"message": "odd"}'), RegistryAnswerError, "with 400: odd"),
        ((200, "{"), RegistryAnswerError, "with something that is not JSON"),
        ((200, "7"), RegistryAnswerError, "answer is not as expected: TypeError"),
        ((200, '[{"subject": "a"}]'), RegistryAnswerError, "not as expected: KeyError"),
        ((200, "[]"), SchemaNotFoundError, "no subject of confluent.http://.* has it"),
        ((429, "slow down"), RegistryUnavailableError, "with 429: slow down"),
        ((503, "<html>\n  busy"), RegistryUnavailableError, "with 503: <html> busy"),
        (None, RegistryUnavailableError, "no answer from confluent.http://"),
    ],
)
def test_an_answer_that_is_no_version_is_an_error_of_ours(
    server: FakeServer,
    registry: ConfluentRegistry,
    answer: Any,
    error: type[PenstockError],
    message: str,
) -> None:
    server.answers[_PLACES] = answer

    with pytest.raises(error, match=message):
        registry.get(_KEY)

    assert server.calls == [_PLACES] * (14 if error is RegistryUnavailableError else 1)


def test_a_call_is_retried_while_the_registry_is_busy(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading, time: FakeTime
) -> None:
    server.put("readings-value", 1, 7, reading())
    places = server.answers[_PLACES]
    server.answers[_PLACES] = [(429, ""), (500, ""), None, (200, json.dumps(places))]

    assert registry.get(_KEY).number == 1
    assert time.pauses == [0.05, 0.1, 0.2]


def test_a_slow_answer_is_given_up(
    server: FakeServer, build: Callable[..., ConfluentRegistry]
) -> None:
    server.hold = threading.Event()
    registry = build(call_seconds=0.05)

    with pytest.raises(RegistryUnavailableError, match=r"no answer from .*timed out"):
        registry.get(_KEY)


def test_an_answer_that_drips_is_given_up(
    server: FakeServer, registry: ConfluentRegistry, time: FakeTime
) -> None:
    server.answers[_PLACES] = (200, " " * 100_000)
    server.drip = time.sleep

    with pytest.raises(RegistryUnavailableError, match=r"answer that comes too slowly|timed out"):
        registry.get(_KEY)

    assert server.calls == [_PLACES]


def test_a_complete_answer_is_taken_however_late_it_comes(
    registry: ConfluentRegistry, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: object, **__: object) -> HTTPResponse:
        time.sleep(1_000)
        return HTTPResponse(io.BytesIO(b"[]"), {"Content-Length": "2"}, 200, preload_content=False)

    monkeypatch.setattr(PoolManager, "request", answer)

    with pytest.raises(SchemaNotFoundError, match=r"no subject of .* has it"):
        registry.get(_KEY)


def test_an_answer_that_is_too_long_is_not_read_to_its_end(
    server: FakeServer, registry: ConfluentRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_http_client, "_MAX_CONTENT", 1)
    server.answers[_PLACES] = []

    with pytest.raises(RegistryAnswerError, match="answered with more than 1 bytes"):
        registry.get(_KEY)


def test_an_answer_that_is_cut_is_no_answer(
    server: FakeServer, build: Callable[..., ConfluentRegistry]
) -> None:
    server.answers[_PLACES] = []
    server.cut = 1

    with pytest.raises(RegistryUnavailableError, match=r"no answer from .*IncompleteRead\(1 "):
        build().get(_KEY)


def test_an_answer_that_is_cut_is_no_answer_to_urllib3_1_either(
    registry: ConfluentRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: object, enforce_content_length: bool = False, **__: object) -> HTTPResponse:
        return HTTPResponse(
            io.BytesIO(b"[]"),
            headers={"Content-Length": "4"},
            status=200,
            preload_content=False,
            enforce_content_length=enforce_content_length,
        )

    monkeypatch.setattr(PoolManager, "request", answer)

    with pytest.raises(RegistryUnavailableError, match=r"no answer from .*IncompleteRead\(2 "):
        registry.get(_KEY)


def test_another_id_than_asked_for_is_refused(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading
) -> None:
    server.put("readings-value", 1, 8, reading())
    server.answers[_PLACES] = [{"subject": "readings-value", "version": 1}]

    with pytest.raises(RegistryAnswerError, match="with schema version confluent:8, expected conf"):
        registry.get(_KEY)


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (409, 409, IncompatibleSchemaError),
        (422, 42201, InvalidSchemaError),
        (422, 42205, RegistryAccessDeniedError),  # a subject whose mode is READONLY or IMPORT
    ],
)
def test_a_refused_registration_is_an_error_of_ours(  # noqa: PLR0913, PLR0917 - fixtures
    server: FakeServer,
    registry: ConfluentRegistry,
    reading: Reading,
    status: int,
    code: int,
    error: type[PenstockError],
) -> None:
    body = json.dumps({"error_code": code, "message": "not so"})
    server.answers["POST /subjects/readings-value/versions"] = (status, body)

    with pytest.raises(error, match=f"with {status}: not so"):
        registry.register("readings", reading())


def test_a_registration_waits_for_a_replica_that_lags_behind(
    server: FakeServer,
    registry: ConfluentRegistry,
    reading: Reading,
    attempts: Callable[..., Attempts],
    time: FakeTime,
) -> None:
    registry._pending = attempts()
    server.put("readings-value", 1, 7, reading())
    server.answers["POST /subjects/readings-value"] = {"id": 7}
    places = server.answers[_PLACES]
    missing = (404, '{"error_code": 40403}')
    server.answers[_PLACES] = [missing, (200, "[]"), (200, json.dumps(places))]

    assert registry.register("readings", reading()).version.number == 1
    assert time.pauses == [0.05, 0.1]

    server.answers[_PLACES] = missing
    with pytest.raises(RegistryUnavailableError, match="confluent:7 of readings but does not find"):
        registry.register("readings", reading())


def test_a_deleted_version_is_read_but_not_listed(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading
) -> None:
    server.put("readings-value", 1, 7, reading())
    del server.answers["GET /subjects/readings-value/versions/1"]
    server.answers["GET /subjects/readings-value/versions"] = []

    version = registry.get(_KEY)

    assert (version.schema, version.status) == (reading(), VersionStatus.DELETING)
    assert registry.versions("readings") == ()


def test_the_subject_of_an_id_is_the_one_that_the_settings_select(
    server: FakeServer, build: Callable[..., ConfluentRegistry], reading: Reading
) -> None:
    for subject in ("aaa", "orders-value", "readings-value"):
        server.put(subject, 1, 7, reading())

    assert build().get(_KEY).name == "orders"
    assert build(allow=("readings",)).get(_KEY).name == "readings"
    assert build(allow=(":aaa",)).get(_KEY).name == ":aaa"
    assert build(naming="record").get(_KEY).name == "aaa"
    assert build(naming="topic-record", topic="orders").get(_KEY).name == "value"


def test_a_guid_is_looked_up_by_its_number(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading
) -> None:
    server.put("readings-value", 1, 7, reading())
    guid = SchemaKey.parse("confluent:d3e21a3b-f828-4f0c-9f3e-0b1f9a1c2d3e")
    server.answers[f"GET /schemas/guids/{str(guid).partition(':')[2]}/ids"] = [{"id": 7}]

    version = registry.get(guid)

    assert (version.key, version.name, version.schema) == (guid, "readings", reading())


def test_types_of_other_subjects_are_read(server: FakeServer, registry: ConfluentRegistry) -> None:
    unit = {"type": "enum", "name": "x.Unit", "symbols": ["C", "F"]}
    value = {"type": "record", "name": "x.Value", "fields": [{"name": "unit", "type": "x.Unit"}]}
    main = {
        "type": "record",
        "name": "Reading",
        "fields": [{"name": "a", "type": "x.Value"}, {"name": "b", "type": "x.Unit"}],
    }
    to_unit = {"name": "x.Unit", "subject": "unit", "version": 1}
    to_value = {"name": "x.Value", "subject": "value", "version": 2}
    server.put("unit", 1, 5, unit)
    server.put("value", 2, 6, value, references=[to_unit])
    server.put("readings-value", 1, 7, main, references=[to_value, to_unit])

    inlined = {**value, "fields": [{"name": "unit", "type": unit}]}
    assert registry.get(_KEY).schema == {
        **main,
        "fields": [{"name": "a", "type": inlined}, {"name": "b", "type": "x.Unit"}],
    }


def test_references_in_a_circle_are_no_schema(
    server: FakeServer, registry: ConfluentRegistry
) -> None:
    record = {"type": "record", "name": "A", "fields": [{"name": "a", "type": "B"}]}
    to_itself = {"name": "B", "subject": "readings-value", "version": 1}
    server.put("readings-value", 1, 7, record, references=[to_itself])

    with pytest.raises(InvalidSchemaError, match="schema version confluent:7 of readings"):
        registry.get(_KEY)


def test_a_schema_of_another_format_is_refused(
    server: FakeServer, registry: ConfluentRegistry
) -> None:
    server.put("readings-value", 1, 7, "syntax", schemaType="PROTOBUF")

    with pytest.raises(InvalidSchemaError, match="of readings is PROTOBUF, expected AVRO"):
        registry.get(_KEY)


def test_another_schema_under_a_known_id_is_refused(
    server: FakeServer, registry: ConfluentRegistry, reading: Reading, time: FakeTime
) -> None:
    server.put("readings-value", 1, 7, reading())
    cached = CachedRegistry(registry, clock=time.clock)
    cached.versions("readings")

    server.answers.clear()  # the registry is built again
    server.put("readings-value", 1, 9, reading())
    server.put("readings-value", 2, 7, reading(temperature="long"))
    time.now += CacheLimits().fresh_seconds

    with pytest.raises(SchemaRefusedError, match="another definition or name under confluent:7"):
        cached.versions("readings")


def test_subjects_with_one_definition_share_its_id_in_a_cache(
    server: FakeServer, build: Callable[..., ConfluentRegistry], reading: Reading
) -> None:
    for subject in ("orders-value", "readings-value"):
        server.put(subject, 1, 7, reading())
        server.answers[f"POST /subjects/{subject}"] = {"id": 7}
    registry = CachedRegistry(build())

    orders = registry.get(_KEY)
    readings = registry.register("readings", reading()).version

    assert (orders.name, readings.name) == ("orders", "readings")
    assert registry.versions("readings") == (readings,)
    assert registry.versions("orders") == (orders,)
    assert registry.get(_KEY) == orders


def test_a_flood_of_unknown_ids_is_one_call_each_and_stops_nobody(
    server: FakeServer, build: Callable[..., ConfluentRegistry], reading: Reading
) -> None:
    server.put("readings-value", 1, 7, reading())
    registry = CachedRegistry(build())
    for _ in range(3):
        for number in range(100, 200):
            with pytest.raises(SchemaNotFoundError):
                registry.get(SchemaKey.parse(f"confluent:{number}"))

    assert len(server.calls) == 100
    assert registry.get(_KEY).number == 1


def test_a_stopped_registry_has_no_effect_on_what_is_known(
    server: FakeServer, build: Callable[..., ConfluentRegistry], reading: Reading
) -> None:
    server.put("readings-value", 1, 7, reading())
    registry = CachedRegistry(build())
    version = registry.get(_KEY)
    server.find = lambda _: None  # type: ignore[method-assign]

    assert registry.get(_KEY) == version
    with pytest.raises(RegistryUnavailableError) as caught:
        registry.get(SchemaKey.parse("confluent:8"))
    assert caught.value.retriable
