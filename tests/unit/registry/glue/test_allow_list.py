"""Only what the allow-list names is read, though IAM lets more through."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.errors import SchemaForbiddenError
from penstock.framing import SchemaKey
from penstock.registry import GlueRegistry
from penstock.schemas import canonical_form
from tests.fixtures.glue_api import GlueApi
from tests.stubs.registries import Reading


@pytest.fixture
def foreign(glue_api: GlueApi, reading: Reading) -> SchemaKey:
    """A version of another team's registry, in the same account."""
    return SchemaKey.parse(
        glue_api.create("salaries", canonical_form(reading()), registry="payroll")
    )


def test_by_default_only_the_registry_itself_may_be_read(
    registry: GlueRegistry, foreign: SchemaKey
) -> None:
    with pytest.raises(
        SchemaForbiddenError,
        match=rf"{foreign} belongs to payroll/salaries, which is not on the allow-list \(plant",
    ) as caught:
        registry.get(foreign)

    assert not caught.value.retriable


def test_another_registry_may_be_allowed(
    build: Callable[..., GlueRegistry], foreign: SchemaKey
) -> None:
    assert build("plant/*", "payroll/sal*").get(foreign).name == "salaries"
    with pytest.raises(SchemaForbiddenError):
        build("plant/*", "payroll/orders").get(foreign)
