"""The check of schema versions before a decoder uses them; each is refused by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from penstock.errors import (
    Failure,
    PenstockError,
    SchemaError,
    UnroutableError,
)
from penstock.framing import SchemaKey
from penstock.records import Projection
from penstock.registry import Registries, SchemaVersion
from penstock.schemas import Schema, check_schema, merge_schemas
from penstock.spark.decoding.columns import EventColumns
from penstock.spark.decoding.plans import MergedType, write_plan
from penstock.tables import Struct, merge_columns, read_event


def find_versions(
    registries: Registries, keys: Iterable[SchemaKey], max_refused: float = math.inf
) -> tuple[list[SchemaVersion], dict[SchemaKey, Failure]]:
    """Look up schema versions; return those found, and why others cannot be used.

    Keys after `max_refused` that cannot be used are not looked up, and are in neither.

    Raises:
        PenstockError: an answer is not final.
    """
    found: list[SchemaVersion] = []
    refused: dict[SchemaKey, Failure] = {}
    for key in keys:
        if len(refused) >= max_refused:
            break
        try:
            found.append(registries.find(key))
        except PenstockError as error:
            refused[key] = Failure.of(error)
    return found, refused


def admit_versions(
    found: Iterable[SchemaVersion],
    known: Iterable[SchemaVersion] = (),
    table_of: Callable[[SchemaVersion], str] = lambda _: "",
    columns: Projection | None = None,
    *,
    keep_columns: bool = False,
) -> tuple[list[SchemaVersion], dict[SchemaKey, Failure]]:
    """Check versions, older ones first; return those that can be used, and why others cannot.

    All are checked at once; only if one cannot be used, each is checked with those before it. Both
    take time that is linear in the number of versions.

    Args:
        found: the versions to check.
        known: versions that are used already.
        table_of: the table of a version; versions of one table are merged.
        columns: those of a staged table.
        keep_columns: whether tables have columns, each of which must hold all versions.
    """
    admission = Admission(columns, keep_columns)
    found = sorted(found, key=lambda each: each.number)
    tables: dict[str, list[SchemaVersion]] = {table_of(each): [] for each in found}
    for each in known:
        if table_of(each) in tables:
            tables[table_of(each)].append(each)
    admitted: list[SchemaVersion] = []
    refused: dict[SchemaKey, Failure] = {}
    for table, before in tables.items():
        new = [each for each in found if table_of(each) == table]
        if not admission.fit_together(before, new):
            refused |= admission.admit_each(before, new)
        admitted += [each for each in new if each.key not in refused]
    return sorted(admitted, key=lambda each: each.number), refused


@dataclass(frozen=True, slots=True)
class Admission:
    """The check of the versions of one table; see `admit_versions`."""

    columns: Projection | None = None
    keep_columns: bool = False

    def fit_together(self, known: Sequence[SchemaVersion], new: Sequence[SchemaVersion]) -> bool:
        """Return whether all versions are valid and fit together, which one merge of all tells."""
        try:
            for each in new:
                self._check_alone(each)
            old, own = ([each.schema for each in versions] for versions in (known, new))
            merged = merge_schemas([*old, *own])
            self._check_columns(merged, old, *([schema] for schema in own))
            _check_plans(merged, [*old, *own])
        except PenstockError:
            return False
        return True

    def admit_each(
        self, known: Sequence[SchemaVersion], new: Sequence[SchemaVersion]
    ) -> dict[SchemaKey, Failure]:
        """Return why versions are refused, if each is checked with those admitted before it.

        The merge with the merge of those is the same as a merge of all, unless a union tells types
        apart that other versions have under two names, or has a type with the name of an earlier
        version's. Then each is checked with a merge of all.
        """
        refused = self._refuse(known, new, together=False)
        left = [each for each in new if each.key not in refused]
        if not left or self.fit_together(known, left):
            return refused
        return self._refuse(known, new, together=True)

    def admit(self, known: Sequence[Schema], version: SchemaVersion) -> Schema:
        """Check a version, alone and merged with those known; return the merge.

        Raises:
            RecursiveSchemaError, SchemaLimitError, InvalidSchemaError: it is invalid, or exceeds a
                limit.
            SchemaConflictError: it contradicts a known version, two fields or two types of a union
                would be one column, a column cannot hold both, a type has the column of another
                version's, or it has none of the chosen fields.
            UnroutableError: its values are not events.
        """
        where = f"schema version {version.key} of {version.name}"
        try:
            self._check_alone(version)
            merged = merge_schemas([*known, version.schema])
            self._check_columns(merged, known)
            _check_plans(merged, [*known, version.schema])
        except SchemaError as error:
            raise type(error)(f"{where}: {error}") from error
        return merged

    def _refuse(
        self, known: Sequence[SchemaVersion], new: Sequence[SchemaVersion], *, together: bool
    ) -> dict[SchemaKey, Failure]:
        refused: dict[SchemaKey, Failure] = {}
        before = [each.schema for each in known]
        if before and not together:
            before = [merge_schemas(before)]
        for version in new:
            try:
                merged = self.admit(before, version)
            except PenstockError as error:
                refused[version.key] = Failure.of(error)
            else:
                before = [*before, version.schema] if together else [merged]
        return refused

    def _check_alone(self, version: SchemaVersion) -> None:
        schema = version.schema
        check_schema(schema)
        if not isinstance(schema, dict) or schema["type"] != "record":
            raise UnroutableError(
                f"schema version {version.key} of {version.name}: found no record, expected an"
                " event"
            )
        if self.columns is not None:
            EventColumns(self.columns, merge_schemas([schema])).check()

    def _check_columns(self, merged: Schema, *earlier: Sequence[Schema]) -> None:
        """Check that events have columns, and that those of earlier schemas can become them.

        A field with one type has a column of that type, and with several one of members.
        """
        event = read_event(merged)
        if self.columns is not None:
            EventColumns(self.columns, merged).check()
        for schemas in filter(None, earlier if self.keep_columns else ()):
            held = merge_columns(Struct(), read_event(merge_schemas(schemas)))
            merge_columns(held, event)


def _check_plans(merged: Schema, schemas: Iterable[Schema]) -> None:
    """Check that a decoder has a column for every value of the schemas."""
    root = MergedType.of(merged)
    for each in schemas:
        write_plan(each, root)
