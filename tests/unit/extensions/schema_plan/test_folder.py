"""The files of a folder: their names, their parts, and a sentence for each that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.errors import OperationError
from penstock.extensions.schema_plan._names import find_lines
from penstock.extensions.schema_plan.files import Problem, read_commit, read_folder
from penstock.extensions.schema_plan.folder import Folder, load_folder
from penstock.schemas import canonical_form, load_schema

Write = Callable[[Mapping[str, str | bytes]], Path]

_PLACE = '{"type": "record", "name": "acme.Place", "fields": [{"name": "city", "type": "string"}]}'


def _record(name: str, *types: Any) -> str:
    fields = [{"name": f"f{at}", "type": type_} for at, type_ in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files below a folder, and return it."""

    def write(files: Mapping[str, str | bytes]) -> Path:
        folder = tmp_path / "schemas"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write


def _load(folder: Path) -> Folder:
    return load_folder(*read_folder(folder))


def _problems(folder: Path) -> list[str]:
    shown = f"{folder}/"
    return [str(each).replace(shown, "") for each in _load(folder).problems]


def test_a_schema_is_registered_with_its_parts_inside(write: Write) -> None:
    folder = write(
        {
            "sales/order.avsc": _record("acme.Order", "Place", {"type": "array", "items": "Line"}),
            "types/Place.avsc": _PLACE,
            "types/Line.avsc": _record("acme.Line", "long", "acme.Place"),
        }
    )

    loaded = _load(folder)

    assert loaded.problems == ()
    (order,) = loaded.schemas
    place = json.loads(_PLACE)
    line = {"type": "record", "name": "acme.Line", "fields": [
        {"name": "f0", "type": "long"}, {"name": "f1", "type": "acme.Place"},
    ]}  # fmt: skip
    whole = _record("acme.Order", place, {"type": "array", "items": line})
    assert order.name == "order"
    assert order.definition == canonical_form(load_schema(whole))


def test_a_place_is_the_line_of_the_field_in_the_file_that_defines_it(write: Write) -> None:
    order = '{"type": "record",\n "name": "acme.Order", "fields": [\n  {"name": "a",\n'
    order += '   "type": "int"},\n {"name": "p", "type": "Place"}]}'
    folder = write({"order.avsc": order, "types/p.avsc": _PLACE.replace("[{", "[\n{")})
    (found,) = _load(folder).schemas

    assert found.find_place("acme.Order", "a") == (f"{folder}/order.avsc", 3)
    assert found.find_place("acme.Order", "p") == (f"{folder}/order.avsc", 5)
    assert found.find_place("acme.Place", "city") == (f"{folder}/types/p.avsc", 2)
    assert found.find_place("acme.Place", "gone") == (f"{folder}/types/p.avsc", 1)
    assert found.find_place("acme.Order") == (f"{folder}/order.avsc", 1)
    assert found.find_place("other") == (f"{folder}/order.avsc", 1)


def test_lines_are_found_whatever_the_text() -> None:
    text = """[ "null", {"fields" : [ { "doc": "a \\" ] }", "x": [1.5, -2e3, true, null, {}, []],
      "type": {"type":"map","values":{"type":"enum","name":"E","symbols":["A"]}}, "name":"f"} ],
      "type":"record","name":"R"}, "acme.Other" ]"""

    assert find_lines(text) == {
        ("R", ""): 1, ("R", "f"): 1, ("E", ""): 2, ("", "acme.Other"): 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xef\xbb\xbf{}", "line 1: found UTF-8 with a byte order mark, expected UTF-8 without a"
         " byte order mark"),
        (b"\xff\xfe{\x00}\x00", "line 1: found UTF-16, expected UTF-8 without a byte order mark"),
        (b'{"type":\n"caf\xe9"}', "line 2: found the byte 0xe9, expected UTF-8"),
        (b'{"type":\n"record",}', "line 2: the file is not JSON: Expecting property name enclosed"
         " in double quotes"),
        (b"[" * 200_000, "line 1: the file nests too deep, or has a number too long"),
        (b"1" * 5_000, "line 1: the file nests too deep, or has a number too long"),
        (b'{"type": "record"}', "line 1: the schema: found None, expected a name of ASCII letters,"
         " digits and _ that does not start with a digit"),
        (b'{"fields": 1}', "line 1: the schema: found None, expected `type` to be the name of a"
         " type"),
        (b"7", "line 1: the schema: found 7, expected a type's name, an object or a list"),
        (b"", "line 1: the file is not JSON: Expecting value"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_schema_is_named(write: Write, content: bytes, problem: str) -> None:
    folder = write({"sensor.avsc": content, "good.avsc": '"string"'})

    assert _problems(folder) == [f"sensor.avsc, {problem}"]


def test_a_type_that_no_file_has_is_named_with_its_line(write: Write) -> None:
    text = '{"type": "record", "name": "acme.Order", "fields": [\n{"name": "p", "type": "Place"}]}'

    assert _problems(write({"order.avsc": text})) == [
        "order.avsc, line 2: found the type Place, expected one that a file of the folder has"
    ]


def test_a_type_in_two_files_is_refused_where_it_is_used(write: Write) -> None:
    files = {"types/a.avsc": _PLACE, "types/b.avsc": _PLACE, "x.avsc": _record("X", "acme.Place")}
    folder = write(files)

    assert _problems(folder) == [
        f"x.avsc, line 1: the type acme.Place is defined in {folder}/types/a.avsc and "
        f"{folder}/types/b.avsc, expected one file".replace(f"{folder}/", "")
    ]


def test_schemas_may_have_a_type_each_of_one_name(write: Write) -> None:
    place = json.loads(_PLACE)

    assert _problems(write({"a.avsc": _record("A", place), "b.avsc": _record("B", place)})) == []


def test_two_files_of_one_schema_are_refused(write: Write) -> None:
    assert _problems(write({"a/pump.avsc": '"int"', "b/pump.avsc": '"int"'})) == [
        "b/pump.avsc, line 1: a/pump.avsc is the file of schema pump too, expected one"
    ]


def test_a_circle_of_files_is_named(write: Write) -> None:
    found = _problems(write({"a.avsc": _record("A", "B"), "types/b.avsc": _record("B", "A")}))

    circle = "files refer in a circle: types/b.avsc -> a.avsc -> types/b.avsc"
    assert f"a.avsc, line 1: {circle}" in found
    assert all("files refer in a circle" in each for each in found)


def test_a_schema_whose_part_is_wrong_names_the_part_only(write: Write) -> None:
    broken = '{"type": "fixed", "name": "F", "size": -1}'

    (found,) = _problems(write({"a.avsc": _record("A", "F"), "types/f.avsc": broken}))

    assert found.startswith("types/f.avsc, line 1: ")


def test_links_that_lead_nowhere_are_named(write: Write) -> None:
    folder = write({"a.avsc": '"int"'})
    (folder / "b.avsc").symlink_to("b.avsc")
    (folder / "c.avsc").symlink_to("missing")
    (folder / "loop").symlink_to(".")

    assert _problems(folder) == [
        "b.avsc, line 1: the file cannot be read: Too many levels of symbolic links",
        "c.avsc, line 1: the file cannot be read: No such file or directory",
        "loop, line 1: found a symbolic link to a folder, expected the folder itself",
    ]


def test_files_and_folders_that_may_not_be_read_are_named(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write({"a/b.avsc": '"int"', "c.avsc": '"int"'})
    scandir = os.scandir

    def deny(path: str) -> Any:
        if str(path).endswith("/a"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", deny)
    monkeypatch.setattr(Path, "read_bytes", Mock(side_effect=PermissionError(13, "not yours")))

    assert _problems(folder) == [
        "a, line 1: the folder cannot be read: Permission denied",
        "c.avsc, line 1: the file cannot be read: not yours",
    ]


def test_a_folder_below_a_folder_types_has_schemas(tmp_path: Path) -> None:
    folder = tmp_path / "types" / "schemas"
    folder.mkdir(parents=True)
    (folder / "a.avsc").write_text('"int"')
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "one")

    for read in (read_folder(folder), read_commit(folder, "HEAD")):
        assert [each.name for each in load_folder(*read).schemas] == ["a"]


def test_hidden_folders_and_other_files_are_left_out(write: Write) -> None:
    folder = write({".git/a.avsc": "x", "b.avsc": '"int"', "b.json": "x"})

    assert [each.name for each in _load(folder).schemas] == ["b"]


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"x is no folder, expected one with \.avsc files"):
        read_folder(tmp_path / "x")


# --- git ------------------------------------------------------------------------------------


def _git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


def test_a_commit_has_the_files_as_they_were(write: Write) -> None:
    odd = "größe\nx.avsc"
    folder = write({"a.avsc": '"int"', "types/p.avsc": _PLACE, odd: '"long"', "b.txt": "x"})
    (folder / "link.avsc").symlink_to("a.avsc")
    _git(folder.parent, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "one")
    (folder / "a.avsc").write_text('"long"')

    files, problems = read_commit(folder, "HEAD")

    assert {each.path: each.content.decode() for each in files} == {
        f"HEAD:{folder}/a.avsc": '"int"',
        f"HEAD:{folder}/types/p.avsc": _PLACE,
        f"HEAD:{folder}/{odd}": '"long"',
    }
    path = f"HEAD:{folder}/link.avsc"
    assert problems == [Problem(path, 1, "found a symbolic link, expected the file itself")]


def test_a_folder_that_a_commit_lacks_is_empty_there(write: Write) -> None:
    folder = write({})
    _git(folder.parent, "init", "-q")
    _git(folder.parent, "commit", "-qm", "none", "--allow-empty")

    assert read_commit(folder, "HEAD") == ([], [])


@pytest.mark.parametrize("ref", ["nowhere", "", "--help", "HEAD^{tree}"])
def test_a_commit_that_is_missing_is_named(write: Write, ref: str) -> None:
    folder = write({})
    _git(folder.parent, "init", "-q")
    _git(folder.parent, "commit", "-qm", "none", "--allow-empty")

    with pytest.raises(OperationError) as caught:
        read_commit(folder, ref)
    assert str(caught.value) == (
        f"found no commit {ref!r} in the repository of {folder}; fetch it first, since the clone "
        "of a pipeline often has one commit only"
    )


def test_a_folder_outside_of_git_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write({})
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))

    with pytest.raises(OperationError, match="schemas is in no git repository"):
        read_commit(folder, "HEAD")


def test_a_machine_without_git_is_told_so(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(OperationError, match="git cannot be run: No such file or directory"):
        read_commit(write({}), "HEAD")
