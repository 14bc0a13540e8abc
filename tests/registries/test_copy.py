"""`penstock registry copy` between a real Apicurio, by both of its APIs, and localcloud's Glue."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from unittest.mock import patch

import pytest

from penstock.cli import main
from penstock.errors import SchemaNotFoundError
from penstock.framing import SchemaKey, encode_frame
from penstock.registry import load_admin, load_backup, load_registries
from penstock.schemas import Compatibility, encode, load_schema
from tests.fixtures.commands import read_json
from tests.fixtures.copies import Move, form, glue, move, shape
from tests.stubs.registries import Reading, read_value
from tests.stubs.terminal import Terminal

__all__ = ["glue", "move"]

pytestmark = pytest.mark.java


def test_a_terminal_sees_how_many_schemas_are_read_and_copied(
    move: Move, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--map", move.map_file, "--dry-run", "--output", "json"]

    with patch.object(sys, "stderr", Terminal()) as stderr:
        assert main(["registry", "copy", move.url, move.glue_url, *arguments], {}) == 0

    assert "\r\x1b[K[                    ] 0 % of 4 schemas read, " in stderr.getvalue()
    assert "\r\x1b[K[####################] 100 % of 4 schemas copied, " in stderr.getvalue()
    (report,) = read_json("registry copy", capsys.readouterr().out)
    assert (report["dryRun"], report["mapWritten"]) == (True, False)


def test_a_whole_registry_is_copied_to_glue_and_a_second_copy_changes_nothing(
    move: Move,
) -> None:
    code, report = move.copy(move.url, move.glue_url)
    source, target = load_admin(move.url), load_admin(move.glue_url)

    assert (code, report["complete"], report["unchanged"]) == (0, True, False), report
    names = {each["name"]: each["newName"] for each in report["schemas"]}
    assert names == {
        ":readings-key": "readings-key", ":unit": "unit", "orders": "orders",
        "readings": "readings",
    }  # fmt: skip
    for old, new in names.items():
        assert shape(source, old) == shape(target, new)
    readings, orders = target.read_schema("readings"), target.read_schema("orders")
    assert (readings.compatibility, readings.checkpoint) == (Compatibility.FULL, 3)
    assert (orders.compatibility, orders.checkpoint) == (Compatibility.FULL_ALL, 1)
    assert json.loads(orders.versions[0].definition)["fields"][0]["type"]["symbols"] == ["C", "F"]
    versions = {each["name"]: each["versions"] for each in report["schemas"]}["readings"]
    assert [
        (each["id"], each["newId"], each["number"], each["newNumber"], each["samples"])
        for each in versions
    ] == [
        (old.id, new.id, old.number, new.number, 3)
        for old, new in zip(
            source.read_schema("readings").versions,
            target.read_schema("readings").versions,
            strict=True,
        )
    ]

    before = Path(move.map_file).stat().st_mtime_ns
    code, second = move.copy(move.url, move.glue_url)

    assert (code, second["complete"], second["unchanged"]) == (0, True, True)
    assert {each["action"] for each in second["schemas"]} == {"keep"}
    assert Path(move.map_file).stat().st_mtime_ns == before


def test_old_records_are_read_by_the_old_registry_and_without_it_by_the_map(move: Move) -> None:
    old = load_admin(move.url).read_schema("readings")
    assert move.copy(move.url, move.glue_url)[0] == 0
    new = load_admin(move.glue_url).read_schema("readings")

    event = {"deviceId": "a", "flow": 1, "level": 0.5}
    payload = encode(event, load_schema(old.versions[2].definition))
    values = [encode_frame(SchemaKey.parse(each.versions[2].id), payload) for each in (old, new)]
    both = load_registries(f"{move.url} {move.glue_url}")
    move.apicurio.empty()
    moved = load_registries(move.glue_url, [move.map_file])

    for value in values:
        assert read_value(moved, value) == ("readings", 3, event)
    assert read_value(both, values[1]) == ("readings", 3, event)
    with pytest.raises(SchemaNotFoundError):
        read_value(both, values[0])


def test_glue_is_copied_to_a_registry_of_another_kind(move: Move, reading: Reading) -> None:
    move.apicurio.empty()
    move.create(
        "readings",
        *(
            json.dumps(reading(**fields))
            for fields in (
                {}, {"flow": "long"}, {"flow": "string"}, {"flow": "long", "level": "double"},
            )
        ),
        Compatibility="BACKWARD_ALL",
        Description="of a pump",
        Tags={"team": "a"},
    )  # fmt: skip

    code, report = move.copy(move.glue_url, move.url)
    (schema,) = report["schemas"]
    source, target = load_admin(move.glue_url), load_admin(move.url)

    assert code == 0, report
    assert schema["notes"] == ["not copied: description", "not copied: tags"]
    assert [(each["action"], each["newNumber"]) for each in schema["versions"]] == [
        ("register", 1), ("register", 2), ("leave-out", None), ("register", 3),
    ]  # fmt: skip
    mode, definitions = shape(target, "readings")
    old = source.read_schema("readings")
    assert mode is Compatibility.BACKWARD_ALL
    assert definitions == [form(old.versions[at].definition) for at in (0, 1, 3)]
    code, second = move.copy(move.glue_url, move.url)
    assert (code, second["unchanged"]) == (0, True)


def test_confluents_registry_is_copied_to_apicurios(move: Move) -> None:
    url, group = move.apicurio.confluent_url, f"{move.apicurio.own_url}?group=moved"

    code, report = move.copy(url, group)

    assert (code, report["complete"]) == (0, True), report
    names = [each["name"] for each in report["schemas"]]
    assert names == [":readings-key", ":unit", "orders", "readings"]
    for name in names:
        assert shape(load_admin(url), name) == shape(load_admin(group), name)
    assert move.copy(url, group)[1]["unchanged"]


def test_a_deleted_version_is_in_the_map_and_not_in_the_copy(move: Move, reading: Reading) -> None:
    event, url = {"deviceId": "a"}, move.apicurio.confluent_url
    old = load_admin(url).read_schema("readings").versions[0]
    value = encode_frame(SchemaKey.parse(old.id), encode(event, reading()))
    move.apicurio.call("DELETE", "/apis/ccompat/v7/subjects/readings-value/versions/1")

    code, report = move.copy(url, move.glue_url)
    readings = next(each for each in report["schemas"] if each["name"] == "readings")

    assert code == 0, report
    assert [
        (each["number"], each["status"], each["action"], each["newNumber"])
        for each in readings["versions"]
    ] == [
        (1, "DELETING", "leave-out", None), (2, "AVAILABLE", "register", 1),
        (3, "AVAILABLE", "register", 2),
    ]  # fmt: skip
    assert read_value(load_registries(move.glue_url, [move.map_file]), value) == (
        "readings",
        1,
        event,
    )


def test_a_version_that_the_mode_refuses_is_named_and_nothing_of_its_schema_is_copied(
    move: Move, reading: Reading
) -> None:
    apicurio, url, glue_url, copy = move.apicurio, move.url, move.glue_url, move.copy
    path = "/apis/ccompat/v7/config/readings-value"
    apicurio.call("PUT", path, json.dumps({"compatibility": "NONE"}))
    schema = reading() | {"fields": [{"name": "other", "type": "int"}]}
    apicurio.call(
        "POST",
        "/apis/ccompat/v7/subjects/readings-value/versions",
        json.dumps({"schema": json.dumps(schema)}),
    )
    apicurio.call("PUT", path, json.dumps({"compatibility": "BACKWARD"}))

    code, report = copy(url, glue_url)
    by_name = {each["name"]: each for each in report["schemas"]}

    assert (code, report["complete"]) == (1, False)
    (problem,) = by_name["readings"]["problems"]
    assert problem.startswith("version 4 of schema readings is refused by the schema's mode BACK")
    assert by_name["orders"]["action"] == "create"
    assert "readings" not in load_admin(glue_url).list_names()

    code, report = copy(url, glue_url, "--accept-history")

    assert (code, report["complete"]) == (0, True), report
    assert shape(load_admin(url), "readings") == shape(load_admin(glue_url), "readings")
    assert load_backup(report["mapFile"]).kind is load_admin(url).kind


def _mask_ids(text: str) -> str:
    """Return a text without the ids and the path of the map, which differ in each run."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", text)
    return re.sub(r"(confluent|apicurio):\d+", "ID", re.sub(r"map: \S+", "map: FILE", text))


def test_the_page_shows_what_a_move_to_glue_prints(
    move: Move, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs/operate/move-to-glue.md").read_text()
    shown = re.findall(r"^ *```text\n(.*?)^ *```", page, re.MULTILINE | re.DOTALL)
    arguments = ["registry", "copy", move.url, move.glue_url]

    printed = []
    for more in (["--dry-run"], [], []):
        assert main([*arguments, "--map", move.map_file, *more], {}) == 0
        printed.append(capsys.readouterr().out)

    assert [_mask_ids(textwrap.dedent(each)) for each in shown] == [
        _mask_ids(each) for each in printed[:2]
    ] + [_mask_ids("".join(printed[2].splitlines(keepends=True)[-4:]))]
