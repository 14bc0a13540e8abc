"""A job of capture waits for schema ids that its registry does not have yet."""

from __future__ import annotations

import pytest

from penstock.errors import RegistryUnavailableError
from penstock.extensions.cdc.spark.awaited import AwaitedSchemas
from penstock.registry import Registries
from penstock.registry.memory import MemoryRegistry

_FILM = {"type": "record", "name": "Film", "fields": [{"name": "id", "type": "long"}]}


def test_an_id_that_comes_later_is_found_then():
    registry, later = MemoryRegistry(), MemoryRegistry()
    version = later.register("film", _FILM).version
    schemas = AwaitedSchemas(Registries([registry], {"films": version.key}))

    with pytest.raises(RegistryUnavailableError, match=f"{version.key}.*--on-lost-offsets go-on"):
        schemas.find(version.key)
    registry.get = later.get
    assert schemas.find(version.key) == version
    assert schemas.framing.unframed == {"films": version.key}
