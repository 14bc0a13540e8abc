"""Avro's schema resolution: find out whether a reader's schema can read data of a writer's schema.

"S" is the Apache Avro 1.11 specification, "Schema Resolution" unless said otherwise; "J" is
SchemaCompatibility of Apache Avro for Java 1.11.4.

| rule                                                                             | source       |
| -------------------------------------------------------------------------------- | ------------ |
| int, long, float and string, bytes are promoted as in _PROMOTIONS                | S            |
| arrays, maps: their items resolve                                                | S            |
| records, enums, fixed: the names without namespace are the same, or an alias of  | S, "Aliases" |
| the reader is the full name of the writer                                        |              |
| fixed: the sizes are the same                                                    | S            |
| enums: the reader has the writer's symbols, or a default                         | S, J         |
| records: a field of the reader that the writer has, by name or alias, resolves;  | S, "Aliases" |
| one that it does not have has a default                                          |              |
| a field of the reader whose name and aliases match twice is an error, also if    | J            |
| an alias is its own name                                                         |              |
| a union of the writer: each branch resolves                                      | J            |
| a union of the reader: one of its branches resolves                              | S            |
"""

from __future__ import annotations

from typing import Final

from localcloud.services.glue.registry.avro_types import AvroField, AvroType

# The types of a writer that a reader's type takes besides its own.
_PROMOTIONS: Final = {
    "long": {"int"},
    "float": {"int", "long"},
    "double": {"int", "long", "float"},
    "string": {"bytes"},
    "bytes": {"string"},
}


def can_read(reader: AvroType, writer: AvroType) -> bool:
    """Return whether the reader can read all data of the writer."""
    comparison = _Comparison()
    while True:
        known = len(comparison.refuted)
        comparison.assumed.clear()
        found = comparison.can_read(reader, writer)
        if len(comparison.refuted) == known:
            return found


class _Comparison:
    """One comparison; types that contain themselves make pairs that depend on one another.

    A pair counts as readable while it is compared, so a walk may have relied on a pair that it
    refuted later: the comparison is over after a walk that refuted nothing.
    """

    def __init__(self) -> None:
        self.assumed: set[tuple[AvroType, AvroType]] = set()
        self.refuted: set[tuple[AvroType, AvroType]] = set()

    def can_read(self, reader: AvroType, writer: AvroType) -> bool:
        pair = (reader, writer)
        if pair in self.refuted or pair in self.assumed:
            return pair not in self.refuted
        self.assumed.add(pair)
        if self._resolves(reader, writer):
            return True
        self.refuted.add(pair)
        return False

    def _resolves(self, reader: AvroType, writer: AvroType) -> bool:
        if writer.kind == "union":
            return all(self.can_read(reader, branch) for branch in writer.parts)
        if reader.kind == "union":
            return any(self.can_read(branch, writer) for branch in reader.parts)
        if reader.kind != writer.kind:
            return writer.kind in _PROMOTIONS.get(reader.kind, ())
        if reader.parts:
            return self.can_read(reader.parts[0], writer.parts[0])
        return _is_named_alike(reader, writer) and self._has_parts(reader, writer)

    def _has_parts(self, reader: AvroType, writer: AvroType) -> bool:
        if reader.kind == "enum":
            return reader.default is not None or {*writer.symbols} <= {*reader.symbols}
        return reader.size == writer.size and all(
            self._fills(field, writer) for field in reader.fields
        )

    def _fills(self, field: AvroField, writer: AvroType) -> bool:
        """Return whether a field of the reader has a value after a record of the writer is read."""
        written = {each.name: each for each in writer.fields}
        names = [field.name, *{*field.aliases}]
        sources = [written[name] for name in names if name in written]
        if not sources:
            return bool(field.defaults)
        return len(sources) == 1 and self.can_read(field.type, sources[0].type)


def _is_named_alike(reader: AvroType, writer: AvroType) -> bool:
    short_names = {each.name.rpartition(".")[2] for each in (reader, writer)}
    return len(short_names) == 1 or writer.name in reader.aliases
