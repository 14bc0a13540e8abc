"""The columns of a table: fields of the event, chosen and renamed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.errors import SchemaConflictError


@dataclass(frozen=True, slots=True)
class Projection:
    """The fields that become columns, and their names; by default all, under their own names.

    Attributes:
        fields: the chosen fields; all, and new ones too, if there are none.
        renames: pairs of a field and the name of its column.
        lower_case: the names of columns that are not renamed are in lower case.
        keeps_empty: a record whose chosen fields are all empty is a row, as its key is elsewhere.
    """

    fields: tuple[str, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    lower_case: bool = False
    keeps_empty: bool = False

    def name(self, field: str) -> str | None:
        """Return the name of a field's column, or None if the field is not chosen."""
        if self.fields and field not in self.fields:
            return None
        return dict(self.renames).get(field, field.lower() if self.lower_case else field)

    def columns(self, fields: Iterable[str]) -> dict[str, str]:
        """Return the names of columns by field, for the fields that are chosen.

        Raises:
            SchemaConflictError: two fields would be one column.
        """
        columns: dict[str, str] = {}
        for field in fields:
            column = self.name(field)
            if column is None:
                continue
            if other := next((each for each, name in columns.items() if name == column), None):
                raise SchemaConflictError(
                    f"fields {other} and {field} would both be the column {column}, expected"
                    " another name for one of them",
                    path=field,
                )
            columns[field] = column
        return columns
