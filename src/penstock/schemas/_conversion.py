"""The conversion of a JSON value to the value that the Avro encoder takes.

A value that would change, such as a number that would be rounded, is rejected. The values of the
record are counted before they are made, as the decoder counts them: an item of a list has every
field that any other item has, so a short event can become a large record.

A schema is inferred from events, or it is given and the event must fit it:

                        inferred (`convert`)        given (`Fitting`)
    unknown field       ignored if empty            rejected
    missing field       null                        the schema's default, else null
    bytes and fixed     rejected                    a string in base64
    decimal             a number                    a number
    timestamp           a number as it is, or       the same
                        a text in ISO 8601
    float               rejected if rounded         the nearest, with all digits of the event
"""

from __future__ import annotations

import struct
from binascii import a2b_base64
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self

from penstock.errors import EventValueError
from penstock.schemas._defaults import DefaultReader
from penstock.schemas._json import (
    MAX_DEPTH,
    MAX_VALUES,
    refused,
    scalar_kind,
    too_many,
)
from penstock.schemas._types import INTEGER_LIMITS, AvroField, AvroType, holds
from penstock.schemas.logical import decimal_of, find_limit, write_decimal
from penstock.schemas.names import join_path
from penstock.schemas.times import Times, fit_time


def convert(value: Any, type_: AvroType, path: str) -> Any:
    """Convert a JSON value to a value of the type.

    Raises:
        EventValueError: the type does not hold the value.
        EventLimitError: the converted value has too many values.
    """
    return _Conversion().convert(value, type_, path)


class Fitting:
    """Converts many events to records of one type that was not inferred from them."""

    def __init__(self, record: AvroType) -> None:
        self._record = record
        self._fields = {field.json_name: field for field in record.fields}
        self._plans: dict[int, _Plan] = {}
        self._defaults = DefaultReader(writing=True)

    def fit(self, event: Mapping[str, Any], base: Mapping[str, Any]) -> Any:
        """Convert an event; a base field is used if the type has a field that holds its value.

        Raises:
            EventValueError: the event does not fit the type.
            EventLimitError: the converted value has too many values.
        """
        conversion = _Conversion(self._plans, self._defaults)
        return conversion.convert({**self.hold(base), **event}, self._record, "")

    def hold(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """Return the base fields that the type has a field for."""
        return {name: value for name, value in base.items() if self._holds(name, value)}

    def _holds(self, name: str, value: Any) -> bool:
        field = self._fields.get(name)
        if field is None:
            return False
        kind, logical = ("string", ()) if isinstance(value, str) else ("long", _TIMESTAMPS)
        return any(
            branch.kind == kind and (not branch.logical or branch.logical[0] in logical)
            for branch in field.type.branches or (field.type,)
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """The fields of a record by JSON name, and a record of what missing fields become.

    `required` fields must not be missing; `weights` has the values inside each default.
    """

    fields: dict[str, AvroField]
    required: list[AvroField]
    blank: dict[str, Any]
    weights: dict[str, int]

    @classmethod
    def of(cls, record: AvroType, defaults: DefaultReader | None) -> Self:
        given = [field for field in record.fields if defaults and "default" in field.attributes]
        filled = {
            field.name: defaults.read(field.type, field.attributes["default"], field.name)
            for field in given
            if defaults
        }
        return cls(
            {field.json_name: field for field in record.fields},
            [
                field
                for field in record.fields
                if not (field.type.nullable or field.type.kind == "null" or field.name in filled)
            ],
            dict.fromkeys(field.name for field in record.fields) | filled,
            {field.json_name: _weigh(filled[field.name]) for field in given},
        )


class _Conversion:
    """The conversion of one value, and the number of values that it may still become.

    With `defaults` the type is given, without it is inferred.
    """

    def __init__(
        self, plans: dict[int, _Plan] | None = None, defaults: DefaultReader | None = None
    ) -> None:
        self._left = MAX_VALUES
        self._tries = _TRIED_SHARE * MAX_VALUES
        self._plans: dict[int, _Plan] = {} if plans is None else plans
        self._defaults = defaults
        self._is_given = defaults is not None

    def convert(self, value: Any, type_: AvroType, path: str) -> Any:
        match type_.kind:
            case "union":
                return self._convert_branch(value, type_, path)
            case "record" if isinstance(value, Mapping):
                return self._convert_record(value, type_, path)
            case "array" if isinstance(value, list) and type_.item:
                return self._convert_array(value, type_.item, path)
            case "map" if isinstance(value, Mapping) and type_.item:
                return self._convert_map(value, type_.item, path)
            case "null" if value is None:
                return None
        convert_scalar = _convert_given if self._is_given else _convert_scalar
        return convert_scalar(value, type_, path)

    def _spend(self, values: int, path: str) -> None:
        self._left -= values
        if self._left < 0:
            raise too_many(path)

    def _give_back(self, values: int, path: str) -> None:
        """Do not count the values of a branch that was tried; the work of trying is bounded too."""
        self._left += values
        self._tries -= values
        if self._tries < 0:
            raise too_many(path)

    def _convert_branch(self, value: Any, union: AvroType, path: str) -> Any:
        if value is None and union.nullable:
            return None
        branches = [branch for branch in union.branches if branch.kind != "null"]
        if len(branches) == 1:
            return self.convert(value, branches[0], path)
        branches.sort(key=lambda branch: _LAST_BRANCHES.get(branch.kind, 0))
        inside: list[EventValueError] = []
        for branch in branches:
            left = self._left
            try:
                converted = self.convert(value, branch, path)
            except EventValueError as error:
                inside += [error] if error.path != path else []
                self._give_back(left - self._left, path)
                continue
            # The encoder sees converted values only, so it could find another branch.
            return branch.name or branch.kind, converted
        # If only one branch accepts such objects or lists, its error names the field.
        raise inside[0] if len(inside) == 1 else refused(value, union.label(), path)

    def _convert_record(self, event: Mapping[str, Any], type_: AvroType, path: str) -> Any:
        self._spend(len(type_.fields), path)
        if id(type_) not in self._plans:
            self._plans[id(type_)] = _Plan.of(type_, self._defaults)
        plan = self._plans[id(type_)]
        record = plan.blank.copy()
        for key, value in event.items():
            field = plan.fields.get(key)
            if field is not None:
                record[field.name] = self.convert(value, field.type, join_path(path, key))
            elif self._is_given or not _says_nothing(value):
                raise refused(value, f"no such field in {type_.label()}", join_path(path, key))
        for field in plan.required:
            if field.json_name not in event:
                raise _missing(field, join_path(path, field.json_name))
        if plan.weights:
            self._spend(sum(n for name, n in plan.weights.items() if name not in event), path)
        return record

    def _convert_array(self, items: list[Any], type_: AvroType, path: str) -> list[Any]:
        self._spend(len(items), path)
        return [self.convert(item, type_, f"{path}[]") for item in items]

    def _convert_map(self, members: Mapping[str, Any], type_: AvroType, path: str) -> Any:
        self._spend(2 * len(members), path)
        return {
            key: self.convert(value, type_, join_path(path, key)) for key, value in members.items()
        }


_NOT_IN_JSON = {"record", "array", "map", "null", "bytes", "fixed"}
_NO_SCALARS = (type(None), list, Mapping)
_IN_BASE64 = {"bytes", "fixed"}
_TEXT_TIMES = {("timestamp-millis",), ("timestamp-micros",)}
_TRIED_SHARE = 4  # of the values that may be converted, in branches that do not fit
# A union takes the first branch that fits: text comes before base64, and exact before rounded.
_LAST_BRANCHES = {"float": 1, "bytes": 2, "fixed": 2}
_TIMESTAMPS: Final = (Times.MILLIS, Times.MICROS)

# A default is written for each item of a list that lacks the field, a long text each time.
_CHARACTERS_PER_VALUE = 16


def _weigh(default: Any) -> int:
    """Return the number of values inside a default, with long text as several."""
    match default:
        case str() | bytes():
            return len(default) // _CHARACTERS_PER_VALUE
        case list():
            return len(default) + sum(map(_weigh, default))
        case (_, value):  # of a union, with the name of its branch
            return _weigh(value)
        case dict():
            return 2 * len(default) + sum(map(_weigh, [*default, *default.values()]))
    return 0


def _missing(field: AvroField, path: str) -> EventValueError:
    return EventValueError(
        f"{path}: found no value, expected {field.type.label()}, which every event must have",
        path=path,
    )


def _convert_given(value: Any, type_: AvroType, path: str) -> Any:
    if type_.kind in _IN_BASE64:
        if decimal := decimal_of(type_):
            return _convert_decimal(value, type_, decimal, path)
        return _read_bytes(value, type_, path)
    if type_.kind == "float" and isinstance(value, float):
        return _round_float(value, path)
    return _convert_scalar(value, type_, path)


def _convert_decimal(value: Any, type_: AvroType, decimal: tuple[int, int], path: str) -> bytes:
    """Return the bytes of a number's decimal, as few as hold its sign, or the size of a fixed."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise refused(value, type_.label(), path)
    unscaled = write_decimal(value, *decimal)
    if unscaled is None:
        before, after = decimal[0] - decimal[1], decimal[1]
        digits = f"at most {before} digits before the point and {after} after it"
        raise refused(value, f"{type_.label()}: {digits}", path)
    bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length()
    return unscaled.to_bytes(type_.size or bits // 8 + 1, signed=True)


def _convert_scalar(value: Any, type_: AvroType, path: str) -> Any:
    if type_.kind in _IN_BASE64 and (decimal := decimal_of(type_)):
        return _convert_decimal(value, type_, decimal, path)
    if isinstance(value, str) and type_.kind == "long" and type_.logical[:1] in _TEXT_TIMES:
        return fit_time(value, type_.logical[0], path)
    if type_.kind in _NOT_IN_JSON or isinstance(value, _NO_SCALARS):
        raise refused(value, type_.label(), path)
    found = scalar_kind(value, path)
    if type_.kind in {"float", "double"} and found in {"long", "double"}:
        return _convert_float(value, type_, path)
    if type_.kind == "enum":
        fits = value in type_.symbols
    elif type_.kind == "int":
        fits = found == "long" and holds("int", value)
    else:
        fits = found == type_.kind
    if not fits:
        raise refused(value, type_.label(), path)
    limit = find_limit(type_)
    if limit and not limit.holds(value):
        raise refused(value, f"{type_.label()}: {limit.expected}", path)
    return value


def _convert_float(value: float, type_: AvroType, path: str) -> float:
    if isinstance(value, int) and not holds(type_.kind, value):
        bits = INTEGER_LIMITS[type_.kind][1].bit_length() - 1
        expected = f"at most 2^{bits} in size, beyond which a {type_.kind} rounds"
        raise refused(value, expected, path)
    if type_.kind == "float" and not _is_single(value):
        raise refused(value, "a number that a float holds without rounding", path)
    return float(value)


def _round_float(value: float, path: str) -> float:
    """Return the nearest float if it has all digits of the number, as it has six or more."""
    digits = len(Decimal(repr(value)).normalize().as_tuple().digits)
    try:
        nearest = float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        raise refused(value, "a number within the range of a float", path) from None
    if f"{nearest:.{digits}g}" != f"{value:.{digits}g}":
        raise refused(value, "a number of no more digits than a float keeps", path)
    return nearest


def _read_bytes(value: Any, type_: AvroType, path: str) -> bytes:
    expected = f"{type_.label()} in base64"
    if not isinstance(value, str):
        raise refused(value, expected, path)
    try:
        found = a2b_base64(value, strict_mode=True)
    except ValueError:
        raise refused(value, expected, path) from None
    if type_.kind == "fixed" and len(found) != type_.size:
        size = "1 byte" if type_.size == 1 else f"{type_.size:,} bytes"
        raise refused(value, f"{size} in base64", path)
    return found


def _is_single(value: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
    except OverflowError:
        return False


def _says_nothing(value: Any, depth: int = 1) -> bool:
    """Return whether a value is null, or an object or list that holds only such values."""
    if value is None:
        return True
    if depth > MAX_DEPTH or not isinstance(value, Mapping | list):
        return False
    members = value.values() if isinstance(value, Mapping) else value
    return all(_says_nothing(member, depth + 1) for member in members)
