"""Both registries over a store that the test can reach, and time that passes when told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from localcloud.door.server import start_server
from penstock.attempts import Attempts
from penstock.registry import GlueRegistry, GlueSettings, SchemaRegistry, SchemaStore
from penstock.registry.memory import MemoryRegistry
from penstock.schemas import Compatibility
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.clock import FakeTime
from tests.stubs.registries import Reading, World, make_reading


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def attempts(time: FakeTime) -> Callable[..., Attempts]:
    def build(first: float = 0.05, longest: float = 1, total: float = 10) -> Attempts:
        return Attempts(first, longest, total, sleep=time.sleep, clock=time.clock)

    return build


@pytest.fixture(scope="session")
def _local_glue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GlueApi]:
    server = start_server(tmp_path_factory.mktemp("localcloud"), 0)
    api = GlueApi(server.cloud)
    yield api
    api.client.close()
    server.stop()


@pytest.fixture
def glue_client(glue_api: GlueApi) -> Any:
    return glue_api.client


@pytest.fixture
def glue_api(_local_glue: GlueApi) -> GlueApi:
    _local_glue.reset()
    return _local_glue


@pytest.fixture(params=["memory", "glue"])
def world(request: pytest.FixtureRequest, attempts: Callable[..., Attempts]) -> World:
    if request.param == "glue":
        return _build_glue_world(request.getfixturevalue("glue_api"), attempts)
    store = SchemaStore()

    def build_memory(compatibility: Compatibility | None = None) -> MemoryRegistry:
        return MemoryRegistry(store, compatibility=compatibility, pending=attempts())

    return World(store, lambda name: f"memory/{name}", build_memory)


def _build_glue_world(api: GlueApi, attempts: Callable[..., Attempts]) -> World:
    def build(compatibility: Compatibility | None = None) -> GlueRegistry:
        settings = GlueSettings("plant", compatibility=compatibility)
        return GlueRegistry(settings, api.client, attempts=attempts(), pending=attempts())

    return World(api.store, arn_of, build)


@pytest.fixture
def registry(world: World) -> SchemaRegistry:
    return world.build()


@pytest.fixture
def reading() -> Reading:
    return make_reading
