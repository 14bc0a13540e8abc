"""A schema or a version that is not there is told with those that are, and with what to do."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import patch

import pytest

from penstock.errors import OperationError, RegistryAccessDeniedError, SchemaNotFoundError
from penstock.operations import read_version, schemas
from penstock.registry import VersionStatus


def _admin(names: list[str] | Exception) -> SimpleNamespace:
    """Return a registry that has other schemas, or none, or does not list them."""

    def read_schema(name: str, _: object) -> None:
        raise SchemaNotFoundError(f"no {name}")

    def list_names() -> list[str]:
        if isinstance(names, Exception):
            raise names
        return names

    return SimpleNamespace(name="plant", read_schema=read_schema, list_names=list_names)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["valve", "pump"], "found no schema x in registry plant, expected one of pump, valve"),
        (
            [],
            "found no schema x in registry plant, which has no schema: register one, or name "
            "another registry (PENSTOCK_REGISTRY, --registry)",
        ),
        (RegistryAccessDeniedError("denied"), "no x"),
    ],
    ids=["others", "an empty registry", "a list that is denied"],
)
def test_a_schema_that_is_not_there(names: list[str] | Exception, said: str) -> None:
    with (
        patch.object(schemas, "load_admin", lambda _: _admin(names)),
        pytest.raises(SchemaNotFoundError) as error,
    ):
        read_version("glue://plant", "x")

    assert str(error.value) == said


@pytest.mark.parametrize(
    ("numbers", "wanted", "said"),
    [
        ([1, 2], 9, "schema pump has no version 9, expected one of 1, 2"),
        (
            [1, 2],
            None,
            "schema pump has no version that its registry accepted: name a refused one by its "
            "number (1, 2), or register a definition",
        ),
        ([], 1, "schema pump has no version: register a definition"),
        ([], None, "schema pump has no version: register a definition"),
    ],
)
def test_a_version_that_is_not_there(numbers: list[int], wanted: int | None, said: str) -> None:
    versions = [SimpleNamespace(number=each, status=VersionStatus.FAILURE) for each in numbers]
    found = SimpleNamespace(name="pump", versions=versions)
    admin = SimpleNamespace(read_schema=lambda *_: found)
    with (
        patch.object(schemas, "load_admin", lambda _: admin),
        pytest.raises(OperationError) as error,
    ):
        read_version("glue://plant", "pump", wanted)

    assert str(error.value) == said
