"""The policy fixed: an event becomes a record of the newest registered version, or is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from penstock.errors import (
    EventMismatchError,
    EventValueError,
    SchemaNotFoundError,
    SettingsError,
)
from penstock.producing.settings import ProducerSettings
from penstock.records import RowShape
from penstock.registry import SchemaVersion
from penstock.schemas import compile_fitter, fit_event_time

_Fit = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]

_MAX_COMPILED = 1_000
_SHOWN_FIELDS = 20


def fit_event(
    event: Mapping[str, Any],
    base: Mapping[str, Any],
    versions: Sequence[SchemaVersion],
    settings: ProducerSettings,
) -> dict[str, Any]:
    """Convert an event to a record of the last of the versions.

    Raises:
        EventMismatchError: the event does not fit the version.
        EventLimitError: the record has too many values.
        SchemaNotFoundError: there is no version; an operator registers one.
        SettingsError: no event can have its key under this version; an operator changes either.
    """
    if not versions:
        raise SchemaNotFoundError(
            f"found no usable version of schema {settings.schema_name}, and the policy fixed "
            "registers none: register the schema, then send the event again or replay it"
        )
    version = versions[-1]
    fit = _compile(version, settings.shape)
    time, schema = settings.shape.event_time, version.schema
    try:
        return fit(fit_event_time(event, schema, time), fit_event_time(base, schema, time))
    except EventValueError as error:
        raise EventMismatchError(
            f"{error}, as version {version.number} of schema {version.name} says: correct the "
            "event, or register a version that it fits and replay it",
            path=error.path,
        ) from error


@lru_cache(maxsize=_MAX_COMPILED)
def _compile(version: SchemaVersion, shape: RowShape) -> _Fit:
    """Return the function that fits events to a version whose records can become rows."""
    if problems := tuple(_find_problems(version, shape)):
        raise SettingsError(problems)
    return compile_fitter(version.schema)


def _find_problems(version: SchemaVersion, shape: RowShape) -> Iterator[str]:
    what = f"version {version.number} of schema {version.name}"
    schema = version.schema
    if not isinstance(schema, dict) or schema["type"] != "record":
        yield f"PENSTOCK_SCHEMA_NAME names {what}, expected the schema of a record"
        return
    names = [field.get("jsonName", field["name"]) for field in schema["fields"]]
    # A kept event is sent again with its first event time, so the schema must have the field.
    time = shape.event_time
    for variable, fields in {
        "PENSTOCK_KEY": shape.key,
        "PENSTOCK_SORT": shape.sort,
        "PENSTOCK_ORDER": shape.order,
        "PENSTOCK_EVENT_TIME": (time,) if time else (),
    }.items():
        for missing in sorted(set(fields).difference(names)):
            yield f"{variable} names {missing}, expected a field of {what}: {_show(names)}"


def _show(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_FIELDS
    shown = ", ".join(names[:_SHOWN_FIELDS])
    return f"{shown} and {more:,} more" if more > 0 else shown or "(it has none)"
