"""The schema registries of a program; only this module chooses the registry of a frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from penstock.errors import NoRegistryForFramingError, SettingsError
from penstock.framing import Frame, FrameKind, Framing, SchemaKey
from penstock.registry.cache import CachedRegistry
from penstock.registry.interface import SchemaRegistry, SchemaVersion
from penstock.registry.load import has_content_ids, load_registry
from penstock.registry.overlay import BackupRegistry, OverlayRegistry

_Headers = Iterable[tuple[str, bytes | None]]


class Registries(Mapping[FrameKind, SchemaRegistry]):
    """Schema registries by the kind of frames that each one reads.

    `unframed` has the topics whose values have no frame, and the key of their writer schema.
    `content_ids` says that the registry of Confluent's kind is Apicurio's, with its content ids.

    Raises:
        SettingsError: two registries have the same kind.
    """

    def __init__(
        self,
        registries: Iterable[SchemaRegistry],
        unframed: Mapping[str, SchemaKey] | None = None,
        *,
        content_ids: bool = False,
    ) -> None:
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
        self._framing = Framing(frozenset(self._registries), dict(unframed or {}), content_ids)

    @property
    def framing(self) -> Framing:
        """The kinds of frames that have a registry here, and the topics without frames."""
        return self._framing

    def __getitem__(self, kind: FrameKind) -> SchemaRegistry:
        """Return the registry of a kind of frames."""
        return self._registries[kind]

    def __iter__(self) -> Iterator[FrameKind]:
        """Iterate over the kinds that have a registry."""
        return iter(self._registries)

    def __len__(self) -> int:
        """Return the number of registries."""
        return len(self._registries)

    def decode(self, value: bytes | None, headers: _Headers = (), topic: str = "") -> Frame | None:
        """Decode the frame of a record's value; return None for a tombstone.

        Raises:
            FramingError: the frame is unknown or corrupt, or its kind has no registry here.
        """
        return self._framing.decode(value, headers, topic)

    def read_key(
        self, value: bytes | None, headers: _Headers = (), topic: str = ""
    ) -> SchemaKey | None:
        """Return the schema key of a record's value; None if its header cannot be read."""
        return self._framing.read_key(value, headers, topic)

    def find(self, key: SchemaKey) -> SchemaVersion:
        """Return the version with this key, from the registry of its kind.

        Raises:
            NoRegistryForFramingError: there is no registry of this kind.
            RegistryError, SchemaError: see `SchemaRegistry.get`.
        """
        if key.kind not in self:
            known = ", ".join(self) or "none"
            raise NoRegistryForFramingError(
                f"schema {key} is in no registry of this program, expected one of {known}"
            )
        return self[key.kind].get(key)


def load_registries(
    urls: str, backups: Sequence[str] = (), unframed: Mapping[str, SchemaKey] | None = None
) -> Registries:
    """Build the registries of URLs that are separated by spaces, each with a cache.

    Args:
        urls: the URLs; building their registries makes no call.
        backups: paths or s3:// URLs of backups, which are read now; their ids are found too.
        unframed: topics whose values have no frame, and the key of their writer schema.

    Raises:
        SettingsError: a URL or a backup cannot be used.
        SinkAccessDeniedError, SinkUnavailableError: S3 does not return a backup (retriable).
    """
    registries = [load_registry(url) for url in urls.split() or ([] if backups else [""])]
    have_content_ids = [
        has_content_ids(url)
        for url, registry in zip(urls.split(), registries, strict=False)
        if registry.kind is FrameKind.CONFLUENT
    ]
    if backups:
        # The import of botocore takes 0.1 s, which a program without backups may not need.
        from penstock.registry.backup_file import load_backup  # noqa: PLC0415

        old = [(load_backup(where), where) for where in backups]
        registries = _overlay(registries, [BackupRegistry(*each) for each in old])
        have_content_ids += [
            each.content_ids for each, _ in old if each.kind is FrameKind.CONFLUENT
        ]
    content_ids = bool(have_content_ids) and all(have_content_ids)
    return Registries(map(CachedRegistry, registries), unframed, content_ids=content_ids)


def _overlay(
    registries: Iterable[SchemaRegistry], backups: Iterable[BackupRegistry]
) -> list[SchemaRegistry]:
    """Put backups under the registries of their kinds.

    For a kind without a registry, as after a move to another kind, its backups are the registry.
    """
    by_kind: dict[FrameKind, list[BackupRegistry]] = {}
    for backup in backups:
        by_kind.setdefault(backup.kind, []).append(backup)
    found: list[SchemaRegistry] = []
    for registry in registries:
        under = by_kind.pop(registry.kind, [])
        found.append(OverlayRegistry(registry, under) if under else registry)
    return found + [OverlayRegistry(first, others) for first, *others in by_kind.values()]
