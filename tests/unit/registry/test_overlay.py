"""A registry over backups: old ids are found, and an id has one definition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import (
    RegistryError,
    RegistryUnavailableError,
    SchemaForbiddenError,
    SchemaNotFoundError,
    SchemaRefusedError,
    SettingsError,
)
from penstock.framing import FrameKind, SchemaKey
from penstock.registry import (
    BackupRegistry,
    RegistryBackup,
    RegistrySettings,
    SchemaBackup,
    SchemaStore,
    SchemaVersion,
    StoredVersion,
    VersionStatus,
    load_registries,
    write_backup,
)
from penstock.registry.memory import MemoryRegistry
from penstock.registry.overlay import OverlayRegistry
from penstock.schemas import Compatibility
from tests.stubs.registries import UNKNOWN, CountedRegistry, Reading, unavailable


def _back_up(store: SchemaStore, name: str = "readings", registry: str = "old") -> RegistryBackup:
    versions = tuple(
        replace(each, subject=f"{registry}/{name}")
        for each in store.list_versions(f"memory/{name}")
    )
    schema = SchemaBackup(name, Compatibility.NONE, 1, "AVRO", "", {}, versions)
    return RegistryBackup(registry, FrameKind.GLUE, (schema,))


@pytest.fixture
def store() -> SchemaStore:
    return SchemaStore()


@pytest.fixture
def old(store: SchemaStore) -> MemoryRegistry:
    """The registry that is lost."""
    return MemoryRegistry(store, compatibility=Compatibility.NONE)


def test_old_ids_are_found_with_their_numbers_and_new_ones_as_before(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    gone = [old.register("readings", each).version for each in (reading(), reading(a="long"))]
    new = MemoryRegistry()
    found = new.register("readings", reading(a="long")).version
    registry = OverlayRegistry(new, [BackupRegistry(_back_up(store), "b.jsonl")])

    assert [registry.get(each.key) for each in gone] == gone
    assert registry.get(found.key) == found
    assert registry.versions("readings") == (found,)
    assert registry.latest("readings") == found
    assert registry.register("readings", reading(a="long")).version == found
    assert registry.kind is FrameKind.GLUE
    assert registry.source == "memory:// over b.jsonl"
    with pytest.raises(SchemaNotFoundError, match=f"{UNKNOWN} is not found"):
        registry.get(UNKNOWN)


def test_a_version_that_was_refused_stays_refused(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    old.register("readings", reading(a="double"))
    contradicts = store.add("memory/readings", '{"type":"record","name":"Reading","fields":'
        '[{"name":"deviceId","type":"string"},{"name":"a","type":["null","string"]}]}')  # fmt: skip
    store.update("memory/readings", mode=Compatibility.FULL)
    failed = store.add("memory/readings", '"string"')
    registry = OverlayRegistry(MemoryRegistry(), [BackupRegistry(_back_up(store), "b.jsonl")])

    with pytest.raises(SchemaRefusedError, match="version 2 of schema readings contradicts those"):
        registry.get(SchemaKey.parse(contradicts.id))
    with pytest.raises(SchemaRefusedError, match=r"version 3 of schema readings .* FAILURE"):
        registry.get(SchemaKey.parse(failed.id))


def test_an_id_with_two_definitions_is_refused_by_name(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    version = old.register("readings", reading(a="long")).version
    backup = _back_up(store)
    (schema,) = backup.schemas
    (stored,) = schema.versions
    same = BackupRegistry(backup, "same.jsonl")
    other_text = BackupRegistry(
        _with(backup, replace(stored, definition='"string"')), "other.jsonl"
    )
    other_name = BackupRegistry(_with(backup, replace(stored, subject="old/b")), "named.jsonl")

    assert OverlayRegistry(old, [same]).get(version.key) == version
    for registry, second in (
        (OverlayRegistry(old, [other_text]), "other.jsonl version 1 of readings"),
        (OverlayRegistry(MemoryRegistry(), [same, other_text]), "other.jsonl version 1 of reading"),
        (OverlayRegistry(old, [same, other_name]), "named.jsonl version 1 of b"),
    ):
        with pytest.raises(
            SchemaRefusedError,
            match=f"^schema version {version.key} is version 1 of readings in one registry, and in "
            f"{second}",
        ):
            registry.get(version.key)


def test_a_version_that_was_disabled_at_the_backup_is_read_once_it_is_enabled(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    version = old.register("readings", reading(a="long")).version
    backup = _back_up(store)
    (stored,) = backup.schemas[0].versions
    disabled = replace(stored, definition="", status=VersionStatus.FAILURE)
    other_name = replace(disabled, subject="old/b")

    registry = OverlayRegistry(old, [BackupRegistry(_with(backup, disabled), "b.jsonl")])

    assert registry.get(version.key) == version
    with pytest.raises(SchemaRefusedError, match=r"in b.jsonl version 1 of b with another"):
        OverlayRegistry(old, [BackupRegistry(_with(backup, other_name), "b.jsonl")]).get(
            version.key
        )


def _with(backup: RegistryBackup, version: StoredVersion) -> RegistryBackup:
    (schema,) = backup.schemas
    name = version.subject.partition("/")[2]
    return replace(backup, schemas=(replace(schema, name=name, versions=(version,)),))


def test_an_id_that_only_the_allow_list_of_the_registry_refuses_is_found(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    versions = [old.register("readings", each).version for each in (reading(), reading(a="long"))]
    backup = _back_up(store)
    (schema,) = backup.schemas
    backup = replace(backup, schemas=(replace(schema, versions=schema.versions[:1]),))
    registry = OverlayRegistry(_Forbidding(), [BackupRegistry(backup, "b.jsonl")])

    assert registry.get(versions[0].key) == versions[0]
    with pytest.raises(SchemaForbiddenError, match="belongs to old/readings"):
        registry.get(versions[1].key)


class _Forbidding(MemoryRegistry):
    """A new registry beside the old one, whose ids it finds and may not read."""

    def get(self, key: SchemaKey) -> SchemaVersion:
        raise SchemaForbiddenError(f"schema version {key} belongs to old/readings")


def test_a_registry_that_is_down_is_not_guessed(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    version = old.register("readings", reading()).version
    down = CountedRegistry()
    down.down = unavailable

    with pytest.raises(RegistryUnavailableError):
        OverlayRegistry(down, [BackupRegistry(_back_up(store), "b.jsonl")]).get(version.key)


def test_a_backup_takes_no_version(
    store: SchemaStore, old: MemoryRegistry, reading: Reading
) -> None:
    version = old.register("readings", reading()).version
    backup = BackupRegistry(_back_up(store), "b.jsonl")

    assert backup.versions("readings") == (version,)
    assert backup.latest("other") is None
    with pytest.raises(RegistryError, match=r"b.jsonl is a backup and accepts no version of read"):
        backup.register("readings", reading())


def test_backups_are_read_with_the_settings_and_asked_once_for_an_id(
    store: SchemaStore, old: MemoryRegistry, reading: Reading, tmp_path: Path
) -> None:
    version = old.register("readings", reading()).version
    where = f"{tmp_path}/b.jsonl"
    Path(where).write_text(write_backup(_back_up(store)))
    settings = RegistrySettings.from_environ(
        {"PENSTOCK_REGISTRY": "memory://", "PENSTOCK_REGISTRY_BACKUPS": f" {where} {where}"}
    )

    registries = settings.load()

    assert settings.registry_backups == (where, where)
    assert registries.find(version.key) == version
    assert registries.find(version.key) is registries.find(version.key)
    with pytest.raises(SettingsError, match=r"^missing.jsonl cannot be read: "):
        load_registries("memory://", ["missing.jsonl"])


def test_frames_of_a_kind_without_a_registry_are_read_by_backups_alone(
    reading: Reading, tmp_path: Path
) -> None:
    definition = '{"type":"record","name":"R","fields":[]}'
    for file, number in (("a", 7), ("b", 8)):
        version = replace(
            SchemaStore().create("memory/readings", definition), id=f"confluent:{number}"
        )
        schema = SchemaBackup("readings", Compatibility.NONE, 1, "AVRO", "", {}, (version,))
        backup = RegistryBackup("old", FrameKind.CONFLUENT, (schema,))
        (tmp_path / file).write_text(write_backup(backup))

    registries = load_registries("memory://", [f"{tmp_path}/a", f"{tmp_path}/b"])

    assert set(registries) == {FrameKind.GLUE, FrameKind.CONFLUENT}
    assert set(load_registries("", [f"{tmp_path}/a"])) == {FrameKind.CONFLUENT}
    for number in (7, 8):
        assert registries.find(SchemaKey.parse(f"confluent:{number}")).name == "readings"
    with pytest.raises(SchemaNotFoundError, match=r"version confluent:9 is not in .*/a"):
        registries.find(SchemaKey.parse("confluent:9"))


_GUID = SchemaKey.parse("confluent:d334a191-233e-4e1b-a127-dc1eb333de27")


def _save_confluent(where: str, *, content_ids: bool) -> None:
    definition = '{"type":"record","name":"R","fields":[]}'
    made = SchemaStore().create("memory/readings", definition)
    version = replace(made, id="confluent:7", subject="old/readings", guid=str(_GUID))
    schema = SchemaBackup("readings", Compatibility.NONE, 1, "AVRO", "", {}, (version,))
    backup = RegistryBackup("old", FrameKind.CONFLUENT, (schema,), content_ids)
    Path(where).write_text(write_backup(backup))


def test_a_backup_has_the_guids_of_headers_too(tmp_path: Path) -> None:
    _save_confluent(f"{tmp_path}/a", content_ids=False)
    registries = load_registries("memory://", [f"{tmp_path}/a"])

    frame = registries.decode(b"payload", [("__value_schema_id", _GUID.pack())])

    assert frame is not None
    found = registries.find(frame.key)
    assert (found.key, found.name, found.number) == (_GUID, "readings", 1)
    assert registries.find(SchemaKey.parse("confluent:7")).schema == found.schema


@pytest.mark.parametrize(
    ("urls", "has_them"),
    [
        ("memory://", (True,)),
        ("confluent+http://a/apis/ccompat/v7", (True, True)),
        ("memory://", (False,)),
        ("memory://", (True, False)),
        ("confluent+http://a", (True,)),
        ("confluent+http://a/apis/ccompat/v7", (False,)),
    ],
)
def test_content_ids_are_read_if_all_ids_of_that_kind_are_apicurios(
    urls: str, has_them: tuple[bool, ...], tmp_path: Path
) -> None:
    places = [f"{tmp_path}/{at}" for at in range(len(has_them))]
    for where, content_ids in zip(places, has_them, strict=True):
        _save_confluent(where, content_ids=content_ids)

    framing = load_registries(urls, places).framing

    is_apicurio = "ccompat" in urls or "memory" in urls
    assert framing.content_ids is (is_apicurio and all(has_them))
