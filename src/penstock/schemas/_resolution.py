"""Avro's schema resolution: the reader for a writer's type and a reader's type.

Fields match by name, then by the reader's aliases. A field that only the writer has is read and
dropped; a field that only the reader has takes its default. Names of records, enums and fixed
types are compared without their namespace, as in Avro's compatibility rules. A branch of the
writer's union that the reader cannot take is rejected only when a value of it is read.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn

from penstock.errors import SchemaConflictError
from penstock.schemas._defaults import DefaultReader
from penstock.schemas._errors import READ_ERRORS, LocatedError, located, place
from penstock.schemas._readers import (
    PRIMITIVE_READERS,
    Payload,
    Reader,
    array_reader,
    enum_reader,
    fixed_reader,
    map_reader,
    union_reader,
)
from penstock.schemas._types import AvroField, AvroType
from penstock.schemas.logical import check_logical
from penstock.schemas.names import join_path

# The number types that are tried in a reader's union, the most exact one first.
_WIDENINGS: Final = ("long", "double", "float")


class Resolution:
    """Compiles the reader of one pair of schemas; each pair of types is compiled once.

    Records become events if `events` is true: with JSON names and without null fields.
    """

    def __init__(self, *, events: bool = False) -> None:
        self._known: dict[tuple[int, int], Reader | SchemaConflictError] = {}
        self._events = events
        self._defaults = DefaultReader(events=events)

    def compile(self, writer: AvroType, reader: AvroType) -> Reader:
        """Return the function that reads the value of a whole payload.

        Raises:
            SchemaConflictError: the reader cannot take the writer's type.
        """
        return self._resolve(writer, reader, "")

    def _resolve(self, writer: AvroType, reader: AvroType, path: str) -> Reader:
        pair = (id(writer), id(reader))
        if pair not in self._known:
            try:
                self._known[pair] = self._resolve_pair(writer, reader, path)
            except SchemaConflictError as error:
                self._known[pair] = error
        known = self._known[pair]
        if isinstance(known, SchemaConflictError):
            raise known
        return known

    def _resolve_pair(self, writer: AvroType, reader: AvroType, path: str) -> Reader:
        if writer.kind == "union":
            branches = [self._resolve_branch(branch, reader, path) for branch in writer.branches]
            return union_reader(branches)
        if reader.kind == "union":
            return self._choose_branch(writer, reader, path)
        if (writer.kind, reader.kind) in PRIMITIVE_READERS:
            read = PRIMITIVE_READERS[writer.kind, reader.kind]
            return check_logical(read, writer, events=self._events)
        if writer.kind != reader.kind or not _same_name(writer, reader):
            _conflict(path, f"the writer has {writer.label()}, the reader {reader.label()}")
        return self._resolve_parts(writer, reader, path)

    def _resolve_parts(self, writer: AvroType, reader: AvroType, path: str) -> Reader:
        """Resolve two types of the same kind, which is not primitive."""
        if writer.item and reader.item:
            if writer.kind == "array":
                return array_reader(self._resolve(writer.item, reader.item, f"{path}[]"))
            return map_reader(self._resolve(writer.item, reader.item, f"{path}{{}}"))
        if writer.kind == "enum":
            default = reader.attributes.get("default")
            return enum_reader(writer.symbols, frozenset(reader.symbols), default)
        if writer.kind == "record":
            return self._resolve_record(writer, reader, path)
        if writer.size != reader.size:
            _conflict(path, f"the writer has {writer.label()}, the reader {reader.label()}")
        return check_logical(fixed_reader(writer.size), writer, events=self._events)

    def _resolve_branch(self, writer: AvroType, reader: AvroType, path: str) -> Reader:
        """Return the reader of a branch of a writer's union.

        If the reader's type cannot take the branch, the error is raised when a value is read.
        """
        try:
            return self._resolve(writer, reader, path)
        except SchemaConflictError as error:
            message = f"found a value of {writer.label()}, which the reader cannot take ({error})"

        def refuse(_data: Payload, _at: int) -> NoReturn:
            raise LocatedError(SchemaConflictError, message)

        return refuse

    def _choose_branch(self, writer: AvroType, reader: AvroType, path: str) -> Reader:
        """Use the first branch of the reader's union that can take the writer's type."""
        for branch in sorted(reader.branches, key=lambda branch: _rank(writer, branch)):
            try:
                return self._resolve(writer, branch, path)
            except SchemaConflictError:
                continue
        _conflict(path, f"the writer has {writer.label()}, the reader {reader.label()}")

    def _resolve_record(self, writer: AvroType, reader: AvroType, path: str) -> Reader:
        targets = _match_fields(writer, reader, path)
        steps = []
        for field in writer.fields:
            target = targets.get(field.name)
            type_ = target.type if target else field.type
            read = self._resolve(field.type, type_, join_path(path, field.json_name))
            key = self._field_key(target) if target else None
            steps.append((join_path("", field.json_name), key, read))
        read_fields = record_reader(
            steps, [self._field_key(field) for field in reader.fields], nulls=not self._events
        )
        taken = {target.name for target in targets.values()}
        missing = [field for field in reader.fields if field.name not in taken]
        return self._filling_reader(read_fields, missing, path) if missing else read_fields

    def _field_key(self, field: AvroField) -> str:
        return field.json_name if self._events else field.name

    def _filling_reader(self, read: Reader, missing: Sequence[AvroField], path: str) -> Reader:
        """Fill in the defaults of the fields that the writer does not have."""
        defaults = {
            self._field_key(field): self._defaults.read(
                field.type, field.attributes["default"], join_path(path, field.json_name)
            )
            for field in missing
        }
        if self._events:
            defaults = {key: value for key, value in defaults.items() if value is not None}
        inside = sum(map(_count_inside, defaults.values()))
        fresh = {name for name, value in defaults.items() if isinstance(value, list | dict)}

        def read_and_fill(data: Payload, at: int) -> tuple[dict[str, Any], int]:
            data.spend(inside)
            record, end = read(data, at)
            record |= defaults
            for name in fresh:  # copied, or a change to one record would show in all of them
                record[name] = copy.deepcopy(defaults[name])
            return record, end

        return read_and_fill


def record_reader(
    steps: Iterable[tuple[str, str | None, Reader]], keys: Sequence[str], *, nulls: bool
) -> Reader:
    """Return a reader of fields in the writer's order into a record in the reader's order.

    A step has the name for messages, the key in the record, and the reader of a field.
    Null fields are left out unless `nulls` is true.
    """
    blank = dict.fromkeys(keys if nulls else ())
    steps = tuple(steps)
    values = len(keys)

    def read_record(data: Payload, at: int) -> tuple[dict[str, Any], int]:
        data.spend(values)
        record: dict[str, Any] = blank.copy()
        for name, target, read in steps:
            try:
                value, at = read(data, at)
            except READ_ERRORS as error:
                raise located(error, f".{name}") from None
            if target is not None and (nulls or value is not None):
                record[target] = value
        return record, at

    return read_record


def _match_fields(writer: AvroType, reader: AvroType, path: str) -> dict[str, AvroField]:
    """Return the reader's field for the name of each of the writer's fields that matches one."""
    if writer is reader:  # aliases are for other writers, even if they name a field beside them
        return {field.name: field for field in reader.fields}
    written = {field.name for field in writer.fields}
    targets: dict[str, AvroField] = {}
    for field in reader.fields:
        inside = join_path(path, field.json_name)
        names = dict.fromkeys((field.name, *field.aliases))
        sources = [name for name in names if name in written]
        if len(sources) > 1 or any(name in targets for name in sources):
            _conflict(inside, f"the writer's {' and '.join(sources)} match more than one field")
        if not sources and "default" not in field.attributes:
            _conflict(inside, "the writer does not have the field and the reader has no default")
        targets |= dict.fromkeys(sources, field)
    return targets


def _count_inside(value: Any) -> int:
    """Count the values inside a default value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(1 + _count_inside(each) for each in inside)


def _same_name(writer: AvroType, reader: AvroType) -> bool:
    return writer.short_name == reader.short_name or writer.name in reader.aliases


def _rank(writer: AvroType, branch: AvroType) -> int:
    """Return the order in which a branch of the reader's union is tried; 0 comes first."""
    if writer.kind == branch.kind:
        return 0 if writer.name == branch.name else 1
    return 2 + (_WIDENINGS.index(branch.kind) if branch.kind in _WIDENINGS else 0)


def _conflict(path: str, message: str) -> NoReturn:
    raise SchemaConflictError(f"{place(path)}: {message}", path=path)
