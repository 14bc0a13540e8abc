"""A real Apicurio Registry, by Confluent's API and by its own, empty before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.registry import SchemaRegistry, load_registry
from tests.fixtures.apicurio import Apicurio, run_apicurio
from tests.stubs.registries import Reading, make_reading


@pytest.fixture(scope="session")
def _apicurio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apicurio]:
    with run_apicurio(tmp_path_factory.mktemp("apicurio")) as running:
        yield running


@pytest.fixture
def apicurio(_apicurio: Apicurio) -> Apicurio:
    _apicurio.empty()
    return _apicurio


@pytest.fixture(params=["confluent", "apicurio"])
def url(request: pytest.FixtureRequest, apicurio: Apicurio) -> str:
    return apicurio.confluent_url if request.param == "confluent" else apicurio.own_url


@pytest.fixture
def registry(url: str) -> SchemaRegistry:
    return load_registry(f"{url}?compatibility=BACKWARD")


@pytest.fixture
def reading() -> Reading:
    return make_reading
