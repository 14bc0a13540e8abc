"""Schema ids that the registry does not have yet are waited for.

A change whose schema is unknown cannot be written, and no replay writes it later: its row would
stay as it was before. A replica of a registry may learn of a version after its first records.
"""

from __future__ import annotations

from penstock.errors import RegistryUnavailableError, SchemaForbiddenError, SchemaNotFoundError
from penstock.framing import SchemaKey
from penstock.registry import Registries, SchemaVersion


class AwaitedSchemas(Registries):
    """Registries in which a missing or forbidden version is a reason to ask again."""

    def __init__(self, registries: Registries) -> None:
        framing = registries.framing
        super().__init__(registries.values(), framing.unframed, content_ids=framing.content_ids)

    def find(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key.

        Raises:
            RegistryUnavailableError: the registry does not have it yet, or does not answer.
            NoRegistryForFramingError, RegistryError, SchemaError: see `Registries.find`.
        """
        try:
            return super().find(key)
        except (SchemaForbiddenError, SchemaNotFoundError) as error:
            raise RegistryUnavailableError(
                f"{error}; changes with this id wait, since tables would lack them: register or"
                " allow it, or give them up with --on-lost-offsets go-on"
            ) from error
