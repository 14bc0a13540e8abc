"""The inference of an Avro schema from one JSON event."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from penstock.errors import EventLimitError, EventValueError, SchemaConflictError
from penstock.schemas._conversion import convert
from penstock.schemas._json import (
    check_depth,
    check_text,
    check_values,
    scalar_kind,
    shown,
)
from penstock.schemas._limits import MAX_DEFINITION_CHARACTERS
from penstock.schemas._merging import merge_types, unify_names
from penstock.schemas._normal_form import to_schema
from penstock.schemas._shape import MAX_NAME_CHARACTERS
from penstock.schemas._types import NUMBERS, AvroField, AvroType, resolve
from penstock.schemas.definition import Schema
from penstock.schemas.logical import DECIMAL, Numbers
from penstock.schemas.names import avro_name, join_path
from penstock.schemas.times import Times, fit_own_time, is_time_text

_MAX_FIELDS = 2_000  # of one object; more would soon exceed Glue's limit for a definition
_SHOWN = 40
_FIELD_DEPTH = 2  # of the fields of the event itself
# The characters that a definition takes for a field besides its name, at least.
_FIELD_CHARACTERS = 49

_NULL, _RECORD = AvroType("null"), AvroType("record")
_EMPTY = {kind: AvroType(kind) for kind in ("array", "map")}
_TIMES = {
    Times.TEXT: AvroType("string"),
    **{
        each: AvroType("long", attributes={"logicalType": str(each)})
        for each in (Times.MILLIS, Times.MICROS)
    },
}
_SCALARS = {kind: AvroType(kind) for kind in ("boolean", "long", "double", "string")}


@dataclass(frozen=True, slots=True)
class TypeRules:
    """The types of fields that have none yet.

    Attributes:
        numbers: the type of numbers.
        times: the type of texts in ISO 8601 with a zone.
        plain: fields of the event itself whose values keep the types of JSON: keys and orders of
            rows are made of text, whole numbers and doubles.
        event_time: the base field that holds a time, as a number or as text.
        keeps_authored: whether known fields keep what an author wrote of them, such as `doc`. Under
            the policy exact they do not, so that an event has one form whatever is written later.
    """

    numbers: Numbers = Numbers.DOUBLE
    times: Times = Times.TEXT
    plain: Collection[str] = ()
    event_time: str | None = None
    keeps_authored: bool = True

    @property
    def type_of_times(self) -> AvroType:
        """The type of a text that is a time."""
        return _TIMES[self.times]

    def find(self, value: Any, at: _Place) -> AvroType | None:
        """Return the type of a value if the settings give it another type than that of JSON."""
        if self.numbers is Numbers.DOUBLE and self.times is Times.TEXT:
            return None
        if at.depth == _FIELD_DEPTH and at.path in [join_path("", name) for name in self.plain]:
            return None
        if self.times is not Times.TEXT and is_time_text(value):
            return self.type_of_times
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        return DECIMAL if self.numbers is Numbers.DECIMAL and is_number else None


_RULES = TypeRules()


def infer_schema(
    event: Mapping[str, Any],
    name: str,
    known: Schema | None = None,
    base: Sequence[Mapping[str, Any]] = (),
    rules: TypeRules = _RULES,
) -> Schema:
    """Infer the record schema of an event; the order of its keys does not matter.

    Args:
        event: The event, as JSON values.
        name: The name of the record; nested records are named by their path below it.
        known: The merge of all versions; it decides the types that the event leaves open.
        base: Required fields that come first, even if the event does not have them. A type of
            the versions before is taken that holds the same values, such as timestamp-millis.
        rules: The types of fields that `known` does not have; doubles and text by default.

    Raises:
        EventValueError: a value that no schema carries unchanged.
        EventLimitError: too deep, too many values or fields, too long a definition.
        SchemaConflictError: a value that contradicts the known type.
    """
    check_values(event)
    known_type = None if known is None else resolve(known)
    required = [
        _base_field(field, known_type, event, rules)
        for field in resolve({"type": "record", "name": name, "fields": list(base)}).fields
    ]
    for field in required:
        if field.json_name in event:
            _check_base(field, event[field.json_name], rules)
    taken = {field.json_name for field in required}
    optional = {key: value for key, value in event.items() if key not in taken}
    record = unify_names(_Inference(rules).infer_record(optional, known_type, name, _Place(name)))
    schema = to_schema(replace(record, fields=(*required, *record.fields)))
    _check_size(schema)
    # An item of a list may still not fit the merged type of all items: an integer that a double
    # would round, an empty list among strings.
    convert(optional, record, "")
    return schema


def _base_field(
    base: AvroField, known: AvroType | None, event: Mapping[str, Any], rules: TypeRules
) -> AvroField:
    """Return the known field if it holds the same values, as one with a logical type does."""
    fields = {field.json_name: field for field in known.fields} if known else {}
    was = fields.get(base.json_name)
    type_ = _present(was.type) if was else None
    is_time = base.json_name == rules.event_time
    if was and type_ and type_.kind in {base.type.kind, *(["string"] if is_time else ())}:
        return was
    if is_time and isinstance(event.get(base.json_name), str):
        return replace(base, type=rules.type_of_times)
    return base


def _check_base(field: AvroField, value: Any, rules: TypeRules) -> None:
    # A version of another program may allow null, but an event must have a value.
    type_ = _present(field.type) or field.type
    if field.json_name == rules.event_time:
        value = fit_own_time(value, str((*type_.logical, type_.kind)[0]), field.json_name)
    convert(value, type_, field.json_name)


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a value: the record around it, and the Avro name of its field there."""

    record: str
    field: str = ""
    path: str = ""
    depth: int = 1

    def inside(self, path: str, record: str = "", field: str = "") -> _Place:
        """Return the place one level down."""
        return _Place(record or self.record, field or self.field, path, self.depth + 1)


class _Inference:
    """The inference of one event.

    Equal types are one object, so the items of a list are merged once for each different type.
    """

    def __init__(self, rules: TypeRules) -> None:
        self._rules = rules
        self._fields: dict[tuple[str, str, int, int], AvroField] = {}
        self._known: dict[int, dict[str, AvroField]] = {}
        self._types: dict[tuple[Any, ...], AvroType] = {}
        self._avro_names: dict[str, str] = {}
        self._full_names: dict[tuple[str, str], str] = {}
        self._names: set[tuple[str, str]] = set()
        self._characters = 0  # of the definition so far, at least

    def infer_record(
        self, event: Mapping[str, Any], known: AvroType | None, name: str, at: _Place
    ) -> AvroType:
        """Return the record type of an object: the fields that the event or `known` decides."""
        _check_count(len(event), at.path)
        known_fields = self._list_fields(known) if known else {}
        fields = []
        for key, value in event.items():
            path = join_path(at.path, key)
            check_text(key, path)
            was = known_fields.get(key)
            field = was.name if was else self._avro_name(key)
            known_type = _present(was.type) if was else None
            type_ = self._infer(value, known_type, at.inside(path, name, field))
            if type_ is not None:
                fields.append(self._field(name, key, type_, was))
        fields.sort(key=lambda field: field.name)
        empty = known if known and self._rules.keeps_authored else _RECORD
        shape = (name, id(empty), *map(id, fields))
        return self._once(
            shape, lambda: replace(empty, name=name, aliases=(), fields=tuple(fields))
        )

    def _infer(self, value: Any, known: AvroType | None, at: _Place) -> AvroType | None:
        """Return the type of a value, or None if neither the value nor `known` decides it."""
        if value is None:
            return known
        if known is not None and known.kind == "union":
            return _known_union(value, known, at.path)
        if isinstance(value, dict):
            check_depth(at.depth, at.path)
            return self._infer_object(value, known, at)
        if isinstance(value, list):
            check_depth(at.depth, at.path)
            if known is not None and known.kind != "array":
                raise _contradiction(value, known, at.path)
            return self._infer_items(value, known, at.inside(f"{at.path}[]"))
        if known is None and (type_ := self._rules.find(value, at)):
            convert(value, type_, at.path)
            return type_
        return _infer_scalar(value, known, at.path)

    def _infer_object(
        self, value: dict[str, Any], known: AvroType | None, at: _Place
    ) -> AvroType | None:
        if known is not None and known.kind == "map":
            return self._infer_items(list(value.values()), known, at.inside(f"{at.path}{{}}"))
        if known is not None and known.kind != "record":
            raise _contradiction(value, known, at.path)
        name = known.name if known else self._full_name(at.record, at.field)
        record = self.infer_record(value, known, name, at)
        return record if record.fields else known

    def _infer_items(self, items: list[Any], known: AvroType | None, at: _Place) -> AvroType | None:
        known_item = _present(known.item) if known and known.item else None
        found = (self._infer(item, known_item, at) for item in items)
        types = list({id(type_): type_ for type_ in found if type_ is not None}.values())
        if not types:
            return known
        empty = known or _EMPTY["array"]
        if not self._rules.keeps_authored:
            empty = _EMPTY[empty.kind]
        if empty.item is None or empty.item.nullable or any(item is None for item in items):
            types.insert(0, _NULL)
        key = (id(empty), *map(id, types))
        return self._once(key, lambda: _list_type(empty, types, at.path))

    def _list_fields(self, known: AvroType) -> dict[str, AvroField]:
        if id(known) not in self._known:
            self._known[id(known)] = {field.json_name: field for field in known.fields}
        return self._known[id(known)]

    def _field(
        self, record: str, json_name: str, type_: AvroType, was: AvroField | None
    ) -> AvroField:
        name = was.name if was else self._avro_name(json_name)
        if (record, name) not in self._names:
            self._names.add((record, name))
            self._spend(_FIELD_CHARACTERS + len(name))
        key = (record, json_name, id(type_), id(was))
        if key not in self._fields:
            attributes: Mapping[str, Any] = {} if name == json_name else {"jsonName": json_name}
            if was and self._rules.keeps_authored:
                attributes = was.attributes
            self._fields[key] = _optional_field(name, type_, attributes)
        return self._fields[key]

    def _avro_name(self, key: str) -> str:
        if key not in self._avro_names:
            # Escapes would make it up to eight times as long.
            name = key if len(key) > MAX_NAME_CHARACTERS else avro_name(key)
            if len(name) > MAX_NAME_CHARACTERS:
                raise EventLimitError(
                    f"found a field {key[:_SHOWN]!r}... whose name takes {len(name):,} "
                    f"characters in a schema, expected at most {MAX_NAME_CHARACTERS}"
                )
            self._avro_names[key] = name
        return self._avro_names[key]

    def _full_name(self, record: str, field: str) -> str:
        """Return the name of the record in a field; it has the names of all records around it."""
        if (record, field) not in self._full_names:
            self._spend(len(record) + len(field))
            self._full_names[record, field] = f"{record}.{field}"
        return self._full_names[record, field]

    def _spend(self, characters: int) -> None:
        """Count characters of the definition before the names are made and kept."""
        self._characters += characters
        if self._characters > MAX_DEFINITION_CHARACTERS:
            raise _too_long(f"more than {MAX_DEFINITION_CHARACTERS:,}")

    def _once(self, key: tuple[Any, ...], build: Callable[[], AvroType]) -> AvroType:
        if key not in self._types:
            self._types[key] = build()
        return self._types[key]


def _list_type(empty: AvroType, types: Sequence[AvroType], path: str) -> AvroType:
    """Return an array or map with an item of any of the types."""
    try:
        return replace(empty, item=merge_types(types, path))
    except SchemaConflictError as error:
        labels = " and ".join(sorted({each.label() for each in types if each is not _NULL}))
        message = f"{path}: found {labels}, expected items that one type can hold"
        raise EventValueError(message, path=path) from error


def _infer_scalar(value: Any, known: AvroType | None, path: str) -> AvroType:
    if known is not None and _accepts(known, value):
        return known
    kind = scalar_kind(value, path)
    if known is None:
        return _SCALARS[kind]
    if kind not in NUMBERS or known.kind not in NUMBERS or known.logical:
        raise _contradiction(value, known, path)
    whole = kind == "long" and known.kind in {"int", "long"}
    return _SCALARS["long" if whole else "double"]


def _known_union(value: Any, known: AvroType, path: str) -> AvroType:
    if not _accepts(known, value):
        raise _contradiction(value, known, path)
    return known


def _accepts(type_: AvroType, value: Any) -> bool:
    try:
        convert(value, type_, "")
    except EventValueError:
        return False
    return True


def _present(type_: AvroType) -> AvroType | None:
    """Return the only branch besides null, the type itself if there are several, or None."""
    branches = [branch for branch in type_.branches or (type_,) if branch.kind != "null"]
    return type_ if len(branches) > 1 else next(iter(branches), None)


def _optional_field(name: str, type_: AvroType, attributes: Mapping[str, Any]) -> AvroField:
    branches = tuple(branch for branch in type_.branches or (type_,) if branch.kind != "null")
    union = AvroType("union", branches=(_NULL, *branches))
    return AvroField(name, union, attributes={**attributes, "default": None})


def _contradiction(value: Any, known: AvroType, path: str) -> SchemaConflictError:
    return SchemaConflictError(
        f"{path}: found {shown(value)}, expected {known.label()} as in the versions before",
        path=path,
    )


def _check_count(fields: int, path: str) -> None:
    if fields > _MAX_FIELDS:
        raise EventLimitError(
            f"{path or 'the event'}: found {fields:,} fields, expected at most "
            f"{_MAX_FIELDS:,} in one object",
            path=path,
        )


def _check_size(schema: Schema) -> None:
    characters = len(json.dumps(schema, separators=(",", ":")))
    if characters > MAX_DEFINITION_CHARACTERS:
        raise _too_long(f"{characters:,}")


def _too_long(characters: str) -> EventLimitError:
    return EventLimitError(
        f"found an event whose schema takes {characters} characters, "
        f"expected at most {MAX_DEFINITION_CHARACTERS:,}"
    )
