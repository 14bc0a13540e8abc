"""The columns of a table: fields of the event, chosen and renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import SchemaConflictError


@dataclass(frozen=True, slots=True)
class Projection:
    """The fields that become columns, and the names of the columns.

    Attributes:
        fields: the chosen fields; if empty, all fields are columns, also those of later versions.
        renames: pairs of a field and the name of its column; other columns are named as the field.
        lower_case: whether columns that are not renamed have names in lower case.
        keeps_empty: whether a record without a value in the chosen fields is a row, as its key is
            the key of the Kafka record.
        constant: the name of an added column, which has the same text in all rows of a batch.
    """

    fields: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    lower_case: bool = False
    keeps_empty: bool = False
    constant: str = ""

    def name(self, field: str) -> str | None:
        """Return the name of a field's column, or None if the field is not chosen."""
        if self.fields and field not in self.fields:
            return None
        return dict(self.renames).get(field, field.lower() if self.lower_case else field)

    def columns(self, fields: Iterable[str]) -> dict[str, str]:
        """Return the names of the columns of the chosen fields, by field.

        Raises:
            SchemaConflictError: two fields would be one column, or a field the constant column.
        """
        columns: dict[str, str] = {}
        for field in fields:
            column = self.name(field)
            if column is None:
                continue
            if column == self.constant:
                raise SchemaConflictError(
                    f"the field {field} would be the column {column}, which Penstock adds to each"
                    " row, expected another name for it",
                    path=field,
                )
            if other := next((each for each, name in columns.items() if name == column), None):
                raise SchemaConflictError(
                    f"fields {other} and {field} would both be the column {column}, expected"
                    " another name for one of them",
                    path=field,
                )
            columns[field] = column
        return columns

    def project(self, event: Mapping[str, Any], constant: str) -> dict[str, Any] | None:
        """Return the columns of an event, or None if no chosen field has a value."""
        named = ((self.name(field), value) for field, value in event.items())
        row = {column: value for column, value in named if column is not None}
        if self.fields and not self.keeps_empty and all(map(_is_empty, row.values())):
            return None
        return {**row, **({self.constant: constant} if self.constant else {})}


def _is_empty(value: Any) -> bool:
    """Return whether a value of a chosen field counts as none; Spark asks `find_empty`."""
    return value == "" or _holds_nothing(value)


def _holds_nothing(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_holds_nothing, value.values()))
