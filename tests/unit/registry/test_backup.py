"""The text of a backup: what was written is read, and what was changed since is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import SettingsError
from penstock.framing import FrameKind
from penstock.registry import (
    RegistryBackup,
    SchemaBackup,
    StoredVersion,
    VersionStatus,
    load_backup,
    write_backup,
)
from penstock.registry.backup import _check, _dump, read_backup
from penstock.schemas import Compatibility
from tests.fixtures.backups import bucket

__all__ = ["bucket"]

_TIME = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


def _version(name: str, number: int, definition: str = '"string"') -> StoredVersion:
    key = f"00000000-0000-4000-8000-{len(name):06}{number:06}"
    status = VersionStatus.FAILURE if number == 2 else VersionStatus.AVAILABLE
    return StoredVersion(key, f"plant/{name}", number, status, definition, _TIME)


def _schema(name: str, *numbers: int) -> SchemaBackup:
    versions = tuple(_version(name, number) for number in numbers)
    tags = {"team": "a", "cost": "ü"}
    return SchemaBackup(name, Compatibility.FULL_ALL, 1, "AVRO", "of a pump", tags, versions)


_BACKUP = RegistryBackup("plant", FrameKind.GLUE, (_schema("pump", 1, 2, 5), _schema("valve", 1)))
_LINES = write_backup(_BACKUP).splitlines()


def test_a_backup_is_read_as_it_was_written() -> None:
    assert read_backup(write_backup(_BACKUP), "b.jsonl") == _BACKUP


def test_lines_that_another_program_wrote_have_the_same_checksums() -> None:
    lines = [json.dumps(json.loads(line), indent=None) for line in _LINES]

    assert lines != _LINES
    assert read_backup("\n".join(lines), "b.jsonl") == _BACKUP


def test_a_backup_has_guids_and_says_whether_its_ids_are_content_ids() -> None:
    pump = _schema("pump", 1)
    guid = "confluent:d334a191-233e-4e1b-a127-dc1eb333de27"
    version = replace(pump.versions[0], id="confluent:17", guid=guid, subject="confluent/pump")
    schema = replace(pump, versions=(version,))
    backup = RegistryBackup("confluent", FrameKind.CONFLUENT, (schema,), content_ids=True)

    assert read_backup(write_backup(backup), "b.jsonl") == backup
    other = replace(version, number=2, id="confluent:18", definition='"int"')
    twice = replace(backup, schemas=(replace(schema, versions=(version, other)),))
    with pytest.raises(SettingsError, match=f"line 4: found id {guid} a second time, with another"):
        read_backup(write_backup(twice), "b.jsonl")


def test_a_version_keeps_a_data_format_of_its_own() -> None:
    pump = _schema("pump", 1, 2)
    other = replace(pump.versions[0], data_format="JSON")
    backup = replace(_BACKUP, schemas=(replace(pump, versions=(other, pump.versions[1])),))

    assert read_backup(write_backup(backup), "b.jsonl") == backup


def test_equal_registries_have_equal_backups() -> None:
    pump, valve = _BACKUP.schemas
    pump = replace(pump, tags=dict(reversed(pump.tags.items())), versions=pump.versions[::-1])

    assert write_backup(replace(_BACKUP, schemas=(valve, pump))) == write_backup(_BACKUP)


def test_a_backup_may_be_of_an_empty_registry() -> None:
    empty = replace(_BACKUP, schemas=())

    assert read_backup(write_backup(empty), "b.jsonl") == empty


def test_each_line_is_documented_json() -> None:
    lines = [json.loads(line) for line in _LINES]

    assert [line["line"] for line in lines] == [
        "registry", "schema", "version", "version", "version", "schema", "version", "end",
    ]  # fmt: skip
    assert lines[1] | {"check": ""} == {
        "line": "schema",
        "name": "pump",
        "compatibility": "FULL_ALL",
        "checkpoint": 1,
        "data_format": "AVRO",
        "description": "of a pump",
        "tags": {"cost": "ü", "team": "a"},
        "check": "",
    }
    assert lines[3]["status"] == "FAILURE"
    assert lines[3]["registered_at"] == "2026-11-22T09:30:00+00:00"


def _changed(at: int, **values: object) -> list[str]:
    """The lines with one that was changed and given its checksum again."""
    content = {key: value for key, value in json.loads(_LINES[at]).items() if key != "check"}
    content |= values
    content = {key: value for key, value in content.items() if value is not None}
    return [*_LINES[:at], _dump(content | {"check": _check(content)}), *_LINES[at + 1 :]]


_ID = json.loads(_LINES[2])["id"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: found the end of the file, expected more lines of `penstock schema export`"),
        (_LINES[:-1], "line 8: found the end of the file, expected more lines"),
        ([*_LINES[:4], _LINES[4][:70]], "line 5: found no JSON object"),
        (['["a"]'], "line 1: found no JSON object"),
        (["[" * 100_000], "line 1: found no JSON object"),
        (
            [*_LINES[:2], _LINES[2].replace("string", "bytes")],
            "line 3: the line does not match its",
        ),
        (['{"line":"registry","format":1}'], "line 1: the line does not match its checksum"),
        ([*_LINES[:3], *_LINES[4:]], "line 7: lines before this one are missing, were added or "),
        ([*_LINES[:3], _LINES[2], *_LINES[3:]], "line 4: found version 1 after version 1"),
        ([*_LINES[:1], *_LINES[5:7], *_LINES[1:5]], "line 4: found schema pump after valve"),
        ([*_LINES, _LINES[-1]], "line 9: found a line after the line `end`"),
        (_LINES[1:], "line 1: found a line 'schema', expected one line `registry`, the first"),
        ([*_LINES[:2], *_LINES], "line 3: found a line 'registry', expected one line `registry`"),
        ([_LINES[0], _LINES[2]], "line 2: found a version before any schema"),
        (_changed(0, format=2), "line 1: found format 2, expected 1"),
        (
            _changed(0, kind="other"),
            "line 1: kind is 'other', expected one of glue, confluent, apicurio",
        ),
        (_changed(0, kind="confluent"), f"line 3: found id {_ID}, expected an id of confluent"),
        (_changed(1, line="topic"), "line 2: found a line 'topic', expected schema, version or"),
        (
            _changed(1, compatibility="LOOSE"),
            "line 2: compatibility is 'LOOSE', expected one of NONE, DISABLED, BACKWARD",
        ),
        (_changed(2, definition=None), "line 3: definition is missing"),
        (_changed(0, content_ids=0), "line 1: content_ids is 0, expected true or false"),
        (_changed(2, guid="confluent:7"), "line 3: found id confluent:7, expected an id of glue"),
        (_changed(2, id="17"), "line 3: found '17', expected the text of a schema's key"),
        (_changed(2, number="1"), "line 3: number is '1', expected a number"),
        (_changed(2, registered_at="then"), "line 3: registered_at is 'then', expected a time or"),
        (_changed(2, registered_at=7), "line 3: registered_at is 7, expected a time or null"),
        (_changed(2, status=[]), "line 3: status is [], expected one of AVAILABLE, PENDING"),
        (_changed(1, tags="a"), "line 2: tags is 'a', expected an object"),
        (_changed(1, name=7), "line 2: name is 7, expected a string"),
        (_changed(3, id=_ID, definition='"int"'), f"line 4: found id {_ID} a second time, with"),
    ],
)
def test_an_incomplete_backup_is_refused_by_line(lines: list[str], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_backup("\n".join(lines), "b.jsonl")

    assert str(caught.value).startswith(f"b.jsonl, {message}")


def test_no_cut_and_no_changed_byte_is_missed() -> None:
    text = write_backup(_BACKUP)
    for at in range(len(text) - 1):
        for damaged in (text[:at], text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]):
            with pytest.raises(SettingsError, match=r"^b, line [0-9]+: "):
                read_backup(damaged, "b")


def test_no_line_that_is_cut_out_moved_or_there_twice_is_missed() -> None:
    lines = write_backup(_BACKUP).splitlines()
    for at in range(len(lines)):
        without = [*lines[:at], *lines[at + 1 :]]
        damaged = [without, [*lines[:at], lines[at], *lines[at:]]]
        damaged += [
            [*without[:to], lines[at], *without[to:]] for to in range(len(lines)) if to != at
        ]
        for each in damaged:
            with pytest.raises(SettingsError, match=r"^b, line [0-9]+: "):
                read_backup("\n".join(each), "b")


def test_a_backup_is_a_file_or_an_object(
    tmp_path: Path, bucket: str, client: Callable[..., Any]
) -> None:
    text = write_backup(_BACKUP)
    path = tmp_path / "plant.jsonl"
    path.write_text(text)
    client("s3").put_object(Bucket=bucket, Key="a/plant.jsonl", Body=text.encode())

    for where in (str(path), f"s3://{bucket}/a/plant.jsonl"):
        assert load_backup(where) == _BACKUP
