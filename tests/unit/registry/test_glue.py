"""What Glue's API and the way to it can do wrong, and the calls that Penstock makes."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import boto3
import pytest

from penstock import credentials
from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RecursiveSchemaError,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryError,
    RegistryUnavailableError,
    SchemaConflictError,
    SchemaForbiddenError,
    SchemaNotFoundError,
    SettingsError,
)
from penstock.registry import GlueRegistry, GlueSettings, load_registry
from penstock.schemas import Compatibility, Schema, canonical_form
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.http import serve
from tests.stubs.registries import FakeTime
from tests.stubs.sts_api import StsApi

Reading = Callable[..., Schema]
_ROLE = "arn:aws:iam::111122223333:role/registry-reader"


@pytest.fixture
def build(
    glue_api: GlueApi, glue_client: Any, attempts: Callable[..., Attempts]
) -> Callable[..., GlueRegistry]:
    def build(*allow: str) -> GlueRegistry:
        settings = GlueSettings("plant", allow=allow, compatibility=Compatibility.NONE)
        return GlueRegistry(
            settings, glue_client, attempts=attempts(0.1, 3, 20), pending=attempts()
        )

    return build


@pytest.fixture
def registry(build: Callable[..., GlueRegistry]) -> GlueRegistry:
    return build()


# --- which calls are made ---------------------------------------------------------------------


def test_registering_makes_few_calls(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    def calls(schema: Schema) -> list[str]:
        glue_api.calls.clear()
        registry.register("readings", schema)
        return glue_api.calls

    # fmt: off
    assert calls(reading()) == [
        "GetSchemaByDefinition", "RegisterSchemaVersion", "CreateSchema", "GetSchemaVersion",
    ]
    assert calls(reading(a="long")) == [
        "GetSchemaByDefinition", "RegisterSchemaVersion", "GetSchemaVersion", "GetSchemaVersion",
    ]
    assert calls(reading()) == ["GetSchemaByDefinition", "GetSchemaVersion"]
    # fmt: on


def test_a_version_below_is_read_once(
    registry: GlueRegistry, build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading
) -> None:
    ids = [registry.register("readings", reading(**{f"f{i}": "long"})).version.id for i in range(5)]
    reader = build()
    glue_api.calls.clear()

    reader.get(ids[4])
    assert glue_api.calls == ["GetSchemaVersion"] * 5
    reader.get(ids[2])
    assert glue_api.calls == ["GetSchemaVersion"] * 6
    assert len(reader.versions("readings")) == 5
    assert glue_api.calls == ["GetSchemaVersion"] * 7


def test_what_is_sent_is_the_canonical_form(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    version = registry.register("readings", reading()).version

    assert glue_api.store.read(version.id).definition == canonical_form(reading())


# --- what passes: retried, spread, bounded ----------------------------------------------------


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 400),
        ("ConcurrentModificationException", 400),
        ("InternalServiceException", 500),
        ("SomethingNobodyKnows", 503),
    ],
)
@pytest.mark.parametrize("operation", ["GetSchemaByDefinition", "RegisterSchemaVersion"])
def test_what_may_pass_is_tried_again(  # noqa: PLR0913, PLR0917  # a row of a table
    registry: GlueRegistry,
    glue_api: GlueApi,
    reading: Reading,
    time: FakeTime,
    operation: str,
    code: str,
    status: int,
) -> None:
    glue_api.fail(operation, code, times=3, status=status)

    assert registry.register("readings", reading()).version.number == 1
    assert time.pauses == [0.1, 0.2, 0.4]


def test_what_does_not_pass_is_given_up_in_time(
    registry: GlueRegistry, glue_api: GlueApi, time: FakeTime
) -> None:
    glue_api.throttle("GetSchemaVersion", times=10_000)

    with pytest.raises(
        RegistryUnavailableError,
        match=r"plant answered glue:GetSchemaVersion with ThrottlingException: Rate exceeded$",
    ) as caught:
        registry.get("00000000-0000-4000-8000-000000000000")

    assert caught.value.retriable
    assert 15 < time.now <= 20
    assert len(glue_api.calls) < 15


@pytest.mark.parametrize("operation", ["CreateSchema", "RegisterSchemaVersion"])
def test_a_lost_answer_makes_no_second_version(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, operation: str
) -> None:
    if operation == "RegisterSchemaVersion":
        registry.register("readings", reading())
    glue_api.calls.clear()
    glue_api.cut(operation)

    version = registry.register("readings", reading(temperature="long")).version

    assert glue_api.calls.count(operation) == 2
    assert glue_api.store.find(arn_of("readings"), canonical_form(version.schema)) is not None
    assert version == registry.versions("readings")[-1]
    assert version.number == (2 if operation == "RegisterSchemaVersion" else 1)


def test_a_lost_race_to_create_ends_in_the_winners_schema(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    glue_api.create("readings", canonical_form(reading()))
    glue_api.fail("RegisterSchemaVersion", "EntityNotFoundException")

    version = registry.register("readings", reading(temperature="long")).version

    assert "CreateSchema" in glue_api.calls
    assert version.number == 2


def test_a_registry_that_is_not_there_is_unavailable(
    attempts: Callable[..., Attempts], time: FakeTime
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = boto3.client(
            "glue",
            region_name="eu-central-1",
            endpoint_url=f"http://127.0.0.1:{taken.getsockname()[1]}",
            aws_access_key_id="made-up",
            aws_secret_access_key="made-up",
            config=boto3.session.Config(retries={"total_max_attempts": 1}),
        )
        registry = GlueRegistry(
            GlueSettings("plant"), client, attempts=attempts(0.1, 3, 1), pending=attempts()
        )

        with pytest.raises(RegistryUnavailableError, match="no answer from glue://plant: Co"):
            registry.versions("readings")
    assert time.pauses


# --- what does not pass -----------------------------------------------------------------------


@pytest.mark.parametrize("code", ["AccessDeniedException", "ExpiredTokenException"])
def test_a_denied_call_names_the_action_and_waits(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, time: FakeTime, code: str
) -> None:
    glue_api.fail("RegisterSchemaVersion", code)

    with pytest.raises(
        RegistryAccessDeniedError,
        match=f"glue:RegisterSchemaVersion with {code}: fault [0-9]+ was set for this call",
    ) as caught:
        registry.register("readings", reading())

    assert caught.value.retriable
    assert time.pauses == []


def test_a_denied_role_names_itself_and_the_action(monkeypatch: pytest.MonkeyPatch) -> None:
    credentials._build_session.cache_clear()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "own-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "own-secret")
    with serve(StsApi(external_id="agreed").respond) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
        registry = load_registry(
            f"glue://plant?region=eu-central-1&role_arn={_ROLE}&external_id=guessed"
        )

        with pytest.raises(RegistryAccessDeniedError, match="sts:AssumeRole with Acc") as caught:
            registry.get("00000000-0000-4000-8000-000000000000")

    assert _ROLE in str(caught.value)
    assert "guessed" not in str(caught.value)
    credentials._build_session.cache_clear()


def test_missing_credentials_are_said(
    monkeypatch: pytest.MonkeyPatch, attempts: Callable[..., Attempts]
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    client = boto3.session.Session().client("glue", region_name="eu-central-1")
    registry = GlueRegistry(GlueSettings("plant"), client, attempts=attempts(), pending=attempts())

    with pytest.raises(RegistryAccessDeniedError, match="no credentials for glue://plant: Unable"):
        registry.versions("readings")


def test_what_boto3_will_not_send_is_not_tried_again(
    glue_client: Any, glue_api: GlueApi, attempts: Callable[..., Attempts], time: FakeTime
) -> None:
    registry = GlueRegistry(GlueSettings("", allow=("a/*",)), glue_client, attempts=attempts())

    with pytest.raises(RegistryError, match=r"(?s)cannot be asked: .*RegistryName") as caught:
        registry.versions("readings")

    assert type(caught.value) is RegistryError
    assert (glue_api.calls, time.pauses) == ([], [])


def test_an_error_nobody_knows_is_a_registry_error(
    registry: GlueRegistry, glue_api: GlueApi
) -> None:
    glue_api.fail("GetSchemaVersion", "InvalidInputException")
    glue_api.change(
        "GetSchemaVersion", lambda answer: answer | {"Error": answer["Error"] | {"Message": ""}}
    )

    with pytest.raises(RegistryError, match="InvalidInputException: no reason given") as caught:
        registry.versions("readings")

    assert type(caught.value) is RegistryError


def test_a_missing_registry_is_named(glue_client: Any, reading: Reading) -> None:
    registry = GlueRegistry(GlueSettings("nowhere"), glue_client)

    with pytest.raises(SchemaNotFoundError, match=r"glue:CreateSchema .*: Registry is not found$"):
        registry.register("readings", reading())


@pytest.mark.parametrize("version_id", ["", "42", "0" * 36, "00000000-0000-4000-8000-00000000000G"])
def test_what_is_no_uuid_is_not_asked_for(
    registry: GlueRegistry, glue_api: GlueApi, version_id: str
) -> None:
    with pytest.raises(SchemaNotFoundError, match="not the id of a Glue schema version, expected"):
        registry.get(version_id)

    assert glue_api.calls == []


def test_invalid_input_is_not_taken_for_a_disabled_schema(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading())
    glue_api.fail("RegisterSchemaVersion", "InvalidInputException")

    with pytest.raises(
        RegistryError, match=r"glue:RegisterSchemaVersion .*: fault \d+ was"
    ) as caught:
        registry.register("readings", reading(temperature="long"))

    assert type(caught.value) is RegistryError


def test_a_rule_that_may_not_be_read_leaves_the_refusal_permanent(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="long"))
    glue_api.store.update(arn_of("readings"), mode=Compatibility.BACKWARD)
    glue_api.fail("GetSchema", "AccessDeniedException")

    with pytest.raises(IncompatibleSchemaError, match=r"rule \(not readable\): for") as caught:
        registry.register("readings", reading(temperature="string"))

    assert caught.value.rule == ""
    assert caught.value.diff == "~ temperature: long (optional) -> string (optional)"


def test_a_contradiction_is_refused_even_when_it_cannot_be_marked(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, caplog: pytest.LogCaptureFixture
) -> None:
    registry.register("readings", reading(temperature="long"))
    glue_api.fail("PutSchemaVersionMetadata", "AccessDeniedException")

    with pytest.raises(SchemaConflictError):
        registry.register("readings", reading(temperature="string"))

    assert "is refused but not marked so: glue://plant answered" in caplog.text


# --- answers that cannot be right -------------------------------------------------------------


def _with(**members: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda answer: answer | members


_OTHER_ID = "00000000-0000-4000-8000-000000000000"
_OTHER_SCHEMA = '{"type":"record","name":"Other","fields":[]}'
_RECURSIVE = json.dumps(
    {
        "type": "record",
        "name": "Node",
        "fields": [{"name": "next", "type": ["null", "Node"], "default": None}],
    }
)


@pytest.mark.parametrize(
    ("members", "kind", "message"),
    [
        ({"SchemaVersionId": _OTHER_ID}, RegistryAnswerError, f"{_OTHER_ID}, expected "),
        ({"SchemaArn": "arn:aws:s3:::b"}, RegistryAnswerError, "'arn:aws:s3:::b', expected arn:"),
        ({"Status": "ODD"}, RegistryAnswerError, "not a schema version: .*ODD"),
        ({"DataFormat": "JSON"}, InvalidSchemaError, "of readings is JSON, expected AVRO"),
        ({"SchemaDefinition": "{"}, InvalidSchemaError, "schema version .* of readings: "),
        ({"SchemaDefinition": _RECURSIVE}, RecursiveSchemaError, "schema version .* of readings: "),
    ],
)
def test_a_wrong_answer_is_refused(  # noqa: PLR0913, PLR0917  # a row of a table
    registry: GlueRegistry,
    build: Callable[..., GlueRegistry],
    glue_api: GlueApi,
    reading: Reading,
    members: dict[str, str],
    kind: type[Exception],
    message: str,
) -> None:
    version = registry.register("readings", reading()).version
    reader = build()
    glue_api.change("GetSchemaVersion", _with(**members))

    with pytest.raises(kind, match=message):
        reader.get(version.id)

    assert reader.get(version.id) == version


def test_an_answer_without_a_member_is_refused(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    version = registry.register("readings", reading()).version
    glue_api.change("GetSchemaVersion", lambda _: {})

    with pytest.raises(RegistryAnswerError, match="not a schema version: KeyError"):
        registry.get(version.id)


def test_a_registration_answered_without_an_id_is_refused(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    glue_api.change("CreateSchema", lambda _: {})

    with pytest.raises(
        RegistryAnswerError, match=r"plant answered with what cannot be used: KeyError.'SchemaVers"
    ):
        registry.register("readings", reading())


def test_a_rule_that_nobody_knows_is_an_answer_that_cannot_be_used(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading(temperature="long"))
    glue_api.store.update(arn_of("readings"), mode=Compatibility.BACKWARD)
    glue_api.change("GetSchema", _with(Compatibility="LOOSE"))

    with pytest.raises(RegistryAnswerError, match=r"cannot be used: ValueError.*LOOSE"):
        registry.register("readings", reading(temperature="string"))


def test_a_registration_answered_with_another_schema_is_refused(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading
) -> None:
    glue_api.change("GetSchemaVersion", _with(SchemaDefinition=_OTHER_SCHEMA))

    with pytest.raises(RegistryAnswerError, match=r"version of readings .* has another def"):
        registry.register("readings", reading())


@pytest.mark.parametrize("members", [{"VersionNumber": 7}, {"SchemaArn": arn_of("orders")}])
def test_a_wrong_answer_about_a_version_below_is_refused(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, members: dict[str, object]
) -> None:
    registry.register("readings", reading())
    glue_api.change(
        "GetSchemaVersion",
        lambda answer: answer | members if answer["VersionNumber"] == 1 else answer,
        times=2,
    )

    with pytest.raises(RegistryAnswerError, match=r"expected 1 of arn:.*/plant/readings as asked"):
        registry.register("readings", reading(temperature="long"))


def test_a_version_below_that_cannot_be_used_is_left_out(
    registry: GlueRegistry, build: Callable[..., GlueRegistry], glue_api: GlueApi, reading: Reading
) -> None:
    registry.register("readings", reading())
    second = registry.register("readings", reading(temperature="long")).version
    glue_api.change(
        "GetSchemaVersion",
        lambda answer: answer | {"DataFormat": "JSON"} if answer["VersionNumber"] == 1 else answer,
        times=10,
    )

    assert build().versions("readings") == (second,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21T05:06:57.123Z", "2026-11-21T05:06:57.123000+00:00"),
        ("2026-11-21 05:06:57", "2026-11-21T05:06:57+00:00"),
        ("yesterday", None),
        ("", None),
    ],
)
def test_the_time_of_a_version_is_read_where_it_can_be(
    registry: GlueRegistry, glue_api: GlueApi, reading: Reading, text: str, expected: str | None
) -> None:
    glue_api.change("GetSchemaVersion", _with(CreatedTime=text))

    time = registry.register("readings", reading()).version.registered_at

    assert (time and time.isoformat()) == expected


# --- the allow-list ---------------------------------------------------------------------------


@pytest.fixture
def foreign_id(glue_api: GlueApi, reading: Reading) -> str:
    """A version of another team's registry, in the same account."""
    return glue_api.create("salaries", canonical_form(reading()), registry="payroll")


def test_by_default_only_the_registry_itself_may_be_read(
    registry: GlueRegistry, foreign_id: str
) -> None:
    with pytest.raises(
        SchemaForbiddenError,
        match=rf"{foreign_id} belongs to payroll/salaries, which the allow-list \(plant/\*\) does",
    ) as caught:
        registry.get(foreign_id)

    assert not caught.value.retriable


def test_another_registry_may_be_allowed(
    build: Callable[..., GlueRegistry], foreign_id: str
) -> None:
    assert build("plant/*", "payroll/sal*").get(foreign_id).name == "salaries"
    with pytest.raises(SchemaForbiddenError):
        build("plant/*", "payroll/orders").get(foreign_id)


# --- settings ---------------------------------------------------------------------------------


def test_settings_show_no_external_id() -> None:
    settings = GlueSettings("plant", "eu-central-1", _ROLE, "agreed", allow=("plant/a*",))

    assert "agreed" not in repr(settings)
    assert settings.source == (f"glue://plant?region=eu-central-1&role_arn={_ROLE}&allow=plant/a*")


def test_a_missing_region_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    credentials._build_session.cache_clear()

    with pytest.raises(SettingsError, match="glue://plant names no region, expected region="):
        load_registry("glue://plant")
    credentials._build_session.cache_clear()
