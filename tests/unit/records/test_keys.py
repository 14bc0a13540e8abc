"""The fields of Kafka keys: Avro in every frame, and what Kafka's own serialisers write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.errors import SchemaNotFoundError, UnroutableError
from penstock.framing import FrameKind, Framing, SchemaKey, encode_frame
from penstock.records import (
    KeyFormat,
    Mode,
    Record,
    RowShape,
    Source,
    Tombstone,
    make_deletion,
    make_row,
    read_key,
)
from penstock.schemas import compile_event_decoder, encode

_SOURCE = Source("orders", 2, 7)
_KEY = {
    "type": "record",
    "name": "Key",
    "fields": [{"name": "shop", "type": "string"}, {"name": "id", "type": "long"}],
}
_SCHEMAS = {SchemaKey.parse("confluent:7"): _KEY, SchemaKey.parse("apicurio:8"): "string"}


def _shape(key_format: KeyFormat, *key: str, **more: Any) -> RowShape:
    more = {"sort_name": None, "key_name": "pk" if len(key) > 1 else None, **more}
    return RowShape(key, event_time=None, mode=Mode.UPSERT, key_format=key_format, **more)


def _find(key: SchemaKey) -> Callable[[bytes], Any]:
    if key not in _SCHEMAS:
        raise SchemaNotFoundError(f"no {key}")
    return compile_event_decoder(_SCHEMAS[key])


def _read(shape: RowShape, key: bytes | None, *headers: tuple[str, bytes]) -> Any:
    return read_key(
        shape,
        Record(_SOURCE, key, None, headers),
        Framing(frozenset(FrameKind), content_ids=True),
        _find,
    )


@pytest.mark.parametrize(
    ("key_format", "key", "value"),
    [
        (KeyFormat.STRING, "größe".encode(), "größe"),
        (KeyFormat.INT, b"\xff\xff\xff\xfe", -2),
        (KeyFormat.LONG, b"\0\0\0\1\0\0\0\0", 2**32),
        (KeyFormat.AVRO, encode_frame(SchemaKey.parse("apicurio:8"), encode("a", "string")), "a"),
    ],
)
def test_a_key_of_one_value_is_the_key_field(key_format: KeyFormat, key: bytes, value: Any) -> None:
    shape = _shape(key_format, "id")

    fields = _read(shape, key)

    assert fields == {"id": value}
    row = make_row(shape, {"id": value}, Record(_SOURCE, key, b""), 1, "s", key_fields=fields)
    assert row["id"] == str(value)
    # A number that the event has is kept: the attribute of the table is a string.
    assert row.get("_event", {}) == ({} if isinstance(value, str) else {"id": value})


def test_an_avro_key_has_several_fields_with_its_id_in_the_frame_or_a_header() -> None:
    shape = _shape(KeyFormat.AVRO, "shop", "id")
    payload = encode({"shop": "a/b", "id": 7}, _KEY)
    framed = encode_frame(SchemaKey.parse("confluent:7"), payload)

    for fields in (
        _read(shape, framed),
        _read(shape, payload, ("__key_schema_id", b"\0\0\0\0\7")),
        _read(shape, payload, ("apicurio.key.contentId", b"\0" * 7 + b"\7")),
    ):
        assert fields == {"shop": "a/b", "id": 7}
        row = make_row(shape, {"paid": True}, Record(_SOURCE, b"", b""), 1, "s", key_fields=fields)
        assert (row["pk"], row["paid"]) == ("a%2Fb/7", True)
        assert make_deletion(shape, Record(_SOURCE, b"", None), fields)["pk"] == "a%2Fb/7"


def test_the_sort_key_comes_from_the_key_too() -> None:
    shape = _shape(KeyFormat.AVRO, "shop", sort=("id",), sort_name="sk",
                   tombstone=Tombstone.DELETE)  # fmt: skip
    fields = {"shop": "a", "id": 7}

    row = make_row(shape, {"id": 8}, Record(_SOURCE, b"", b""), 1, "s", key_fields=fields)

    assert (row["shop"], row["sk"], row["id"]) == ("a", "7", 8)
    deletion = make_deletion(shape, Record(_SOURCE, b"", None), fields)
    assert (deletion["shop"], deletion["sk"], deletion["_deleted"]) == ("a", "7", True)


@pytest.mark.parametrize(
    ("key_format", "key", "problem"),
    [
        (KeyFormat.STRING, None, "found no key, expected string"),
        (KeyFormat.STRING, b"\xff", "the key is not of the format string: 'utf-8' codec"),
        (KeyFormat.INT, b"\0" * 8, "the key is not of the format int: found 8 bytes, expected 4"),
        (KeyFormat.LONG, b"", "the key is not of the format long: found 0 bytes, expected 8"),
        (KeyFormat.AVRO, b"o-1", "the key is not of the format avro: found 3 bytes"),
        (KeyFormat.AVRO, b"\0\0\0\0\7\2a", "the key is not of the format avro: "),
    ],
)
def test_a_key_of_another_format_is_unroutable(
    key_format: KeyFormat, key: bytes | None, problem: str
) -> None:
    with pytest.raises(UnroutableError, match=f"^{problem}"):
        _read(_shape(key_format, "id"), key)


def test_a_schema_of_a_key_that_is_unknown_is_reported_as_such() -> None:
    with pytest.raises(SchemaNotFoundError, match="no confluent:9"):
        _read(_shape(KeyFormat.AVRO, "id"), b"\0\0\0\0\x09")


def test_a_field_that_the_key_lacks_is_unroutable() -> None:
    shape = _shape(KeyFormat.STRING, "id")
    record = Record(_SOURCE, b"", b"")

    with pytest.raises(UnroutableError, match=r"found id '', expected a string or a whole number$"):
        make_row(shape, {"id": "a"}, record, 1, "s", key_fields={"id": ""})


def test_without_a_format_the_key_is_not_read() -> None:
    assert _read(RowShape(), b"\xff") is None
