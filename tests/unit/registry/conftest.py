"""Both registries over a store that the test can reach, and time that passes when told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from penstock.registry import (
    Attempts,
    GlueRegistry,
    GlueSettings,
    MemoryRegistry,
    SchemaRegistry,
    SchemaStore,
)
from penstock.schemas import Compatibility, Schema
from tests.stubs.glue_api import GlueApi, arn_of
from tests.stubs.http import serve
from tests.stubs.registries import FakeTime, World


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def attempts(time: FakeTime) -> Callable[..., Attempts]:
    def build(first: float = 0.05, longest: float = 1, total: float = 10) -> Attempts:
        return Attempts(first, longest, total, sleep=time.sleep, clock=time.clock)

    return build


@pytest.fixture(scope="session")
def _glue_server() -> Iterator[tuple[GlueApi, str]]:
    api = GlueApi()
    with serve(api.respond) as address:
        yield api, address


@pytest.fixture(scope="session")
def glue_client(_glue_server: tuple[GlueApi, str]) -> Iterator[Any]:
    client = boto3.client(
        "glue",
        region_name="eu-central-1",
        endpoint_url=_glue_server[1],
        aws_access_key_id="made-up",
        aws_secret_access_key="made-up",
        config=Config(retries={"total_max_attempts": 1}),
    )
    yield client
    client.close()


@pytest.fixture
def glue_api(_glue_server: tuple[GlueApi, str]) -> GlueApi:
    api, _ = _glue_server
    api.reset(SchemaStore())
    return api


@pytest.fixture(params=["memory", "glue"])
def world(request: pytest.FixtureRequest, attempts: Callable[..., Attempts]) -> World:
    store = SchemaStore()

    def build_memory(compatibility: Compatibility = Compatibility.BACKWARD) -> MemoryRegistry:
        return MemoryRegistry(store, compatibility=compatibility, pending=attempts())

    if request.param == "memory":
        prefix = "arn:aws:glue:local:000000000000:schema/memory"
        return World(store, lambda name: f"{prefix}/{name}", build_memory)
    api: GlueApi = request.getfixturevalue("glue_api")
    client = request.getfixturevalue("glue_client")
    api.reset(store)

    def build_glue(compatibility: Compatibility = Compatibility.BACKWARD) -> GlueRegistry:
        settings = GlueSettings("plant", compatibility=compatibility)
        return GlueRegistry(settings, client, attempts=attempts(), pending=attempts())

    return World(store, arn_of, build_glue)


@pytest.fixture
def registry(world: World) -> SchemaRegistry:
    return world.build()


@pytest.fixture
def reading() -> Callable[..., Schema]:
    """Build a record schema of optional fields, as an event's schema is."""

    def build(**types: str) -> Schema:
        fields: list[dict[str, Any]] = [{"name": "deviceId", "type": "string"}]
        fields += [
            {"name": name, "type": ["null", type_], "default": None}
            for name, type_ in sorted(types.items())
        ]
        return {"type": "record", "name": "Reading", "fields": fields}

    return build
