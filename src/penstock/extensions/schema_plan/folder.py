"""A folder of schemas: a file for each schema, whose parts may be in files of their own.

The schema of `sensor.avsc` is called `sensor`. Files in a folder `types` are no schemas: they hold
types that schemas refer to by their full names, and a schema is registered with them inside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from penstock.errors import SchemaError
from penstock.extensions.schema_plan._names import find_lines, list_mentions
from penstock.extensions.schema_plan.files import SUFFIX, Problem, SourceFile
from penstock.schemas import Schema, inline_references, load_canonical, load_schema

_MARKS: Final = (
    (b"\xef\xbb\xbf", "UTF-8 with a byte order mark"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """The schema of a file, its text as it is registered, and the files of its parts."""

    name: str
    path: str
    schema: Schema
    definition: str
    parts: tuple[_Source, ...]

    def find_place(self, record: str, name: str = "") -> tuple[str, int]:
        """Return the file and line of a type or one of its fields; else those of the type."""
        for key in ((record, name), (record, "")):
            for source in self.parts:
                if key in source.lines:
                    return source.path, source.lines[key]
        return self.path, 1


@dataclass(frozen=True, slots=True)
class Folder:
    """The schemas of a folder in the order of their names, and what is wrong with its files."""

    schemas: tuple[SchemaFile, ...]
    problems: tuple[Problem, ...]


@dataclass(slots=True)
class _Source:
    """A file that is JSON: the names that it defines and uses, and their lines if asked for."""

    path: str
    text: str
    is_type: bool
    defined: set[str] = field(default_factory=set)
    used: list[tuple[str, ...]] = field(default_factory=list)
    _lines: dict[tuple[str, str], int] | None = None

    @property
    def lines(self) -> dict[tuple[str, str], int]:
        """The lines of its types, fields and uses of names."""
        if self._lines is None:
            self._lines = find_lines(self.text)
        return self._lines


def load_folder(files: Sequence[SourceFile], problems: Sequence[Problem] = ()) -> Folder:
    """Return the schemas of files; a file that is wrong, or whose parts are, has none."""
    found = list(problems)
    sources = [source for each in files if (source := _read_source(each, found))]
    loader = _Loader(sources, found)
    schemas: dict[str, SchemaFile] = {}
    for source in sources:
        loaded = loader.load(source)
        if loaded is None or source.is_type:
            continue
        if other := schemas.get(loaded.name):
            message = f"{other.path} is the file of schema {loaded.name} too, expected one"
            found.append(Problem(source.path, 1, message))
        schemas.setdefault(loaded.name, loaded)
    ordered = tuple(schemas[name] for name in sorted(schemas))
    unique = sorted(set(found), key=lambda each: (each.path, each.line, each.message))
    return Folder(ordered, tuple(unique))


def _read_source(file: SourceFile, problems: list[Problem]) -> _Source | None:
    for mark, found in _MARKS:
        if file.content.startswith(mark):
            message = f"found {found}, expected UTF-8 without a byte order mark"
            problems.append(Problem(file.path, 1, message))
            return None
    try:
        text = file.content.decode()
        tree = json.loads(text)
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        message = f"found the byte 0x{file.content[error.start]:02x}, expected UTF-8"
        problems.append(Problem(file.path, line, message))
        return None
    except json.JSONDecodeError as error:
        problems.append(Problem(file.path, error.lineno, f"the file is not JSON: {error.msg}"))
        return None
    except (RecursionError, ValueError):
        problems.append(Problem(file.path, 1, "the file nests too deep, or has a number too long"))
        return None
    return _scan_names(_Source(file.path, text, file.is_type), tree)


def _scan_names(source: _Source, tree: Any) -> _Source:
    for each in list_mentions(tree):
        if each.is_use:
            source.used.append(each.names)
        else:
            source.defined.add(each.names[0])
    return source


class _Loader:
    """Puts the parts of schemas together."""

    def __init__(self, sources: Sequence[_Source], problems: list[Problem]) -> None:
        self._problems = problems
        self._owners: dict[str, list[_Source]] = {}
        for source in sources:
            for name in source.defined:
                self._owners.setdefault(name, []).append(source)
        self._loaded: dict[str, SchemaFile | None] = {}

    def load(self, source: _Source) -> SchemaFile | None:
        """Return the schema of a file; None if it has a problem, which is listed."""
        if source.path not in self._loaded:
            self._loaded[source.path] = self._load_schema(source)
        return self._loaded[source.path]

    def _load_schema(self, source: _Source) -> SchemaFile | None:
        count = len(self._problems)
        parts = self._list_parts(source, (source,))
        if len(self._problems) > count:
            return None
        if any(self.load(part) is None for part in parts):
            return None  # the problem of the part is listed
        try:
            text = source.text
            if parts:
                text = inline_references(text, [part.text for part in parts])
            schema, definition = load_canonical(text)
            if len(definition) > len(text):  # with full names it may exceed the limit of length
                load_schema(definition)
        except SchemaError as error:
            self._problems.append(Problem(source.path, 1, str(error)))
            return None
        name = Path(source.path).name.removesuffix(SUFFIX)
        return SchemaFile(name, source.path, schema, definition, (source, *parts))

    def _list_parts(self, source: _Source, above: tuple[_Source, ...]) -> list[_Source]:
        """Return the files of the types that a file uses, each after those that it uses."""
        parts: dict[str, _Source] = {}
        for owner in self._list_owners(source):
            if owner in above:
                circle = [*above[above.index(owner) :], owner]
                shown = " -> ".join(each.path for each in circle)
                self._problems.append(Problem(source.path, 1, f"files refer in a circle: {shown}"))
                return []
            for part in [*self._list_parts(owner, (*above, owner)), owner]:
                parts.setdefault(part.path, part)
        return list(parts.values())

    def _list_owners(self, source: _Source) -> Iterator[_Source]:
        """Yield the other files that define the types that a file uses."""
        for names in dict.fromkeys(source.used):
            if any(name in source.defined for name in names):
                continue
            owners = next((self._owners[name] for name in names if name in self._owners), [])
            line = source.lines.get(("", names[0]), 1) if len(owners) != 1 else 1
            if not owners:
                message = f"found the type {names[-1]}, expected one that a file of the folder has"
                self._problems.append(Problem(source.path, line, message))
            elif len(owners) > 1:
                shown = " and ".join(sorted(each.path for each in owners))
                message = f"the type {names[-1]} is defined in {shown}, expected one file"
                self._problems.append(Problem(source.path, line, message))
            else:
                yield owners[0]
