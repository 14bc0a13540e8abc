"""The six Avro artifacts of the sales topics, in a real Apicurio."""

from __future__ import annotations

import json

import pytest

from jobs.sales.artifacts import list_artifacts, register_artifacts
from penstock.registry import ApicurioAdmin, load_admin, load_registry
from tests.fixtures.apicurio import Apicurio

pytestmark = pytest.mark.java

_API = "/apis/registry/v2/groups/default/artifacts"


def test_artifacts_are_created_again_and_read_back_by_name(apicurio: Apicurio) -> None:
    url = f"{apicurio.own_url}?naming=record"
    admin = load_admin(url)
    assert isinstance(admin, ApicurioAdmin)

    first, second = ([*register_artifacts(admin)] for _ in range(2))

    wanted = list_artifacts()
    assert [each["artifact"] for each in first] == [*wanted]
    assert {each["deleted"] for each in first} == {False}
    assert {each["deleted"] for each in second} == {True}
    assert [each["read"] for each in second] == [*wanted.values()]
    assert {each["created"]["version"] for each in second} == {1}
    assert {each["created"]["rule"] for each in second} == {"BACKWARD"}
    for name, definition in wanted.items():
        assert json.loads(apicurio.call("GET", f"{_API}/{name}")) == definition
    registry = load_registry(url)
    key, value = (registry.latest(f"pagila.sales.avro-{part}") for part in ("key", "value"))
    assert key is not None
    assert value is not None
    assert str(value.key) == next(
        each["created"]["id"] for each in second if each["artifact"] == value.name
    )
