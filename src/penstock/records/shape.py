"""The shape of a table's rows, made from settings; the default is the reading of a sensor.

A row has all fields of its event, and these attributes:

    KEY         the partition key as text: the key field of the event (with a key format, of the
                record's key), which is text or a whole number, or several fields joined by `/`
    SORT        the sort key, if the table has one: in upsert mode the fields of `--sort` joined by
                `/`, in append mode the event time, or without one Kafka's timestamp, in 13 digits,
                then topic-partition-offset
    _topic      the topic of the record
    _source     topic/partition/offset
    _schema     the number of the writer schema's version
    _schemaId   the schema key of that version
    _order      in upsert mode: text that is greater for a newer version of the row
    _deleted    in upsert mode: true if a tombstone or an event deleted the row
    _expiresAt  the TTL attribute, for programs that let rows expire; no event sets it

A field of the event with the name of one of these attributes is kept in the map `_event`. A deleted
row keeps its key and `_order`, so that an older record that arrives later does not restore it.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from penstock.errors import SettingsError
from penstock.settings import Settings, parse_names, setting

ORDER: Final = "_order"
DELETED: Final = "_deleted"
ADDED: Final = ("_topic", "_source", "_schema", "_schemaId", "_event", "_expiresAt")
_READING_KEY: Final = ("deviceId",)
_NONE: Final = "none"
_OF_TABLE: Final = re.compile(r"(?P<table>[a-z0-9_]+)\.(?P<flag>[a-z-]+)=(?P<value>.+)")


class Mode(StrEnum):
    """How a record changes the table: as a new row, or in place of an older version."""

    APPEND = "append"
    UPSERT = "upsert"


class Tombstone(StrEnum):
    """The treatment of a record without a value."""

    IGNORE = "ignore"
    DELETE = "delete"
    DEAD_LETTER = "dead-letter"


class KeyFormat(StrEnum):
    """The format of Kafka keys: Avro in a frame, or as Kafka's own serialisers write them."""

    AVRO = "avro"
    STRING = "string"
    INT = "int"
    LONG = "long"


def _parse_fields(text: str) -> tuple[str, ...]:
    fields = parse_names(text)
    if len(set(fields)) < len(fields):
        raise ValueError(text)
    return fields


def _parse_optional(text: str) -> str | None:
    return None if text == _NONE else text


@dataclass(frozen=True, slots=True)
class DeletedWhen:
    """A field of the event that says with some values that its row is deleted, as CDC writes."""

    field: str
    values: tuple[str, ...]

    def fits(self, event: Mapping[str, Any]) -> bool:
        """Return whether an event deletes its row.

        A boolean is compared as true or false, and a whole number as its digits, also in a decimal
        or a double: a later version of the schema may have widened it.
        """
        value = event.get(self.field)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, Decimal) and value == (whole := value.to_integral_value()):
            value = str(whole)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return isinstance(value, str | int) and text in self.values


def _parse_deleted_when(text: str) -> DeletedWhen:
    field, is_there, values = text.partition("=")
    if not field or not is_there:
        raise ValueError(text)
    return DeletedWhen(field, _parse_fields(values))


@dataclass(frozen=True, slots=True)
class RowShape(Settings):
    """The fields of a row's key, its event time and its order, and the mode of the table."""

    key: tuple[str, ...] = setting(
        "PENSTOCK_KEY",
        "fields of the event that are the row's partition key, separated by commas",
        parse=_parse_fields,
        default=_READING_KEY,
    )
    key_name: str | None = setting(
        "PENSTOCK_KEY_NAME",
        "name of the partition key attribute [the first field of the key]",
        default=None,
    )
    sort: tuple[str, ...] = setting(
        "PENSTOCK_SORT",
        "in upsert mode, fields of the event that are the row's sort key, separated by commas"
        " [append mode: event time, topic, partition and offset; upsert mode: none]",
        parse=_parse_fields,
        default=(),
    )
    sort_name: str | None = setting(
        "PENSTOCK_SORT_NAME",
        f"name of the sort key attribute, {_NONE} for a table without one",
        parse=_parse_optional,
        default="readingId",
    )
    event_time: str | None = setting(
        "PENSTOCK_EVENT_TIME",
        "field with the event time, by which the lake is partitioned and sorted: text in ISO 8601"
        " with a zone, or whole seconds, milliseconds or microseconds since 1970;"
        f" {_NONE} for Kafka's timestamp",
        parse=_parse_optional,
        default="timestamp",
    )
    order: tuple[str, ...] = setting(
        "PENSTOCK_ORDER",
        "fields of the event that order the versions of a row, separated by commas: the greatest"
        " values win, then the latest Kafka timestamp, then the greatest offset",
        parse=_parse_fields,
        default=(),
    )
    mode: Mode = setting(
        "PENSTOCK_MODE",
        "append (a row for each record) or upsert (the newest record of each key)",
        parse=Mode,
        default=Mode.APPEND,
    )
    tombstone: Tombstone = setting(
        "PENSTOCK_TOMBSTONE",
        "what to do with a record without a value: ignore, delete (its row) or dead-letter",
        parse=Tombstone,
        default=Tombstone.IGNORE,
    )

    key_format: KeyFormat | None = setting(
        "PENSTOCK_KEY_FORMAT",
        "for consumers: the format of Kafka's keys, which then hold the fields of --key and --sort"
        " in place of the event: avro (in a frame, as values are), or string, int or long for the"
        " one field of --key [the fields are of the event]",
        parse=KeyFormat,
        default=None,
    )

    deleted_when: DeletedWhen | None = setting(
        "PENSTOCK_DELETED_WHEN",
        "in upsert mode, a field of the event and its values that delete the row, like op=D or"
        " op=D,X [no event deletes a row]",
        parse=_parse_deleted_when,
        default=None,
    )

    @property
    def key_attribute(self) -> str:
        """The name of the table's partition key."""
        return self.key_name or self.key[0]

    @property
    def table_key(self) -> tuple[str, ...]:
        """The names of the table's partition key and, if it has one, its sort key."""
        return (self.key_attribute, *([self.sort_name] if self.sort_name else []))

    def problems(self) -> Iterator[str]:
        """Yield a message for each contradiction between settings."""
        if len(self.key or ()) > 1 and self.key_name in {None, *self.key}:
            yield (
                "PENSTOCK_KEY (--key) has several fields, expected PENSTOCK_KEY_NAME (--key-name)"
                " to name an attribute that is none of them"
            )
        yield from self._name_problems()
        if self.mode is Mode.APPEND:
            yield from self._append_problems()
        elif self.mode is Mode.UPSERT and bool(self.sort) != bool(self.sort_name):
            yield (
                "a table of upserts has PENSTOCK_SORT (--sort) and PENSTOCK_SORT_NAME"
                f" (--sort-name), or neither ({_NONE}); found {self.sort!r}, {self.sort_name!r}"
            )
        yield from self._key_problems()

    def _key_problems(self) -> Iterator[str]:
        several = self.sort or len(self.key or ()) > 1
        if self.tombstone is Tombstone.DELETE and (
            self.order or (several and self.key_format is None)
        ):
            yield (
                "--tombstone delete finds a row by the record's key and orders by Kafka's timestamp"
                " and offset, expected no --order, and without --key-format one field in --key and"
                " no --sort"
            )
        if several and self.key_format not in {None, KeyFormat.AVRO}:
            yield (
                f"PENSTOCK_KEY_FORMAT (--key-format) is {self.key_format}, expected one field in"
                " --key and no --sort, as such a key is one value"
            )

    def _name_problems(self) -> Iterator[str]:
        if self.key is None:
            return
        if self.key_attribute == self.sort_name:
            yield (
                f"the partition key and the sort key are both named {self.sort_name!r}, expected"
                " another PENSTOCK_SORT_NAME (--sort-name) or PENSTOCK_KEY_NAME (--key-name)"
            )
        if reserved := {ORDER, DELETED, *ADDED}.intersection(self.table_key):
            yield (
                f"the table's key is named {min(reserved)!r}, which Penstock adds to each row,"
                " expected another PENSTOCK_KEY_NAME (--key-name) or PENSTOCK_SORT_NAME"
                " (--sort-name)"
            )
        if self.key == (self.event_time,):
            yield (
                f"PENSTOCK_EVENT_TIME (--event-time) is the key {self.event_time!r}, which is a"
                f" string, expected a field with a time or {_NONE}"
            )

    def _append_problems(self) -> Iterator[str]:
        if self.sort_name is None:
            yield "a table that is appended to needs PENSTOCK_SORT_NAME (--sort-name)"
        if self.sort:
            yield (
                "PENSTOCK_SORT (--sort) is for --mode upsert, found --mode append, in which records"
                " with equal fields would overwrite each other"
            )
        if self.order:
            yield "PENSTOCK_ORDER (--order) is for --mode upsert, found --mode append"
        if self.tombstone is Tombstone.DELETE:
            yield "--tombstone delete is for --mode upsert, found --mode append"
        if self.deleted_when:
            yield "PENSTOCK_DELETED_WHEN (--deleted-when) is for --mode upsert, found --mode append"


READING: Final = RowShape()


def make_staged_shape(table: Mapping[str, Any]) -> RowShape:
    """Return the shape of a table of a staging plan, by the attributes that docs/staging.md has.

    An attribute that is null counts as absent.

    Raises:
        SettingsError: its attributes contradict each other.
    """
    sort = _list_fields(table.get("sort"))
    key_format, deleted = table.get("key_format"), table.get("deleted_when")
    return RowShape(
        _list_fields(table["key"]),
        table.get("key_name"),
        sort,
        table.get("sort_name") or (sort[0] if len(sort) == 1 else None),
        table.get("event_time"),
        _list_fields(table.get("order")),
        Mode.UPSERT,
        Tombstone(table.get("tombstone") or Tombstone.IGNORE),
        KeyFormat(key_format) if key_format else None,
        DeletedWhen(deleted["column"], tuple(deleted["values"])) if deleted else None,
    )


def _list_fields(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def parse_shapes(text: str) -> tuple[tuple[str, RowShape], ...]:
    """Return pairs of a table and its shape from `TABLE.FLAG=VALUE;...`.

    Raises:
        ValueError: the text is not such a list.
    """
    names = {field.name.replace("_", "-"): field.name for field in fields(RowShape)}
    flags: dict[str, dict[str, str]] = {}
    for word in text.split(";"):
        match = _OF_TABLE.fullmatch(word.strip())
        if match is None or match["flag"] not in names:
            raise ValueError(text)
        flags.setdefault(match["table"], {})[names[match["flag"]]] = match["value"]
    try:
        return tuple(
            (table, RowShape.from_flags(Namespace(**given), {})) for table, given in flags.items()
        )
    except SettingsError as error:
        raise ValueError(str(error)) from error
