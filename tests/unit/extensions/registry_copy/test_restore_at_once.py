"""A schema that another program creates while it is restored stays as that program made it."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import RegistryError
from penstock.extensions.registry_copy.restore import plan_restore, restore_schema
from penstock.registry import RegistryBackup
from penstock.registry.glue_admin import GlueAdmin
from penstock.schemas import Compatibility, canonical_form
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.registries import Reading
from tests.unit.extensions.registry_copy.test_restore import admin, full

__all__ = ["admin", "full"]


def test_a_schema_that_a_producer_creates_meanwhile_stays_as_it_is(
    admin: GlueAdmin,
    glue_api: GlueApi,
    full: RegistryBackup,
    reading: Reading,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, pump = admin.create_schema, full.schemas[1]

    def create(*words: Any) -> None:
        glue_api.create("pump", canonical_form(reading(c="long")))
        glue_api.store.update(arn_of("pump"), mode=Compatibility.BACKWARD)
        plain(*words)

    with monkeypatch.context() as patch:
        patch.setattr(admin, "create_schema", create)
        said = r"^another program has just created the schema pump of glue://plant; run the command"
        with pytest.raises(RegistryError, match=said):
            restore_schema(admin, plan_restore(pump, None))

    found = admin.read_schema("pump")
    assert (found.compatibility, len(found.versions)) == (Compatibility.BACKWARD, 1)
    restore_schema(admin, plan_restore(pump, found))
    assert admin.read_schema("pump").compatibility is pump.compatibility
