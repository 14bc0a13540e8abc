"""Avro's rules for reading a writer's data, and the modes in which a registry applies them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from penstock.schemas._types import AvroField, AvroType, resolve
from penstock.schemas.definition import Schema
from penstock.schemas.names import join_path

# The writer's types that a reader's type takes besides its own (Avro 1.12, "Schema Resolution").
_PROMOTIONS = {
    "long": {"int"},
    "float": {"int", "long"},
    "double": {"int", "long", "float"},
    "bytes": {"string"},
    "string": {"bytes"},
}
_SHOWN_SYMBOLS = 5
_MISSING_BRANCH = "MISSING_UNION_BRANCH"


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """One reason why a reader cannot read a writer's data.

    `kind` is Avro's name for it. `path` has the names of JSON, and leads to the cause: Avro finds a
    missing branch where a branch of the reader's union is the writer's type with other fields.
    """

    kind: str
    path: str
    message: str

    def __str__(self) -> str:
        """Return the path and the reason in one sentence."""
        return f"{self.path or 'the schema'}: {self.message}"


def check_compatibility(reader: Schema, writer: Schema) -> tuple[Incompatibility, ...]:
    """Return the reasons why the reader cannot read all data of the writer; empty if it can."""
    return _compare(resolve(reader, recursive=True), resolve(writer, recursive=True))


def check_both_ways(
    new: Schema, earlier: Iterable[Schema]
) -> Iterator[tuple[tuple[Incompatibility, ...], tuple[Incompatibility, ...]]]:
    """Yield for each earlier version why the new one cannot read it, and it not the new one."""
    type_ = resolve(new, recursive=True)
    for old in (resolve(each, recursive=True) for each in earlier):
        yield _compare(type_, old), _compare(old, type_)


def _compare(reader: AvroType, writer: AvroType) -> tuple[Incompatibility, ...]:
    return _Check().compare(reader, writer, "")


class _Check:
    """One comparison; a pair of types whose comparison is under way counts as compatible."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], tuple[Incompatibility, ...]] = {}

    def compare(self, reader: AvroType, writer: AvroType, path: str) -> tuple[Incompatibility, ...]:
        pair = (id(reader), id(writer))
        if pair not in self._seen:
            self._seen[pair] = ()
            self._seen[pair] = tuple(self._compare(reader, writer, path))
        return self._seen[pair]

    def _compare(self, reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
        if writer.kind == "union":
            return self._compare_writer_union(reader, writer, path)
        if reader.kind == "union":
            return self._compare_reader_union(reader, writer, path)
        if reader.kind != writer.kind:
            promotes = writer.kind in _PROMOTIONS.get(reader.kind, ())
            message = f"the reader expects {reader.label()}, the writer wrote {writer.label()}"
            return [] if promotes else [Incompatibility("TYPE_MISMATCH", path, message)]
        if reader.item is not None and writer.item is not None:
            inside = f"{path}{'[]' if reader.kind == 'array' else '{}'}"
            return list(self.compare(reader.item, writer.item, inside))
        return [*_compare_names(reader, writer, path), *self._compare_parts(reader, writer, path)]

    def _compare_reader_union(
        self, reader: AvroType, writer: AvroType, path: str
    ) -> list[Incompatibility]:
        found: dict[int, tuple[Incompatibility, ...]] = {}
        # The branch of the writer's kind first: most often it is the one that reads the data.
        for branch in sorted(reader.branches, key=lambda each: each.kind != writer.kind):
            found[id(branch)] = self.compare(branch, writer, path)
            if not found[id(branch)]:
                return []
        alike = [branch for branch in reader.branches if _is_alike(branch, writer)]
        if len(alike) != 1:
            return [_missing_branch(reader, writer, path)]
        return [replace(each, kind=_MISSING_BRANCH) for each in found[id(alike[0])]]

    def _compare_writer_union(
        self, reader: AvroType, writer: AvroType, path: str
    ) -> list[Incompatibility]:
        found = (self.compare(reader, branch, path) for branch in writer.branches)
        return list(chain.from_iterable(found))

    def _compare_parts(
        self, reader: AvroType, writer: AvroType, path: str
    ) -> list[Incompatibility]:
        if reader.kind == "record":
            return self._compare_fields(reader, writer, path)
        if reader.size != writer.size:
            message = f"the reader expects {reader.size} bytes, the writer wrote {writer.size}"
            return [Incompatibility("FIXED_SIZE_MISMATCH", path, message)]
        known = frozenset(reader.symbols)
        missing = [symbol for symbol in writer.symbols if symbol not in known]
        if missing and "default" not in reader.attributes:
            more = ", ..." if len(missing) > _SHOWN_SYMBOLS else ""
            shown = ", ".join(missing[:_SHOWN_SYMBOLS])
            message = f"the reader lacks the writer's symbols {shown}{more}"
            return [Incompatibility("MISSING_ENUM_SYMBOLS", path, message)]
        return []

    def _compare_fields(
        self, reader: AvroType, writer: AvroType, path: str
    ) -> list[Incompatibility]:
        found: list[Incompatibility] = []
        written = {each.name: each for each in writer.fields}
        for field in reader.fields:
            inside = join_path(path, field.json_name)
            sources = [written[name] for name in (field.name, *field.aliases) if name in written]
            if len(sources) == 1:
                found.extend(self.compare(field.type, sources[0].type, inside))
            elif sources:
                found.append(_ambiguous(sources, inside))
            elif "default" not in field.attributes:
                message = "the reader requires the field, which the writer does not have"
                kind = "READER_FIELD_MISSING_DEFAULT_VALUE"
                found.append(Incompatibility(kind, inside, message))
        return found


def _compare_names(reader: AvroType, writer: AvroType, path: str) -> list[Incompatibility]:
    if reader.short_name == writer.short_name or writer.name in reader.aliases:
        return []
    message = f"the reader expects {reader.kind} {reader.name}, the writer wrote {writer.name}"
    return [Incompatibility("NAME_MISMATCH", path, message)]


def _is_alike(branch: AvroType, writer: AvroType) -> bool:
    """Return whether a branch is the writer's type, with other parts."""
    return branch.kind == writer.kind and not _compare_names(branch, writer, "")


def _missing_branch(reader: AvroType, writer: AvroType, path: str) -> Incompatibility:
    message = f"the reader expects {reader.label()}, the writer may write {writer.label()}"
    return Incompatibility(_MISSING_BRANCH, path, message)


def _ambiguous(sources: list[AvroField], path: str) -> Incompatibility:
    names = " and ".join(each.json_name for each in sources)
    message = f"the reader's name and aliases match more than one field of the writer: {names}"
    return Incompatibility("AMBIGUOUS_FIELD", path, message)


class Compatibility(StrEnum):
    """A registry's rule for new versions of a schema."""

    NONE = "NONE"
    DISABLED = "DISABLED"
    BACKWARD = "BACKWARD"
    BACKWARD_ALL = "BACKWARD_ALL"
    FORWARD = "FORWARD"
    FORWARD_ALL = "FORWARD_ALL"
    FULL = "FULL"
    FULL_ALL = "FULL_ALL"


def check_mode(
    new: Schema, earlier: Sequence[Schema], mode: Compatibility
) -> tuple[Incompatibility, ...]:
    """Return the reasons why the mode rejects a new version after the earlier ones, oldest first.

    The _ALL modes compare with every earlier version, the other modes with the last one given.
    The registry decides where the comparison starts: it passes only the versions from there on.
    """
    if mode is Compatibility.NONE or not earlier:
        return ()
    if mode is Compatibility.DISABLED:
        message = f"compatibility is {mode}, so the schema accepts no new version"
        return (Incompatibility("VERSIONS_DISABLED", "", message),)
    direction = mode.removesuffix("_ALL")
    found: dict[Incompatibility, None] = {}
    for old in earlier if mode.endswith("_ALL") else earlier[-1:]:
        if direction != Compatibility.FORWARD:
            found |= dict.fromkeys(check_compatibility(reader=new, writer=old))
        if direction != Compatibility.BACKWARD:
            found |= dict.fromkeys(check_compatibility(reader=old, writer=new))
    return tuple(found)
