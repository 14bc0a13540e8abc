"""The registries of a program: which of them reads a frame is answered here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.errors import SettingsError
from penstock.framing import Frame, FrameKind, SchemaKey, decode_frame, read_schema_key
from penstock.registry.cache import CachedRegistry
from penstock.registry.interface import SchemaRegistry, SchemaVersion
from penstock.registry.load import load_registry

_Headers = Iterable[tuple[str, bytes | None]]


class Registries(Mapping[FrameKind, SchemaRegistry]):
    """Schema registries by the kind of frames that each one reads."""

    def __init__(self, registries: Iterable[SchemaRegistry]) -> None:
        self._registries: dict[FrameKind, SchemaRegistry] = {}
        for registry in registries:
            other = self._registries.setdefault(registry.kind, registry)
            if other is not registry:
                raise SettingsError(
                    [
                        f"{other.source} and {registry.source} both read frames of "
                        f"{registry.kind}, expected one registry for each kind"
                    ]
                )
        if {FrameKind.APICURIO, FrameKind.CONFLUENT} <= self._registries.keys():
            raise SettingsError(
                [
                    f"{self[FrameKind.APICURIO].source} and {self[FrameKind.CONFLUENT].source} "
                    "read frames that cannot be told apart, expected one of the two"
                ]
            )

    def __getitem__(self, kind: FrameKind) -> SchemaRegistry:
        """Return the registry that reads frames of a kind."""
        return self._registries[kind]

    def __iter__(self) -> Iterator[FrameKind]:
        """Iterate over the kinds of which there is a registry."""
        return iter(self._registries)

    def __len__(self) -> int:
        """Count the registries."""
        return len(self._registries)

    def decode(self, value: bytes | None, headers: _Headers = ()) -> Frame | None:
        """Open the frame of a record's value; None for a tombstone.

        Raises:
            FramingError: no frame, a broken one, or one of a kind without a registry here.
        """
        return decode_frame(value, headers, kinds=self)

    def read_key(self, value: bytes | None, headers: _Headers = ()) -> SchemaKey | None:
        """Return the key that a record's value names, where its header can be read."""
        return read_schema_key(value, headers, kinds=self)

    def find(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key, from the registry of its kind.

        Raises:
            RegistryError, SchemaError: as of `SchemaRegistry.get`.
        """
        return self[key.kind].get(key)


def load_registries(urls: str) -> Registries:
    """Build the registries that URLs name, separated by spaces, each behind a cache."""
    return Registries(CachedRegistry(load_registry(url)) for url in urls.split() or [""])
