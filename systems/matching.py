"""Compare values that were sent with those of tables, whatever types they have there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, Final

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def matches(sent: Any, found: Any) -> bool:
    """Return whether a value of a table is the one that was sent, in whatever type it has there.

    A number may be a decimal or its text, a time a text or its number of milliseconds or of
    microseconds as in Avro, a map a list of pairs, and a branch of a union one member of a
    structure.
    """
    match sent:
        case Mapping():
            return _matches_mapping(sent, found)
        case list():
            return (
                isinstance(found, list)
                and len(sent) == len(found)
                and all(map(matches, sent, found))
            )
        case None:
            return found is None or (isinstance(found, Mapping) and not _present(found))
    return _matches_scalar(sent, _member(found))


def _matches_scalar(sent: Any, found: Any) -> bool:
    match sent:
        case bool():
            return found is sent
        case dt.datetime():
            return sent in (_instant(found), *_instants(_number(found)))
        case int() | float() | Decimal():
            return _number(found) == Decimal(str(sent))
        case bytes():
            return found is not None and bytes(found) == sent
        case str():
            return bool(found == sent)
    raise TypeError(f"found {type(sent).__name__}, expected a value of Avro")


def _matches_mapping(sent: Mapping[str, Any], found: Any) -> bool:
    if isinstance(found, list) and all(isinstance(each, tuple) for each in found):
        found = dict(found)
    return (
        isinstance(found, Mapping)
        and all(matches(value, found.get(name)) for name, value in sent.items())
        and all(name in sent or value is None for name, value in found.items())
    )


def _present(found: Mapping[str, Any]) -> list[Any]:
    return [value for value in found.values() if value is not None]


def _member(found: Any) -> Any:
    """Return the value of a union that a table keeps as a structure with a member per branch."""
    if isinstance(found, Mapping) and len(present := _present(found)) == 1:
        return present[0]
    return found


def _number(found: Any) -> Decimal | None:
    if not isinstance(found, int | float | Decimal | str):
        return None
    try:
        return Decimal(str(found))
    except ArithmeticError:
        return None


def _instant(found: Any) -> dt.datetime | None:
    if isinstance(found, str):
        found = dt.datetime.fromisoformat(found)
    if not isinstance(found, dt.datetime):
        return None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def _instants(number: Decimal | None) -> list[dt.datetime]:
    """Return the times that a number is in milliseconds, and in microseconds."""
    if number is None or number != int(number):
        return []
    found = []
    for unit in (1_000, 1):
        with suppress(OverflowError):
            found.append(_EPOCH + dt.timedelta(microseconds=int(number) * unit))
    return found
