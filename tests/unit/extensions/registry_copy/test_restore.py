"""A Glue registry is read whole, deleted, and restored from its backup, whatever interrupts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from penstock.attempts import Attempts
from penstock.errors import RegistryError, SchemaError, SchemaNotFoundError, SchemaQuotaError
from penstock.extensions.registry_copy.restore import (
    Action,
    SchemaPlan,
    plan_restore,
    restore_schema,
)
from penstock.registry import ComparedWith, GlueSettings, RegistryBackup, write_backup
from penstock.registry.backup import read_backup
from penstock.registry.glue_admin import GlueAdmin
from penstock.schemas import Compatibility, canonical_form
from tests.fixtures.glue_api import GlueApi, arn_of
from tests.stubs.registries import Reading

_WRITES = {"CreateSchema", "RegisterSchemaVersion", "UpdateSchema", "TagResource"}


@pytest.fixture
def admin(glue_api: GlueApi, attempts: Callable[..., Attempts]) -> GlueAdmin:
    return GlueAdmin(
        GlueSettings("plant"), glue_api.client, attempts=attempts(), pending=attempts()
    )


@pytest.fixture
def full(glue_api: GlueApi, reading: Reading) -> RegistryBackup:
    """A registry with all that one can hold, its backup, and then the registry empty."""
    client, store = glue_api.client, glue_api.store
    for name in ("pump", "valve"):
        client.call(
            "CreateSchema",
            {
                "RegistryId": {"RegistryName": "plant"},
                "SchemaName": name,
                "DataFormat": "AVRO",
                "Compatibility": "FORWARD",
                "Description": f"of a {name}",
                "Tags": {"team": "a"},
                "SchemaDefinition": canonical_form(reading()),
            },
        )
    # 2 and 5 are accepted under other modes than that of the end, 3 is refused, 4 is deleted.
    pump = arn_of("pump")
    store.update(pump, mode=Compatibility.BACKWARD)
    store.add(pump, canonical_form(reading(a="long")))
    store.add(pump, canonical_form(reading(a="string")))
    deleted = store.add(pump, canonical_form(reading(a="long", b="long")))
    store.update(pump, mode=Compatibility.NONE)
    store.add(pump, ' {"type": "record", "name": "Reading", "fields": []}')
    store.delete(deleted.id)
    store.update(pump, mode=Compatibility.FULL_ALL, checkpoint=2)
    client.call(
        "CreateSchema",
        {
            "RegistryId": {"RegistryName": "plant"},
            "SchemaName": "alert",
            "DataFormat": "JSON",
            "SchemaDefinition": '{"$schema": "http://json-schema.org/draft-07/schema#"}',
        },
    )
    backup = _back_up(GlueAdmin(GlueSettings("plant"), client))
    for name in ("alert", "pump", "valve"):
        client.call("DeleteSchema", {"SchemaId": {"RegistryName": "plant", "SchemaName": name}})
    glue_api.calls.clear()
    return read_backup(write_backup(backup), "b.jsonl")


def _back_up(admin: GlueAdmin) -> RegistryBackup:
    return RegistryBackup("plant", admin.kind, tuple(map(admin.read_schema, admin.list_names())))


def _plan(admin: GlueAdmin, backup: RegistryBackup) -> list[SchemaPlan]:
    present = admin.list_names()
    return [
        plan_restore(each, admin.read_schema(each.name) if each.name in present else None)
        for each in backup.schemas
    ]


def _restore(admin: GlueAdmin, backup: RegistryBackup) -> list[SchemaPlan]:
    return [restore_schema(admin, plan) for plan in _plan(admin, backup)]


def _shape(backup: RegistryBackup) -> list[Any]:
    """All that a restored registry has in common with the first one."""
    return [
        (
            each.name,
            each.compatibility,
            each.data_format,
            each.description,
            each.tags,
            [version.definition for version in each.versions if version.status == "AVAILABLE"],
        )
        for each in backup.schemas
    ]


def test_a_backup_has_all_versions_of_all_schemas(full: RegistryBackup) -> None:
    assert [each.name for each in full.schemas] == ["alert", "pump", "valve"]
    pump = full.schemas[1]
    assert (pump.compatibility, pump.checkpoint) == (Compatibility.FULL_ALL, 2)
    assert (pump.description, pump.tags) == ("of a pump", {"team": "a"})
    assert [(each.number, each.status.value) for each in pump.versions] == [
        (1, "AVAILABLE"), (2, "AVAILABLE"), (3, "FAILURE"), (5, "AVAILABLE"),
    ]  # fmt: skip


def test_lists_are_read_by_pages(
    admin: GlueAdmin, glue_api: GlueApi, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("glue", "glue_admin"):
        monkeypatch.setattr(f"penstock.registry.{module}._PAGE_SIZE", 2)
    for name in "abcde":
        glue_api.create(name, canonical_form(reading()))
    glue_api.store.update(arn_of("a"), mode=Compatibility.NONE)
    for name in "bcde":
        glue_api.store.add(arn_of("a"), canonical_form(reading(**{name: "long"})))

    assert admin.list_names() == [*"abcde"]
    assert [each.number for each in admin.read_schema("a").versions] == [1, 2, 3, 4, 5]


def test_a_restored_registry_is_as_it_was_and_a_second_import_changes_nothing(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup
) -> None:
    plans = _plan(admin, full)
    restored = _restore(admin, full)

    assert _shape(_back_up(admin)) == _shape(full)
    assert admin.read_schema("pump").checkpoint == 2
    assert [
        (each.version.number, each.action, each.number) for each in restored[1].versions
    ] == [
        (1, Action.REGISTER, 1), (2, Action.REGISTER, 2), (3, Action.LEAVE_OUT, None),
        (5, Action.REGISTER, 3),
    ]  # fmt: skip
    assert [[each.number for each in plan.versions] for plan in plans] == [
        [each.number for each in plan.versions] for plan in restored
    ]
    glue_api.calls.clear()
    again = _restore(admin, full)
    assert all(plan.is_done for plan in again)
    assert not _WRITES.intersection(glue_api.calls)


class _Killed(BaseException):
    """The end of the process."""


def test_an_import_that_was_killed_after_any_write_is_continued(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next import finds nothing but the registry, which only writes change."""
    plain, left = glue_api.client.call, [0]

    def call(operation: str, request: Any) -> Any:
        answer = plain(operation, request)
        left[0] -= operation in _WRITES
        if left[0] < 0:
            raise _Killed
        return answer

    monkeypatch.setattr(glue_api.client, "call", call)
    kills = 0
    while True:
        for each in full.schemas:
            left[0] = 1_000
            if each.name in admin.list_names():
                plain("DeleteSchema", {"SchemaId": admin._schema_id(each.name)})
        left[0] = kills
        try:
            _restore(admin, full)
        except _Killed:
            left[0] = 1_000
            _restore(admin, full)
            assert _shape(_back_up(admin)) == _shape(full), f"killed after write {kills + 1}"
            kills += 1
        else:
            break

    assert kills > 10


def test_versions_of_others_stay_and_the_backup_comes_after_them(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, reading: Reading
) -> None:
    glue_api.create("pump", canonical_form(reading(c="long")))

    pump = _restore(admin, full)[1]

    assert [each.number for each in pump.versions] == [2, 3, None, 4]
    assert admin.read_schema("pump").compatibility is Compatibility.FULL_ALL
    assert admin.read_schema("pump").checkpoint == 3


def test_an_equal_definition_in_other_words_is_the_version(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, reading: Reading
) -> None:
    glue_api.create("valve", f" {canonical_form(reading())}")

    valve = _restore(admin, full)[2]

    assert [(each.action, each.number) for each in valve.versions] == [(Action.KEEP, 1)]


def test_a_refused_version_in_the_way_is_named(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, reading: Reading
) -> None:
    glue_api.create("pump", canonical_form(reading(a="string")))
    glue_api.store.add(arn_of("pump"), canonical_form(reading(a="long")))

    with pytest.raises(
        RegistryError, match="version 2 of schema pump is version 2 of the registry with status FA"
    ):
        _restore(admin, full)


def test_another_data_format_is_refused(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, reading: Reading
) -> None:
    glue_api.create("alert", canonical_form(reading()))

    with pytest.raises(RegistryError, match="schema alert is AVRO in the registry, expected JSON"):
        _plan(admin, full)


def test_a_result_that_differs_is_an_error(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, reading: Reading
) -> None:
    other = {"SchemaDefinition": canonical_form(reading(z="long"))}
    glue_api.change("GetSchemaVersion", lambda answer: answer | other, times=99)

    with pytest.raises(RegistryError, match=r"schema alert of glue://plant differs .* versions: 1"):
        _restore(admin, full)
    assert admin.read_schema("alert").compatibility is full.schemas[0].compatibility


def test_a_version_that_the_registry_refuses_is_an_error(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup
) -> None:
    glue_api.store.compared_with = ComparedWith.BOTH
    plain = glue_api.client.call

    def call(operation: str, request: Any) -> Any:
        if operation == "RegisterSchemaVersion":  # somebody else sets the mode at this moment
            glue_api.store.update(arn_of("pump"), mode=Compatibility.FULL)
        return plain(operation, request)

    glue_api.client.call = call  # type: ignore[method-assign]
    try:
        with pytest.raises(
            RegistryError, match="version 5 of schema pump is registered as version 3 with status F"
        ):
            restore_schema(admin, _plan(admin, full)[1])
    finally:
        glue_api.client.call = plain  # type: ignore[method-assign]


Refuse = Callable[[int, BaseException], None]


@pytest.fixture
def refuse(admin: GlueAdmin, monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """Let the registry refuse a version, the first or a later one that it gets."""

    def prepare(at: int, error: BaseException) -> None:
        plain, left = admin.add_version, [at]

        def add(*words: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                raise error
            return plain(*words)

        monkeypatch.setattr(admin, "add_version", add)

    return prepare


@pytest.mark.parametrize("mode", [Compatibility.FULL, Compatibility.DISABLED])
def test_a_restore_that_fails_leaves_mode_and_checkpoint_as_they_were(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup, refuse: Refuse, mode: Compatibility
) -> None:
    glue_api.create("pump", '"int"')
    glue_api.store.add(arn_of("pump"), '"long"')
    glue_api.store.update(arn_of("pump"), mode=mode, checkpoint=2)
    refuse(2, RegistryError("no"))

    with pytest.raises(RegistryError, match=r"^no$"):
        restore_schema(admin, _plan(admin, full)[1])

    pump = admin.read_schema("pump")
    assert (len(pump.versions), pump.compatibility, pump.checkpoint) == (3, mode, 2)
    _restore(admin, full)
    assert admin.read_schema("pump").compatibility is Compatibility.FULL_ALL


@pytest.mark.parametrize("error", [RegistryError("no"), SchemaError("no"), KeyboardInterrupt()])
def test_a_new_schema_that_fails_has_the_mode_of_the_backup_and_its_newest_version(
    admin: GlueAdmin, full: RegistryBackup, refuse: Refuse, error: BaseException
) -> None:
    refuse(3, error)

    with pytest.raises(type(error)):
        restore_schema(admin, _plan(admin, full)[1])

    pump = admin.read_schema("pump")
    assert (len(pump.versions), pump.checkpoint) == (2, 2)
    assert pump.compatibility is full.schemas[1].compatibility


def test_a_mode_that_cannot_be_put_back_is_named(
    admin: GlueAdmin, full: RegistryBackup, refuse: Refuse, glue_api: GlueApi
) -> None:
    glue_api.fail("UpdateSchema", "AccessDeniedException")
    refuse(2, SchemaQuotaError("no"))

    with pytest.raises(
        SchemaQuotaError,
        match=r"^no; schema pump may have kept the mode NONE, expected FULL_ALL: .* "
        "glue:UpdateSchema with AccessDeniedException",
    ):
        restore_schema(admin, _plan(admin, full)[1])
    assert admin.read_schema("pump").compatibility is Compatibility.NONE


def test_a_mode_that_stays_after_ctrl_c_is_named(
    admin: GlueAdmin, full: RegistryBackup, refuse: Refuse, glue_api: GlueApi
) -> None:
    glue_api.fail("UpdateSchema", "AccessDeniedException")
    refuse(2, KeyboardInterrupt())

    with pytest.raises(RegistryError, match=r"^schema pump may have kept the mode NONE, expected"):
        restore_schema(admin, _plan(admin, full)[1])


def test_a_registry_that_is_missing_is_said_before_anything_is_done(glue_api: GlueApi) -> None:
    missing = GlueAdmin(GlueSettings("missing"), glue_api.client)

    with pytest.raises(SchemaNotFoundError, match=r"glue:ListSchemas with Entity.*Registry is not"):
        missing.list_names()


def test_versions_that_are_pending_or_go_away_meanwhile(
    admin: GlueAdmin, glue_api: GlueApi, reading: Reading
) -> None:
    store, pump = glue_api.store, arn_of("pump")
    glue_api.create("pump", canonical_form(reading()))
    store.update(pump, mode=Compatibility.NONE)
    for name in "abc":
        store.pending_reads = 3 if name == "c" else 0
        store.add(pump, canonical_form(reading(**{name: "long"})))
    store.begin_delete(store.read_number(pump, 2).id)
    gone = store.read_number(pump, 3).id
    plain = store.read_number

    def read_number(subject: str, number: int) -> Any:
        if number == 3 and store.list_versions(pump)[2].id == gone:
            store.delete(gone)
        return plain(subject, number)

    store.read_number = read_number  # type: ignore[method-assign]

    assert [each.number for each in admin.read_schema("pump").versions] == [1, 4]


def test_throttled_calls_are_tried_again(
    admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup
) -> None:
    for operation in ("ListSchemas", "GetSchema", "GetTags", *_WRITES):
        glue_api.throttle(operation, times=2)

    _restore(admin, full)

    assert _shape(_back_up(admin)) == _shape(full)


def test_denied_calls_are_named(admin: GlueAdmin, glue_api: GlueApi, full: RegistryBackup) -> None:
    glue_api.fail("CreateSchema", "AccessDeniedException", times=1)

    with pytest.raises(
        RegistryError, match="glue:CreateSchema with AccessDeniedException"
    ) as caught:
        _restore(admin, full)
    assert isinstance(caught.value.__cause__, ClientError)
    assert "mode" not in str(caught.value)
