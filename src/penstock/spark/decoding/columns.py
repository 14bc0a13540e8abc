"""The events of a staged table: chosen fields under their columns' names, and the time of staging.

The schema of the events is projected as their values are, so a sink that makes rows by the schema
finds the columns, and the key of a row is named by its columns too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import SchemaConflictError
from penstock.records import Projection
from penstock.schemas import Schema, avro_name
from penstock.spark.decoding.reader_schema import Place, written_out
from penstock.spark.decoding.reader_sql import is_empty, write_value
from penstock.staging import STAGING_TIME


@dataclass(frozen=True, slots=True)
class EventColumns:
    """The columns of events of a merged schema.

    Raises (when used):
        SchemaConflictError: two fields would be one column, one would be the time of staging, or
            none of the chosen fields is there.
    """

    columns: Projection
    merged: Schema

    def schema(self) -> Schema:
        """Return the schema of the events."""
        fields = [_rename(field, column) for field, column in self._fields()]
        time = {"name": STAGING_TIME, "type": "string"}
        whole: Any = written_out(self.merged)
        return {**whole, "fields": [*fields, time]}

    def write_event(
        self, root: Place, sql: str, write: Callable[[Place, str], str] = write_value
    ) -> str:
        """Return the SQL of an event, from that of a record; `write` is for a value of it."""
        values = {
            avro_name(column): write(root.fields[field["name"]], f"{sql}.`{field['name']}`")
            for field, column in self._fields()
            if not is_empty(root.fields[field["name"]])
        }
        inside = ", ".join(f"'{name}', {value}" for name, value in values.items())
        inside += ", " * bool(inside) + f"'{STAGING_TIME}', {STAGING_TIME}"
        return f"IF({sql} IS NULL, NULL, named_struct({inside}))"

    def find_empty(self, root: Place, sql: str) -> str:
        """Return the condition that all chosen fields are null or empty strings.

        It is empty if no fields are chosen, or if such records are rows too.
        """
        if not self.columns.fields or self.columns.keeps_empty:
            return ""
        conditions = [
            f"coalesce({value}, '') = ''"
            if [each.kind for each in root.fields[field["name"]].values] == ["string"]
            else f"{value} IS NULL"
            for field, _ in self._fields()
            for value in [f"{sql}.`{field['name']}`"]
            if not is_empty(root.fields[field["name"]])
        ]
        return " AND ".join(conditions or ["TRUE"])

    def _fields(self) -> list[tuple[dict[str, Any], str]]:
        """Return the chosen fields of the schema with the names of their columns."""
        whole: Any = written_out(self.merged)
        fields = {each.get("jsonName", each["name"]): each for each in whole["fields"]}
        columns = self.columns.columns(fields)
        if self.columns.fields and not columns:
            raise SchemaConflictError(
                f"found the fields {', '.join(sorted(fields))[:200]}, expected one of the chosen"
                f" {', '.join(self.columns.fields)}"
            )
        for field, column in columns.items():
            if column == STAGING_TIME:
                raise SchemaConflictError(
                    f"the field {field} would be the column {column}, which has the time of"
                    " staging, expected another name for it",
                    path=field,
                )
        return [(fields[field], column) for field, column in columns.items()]


def _rename(field: dict[str, Any], column: str) -> dict[str, Any]:
    name = avro_name(column)
    kept = {key: field[key] for key in field.keys() - {"name", "jsonName", "aliases"}}
    return {"name": name, **kept, **({} if name == column else {"jsonName": column})}
