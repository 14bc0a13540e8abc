"""Apicurio's frame with 8-byte ids, and its headers."""

from __future__ import annotations

import pytest

from penstock.errors import (
    NoRegistryForFramingError,
    TruncatedFrameError,
    UnknownFramingError,
)
from penstock.framing import (
    Compression,
    Frame,
    FrameKind,
    Framing,
    SchemaKey,
    decode_frame,
    encode_frame,
)
from penstock.framing.decode import read_schema_key

_VALUE = bytes.fromhex("00" + "000000000000000f") + b"payload"
_KEY = SchemaKey(FrameKind.APICURIO, _VALUE[1:9])
_KINDS = {FrameKind.APICURIO, FrameKind.GLUE}


def test_opens_an_8_byte_id() -> None:
    frame = decode_frame(_VALUE, kinds=_KINDS)

    assert frame == Frame(_KEY, Compression.NONE, b"payload")
    assert encode_frame(_KEY, b"payload") == _VALUE


def test_other_frames_are_read_too() -> None:
    value = b"\x03\x00" + bytes(16) + b"payload"

    assert decode_frame(value, kinds=_KINDS) == decode_frame(value)


def test_its_frames_differ_from_confluents_by_their_bytes() -> None:
    both = {FrameKind.APICURIO, FrameKind.CONFLUENT}

    for kinds in (both, {FrameKind.APICURIO}):
        assert decode_frame(_VALUE, kinds=kinds) == Frame(_KEY, Compression.NONE, b"payload")
    with pytest.raises(
        NoRegistryForFramingError, match=r"^found a frame of apicurio with schema apicurio:15, exp"
    ):
        decode_frame(_VALUE)
    confluent = encode_frame(SchemaKey.parse("confluent:15"), b"payload")
    frame = decode_frame(confluent, kinds=both)
    assert frame is not None
    assert (str(frame.key), frame.payload) == ("confluent:15", b"payload")
    with pytest.raises(NoRegistryForFramingError, match="schema confluent:15, expected one of api"):
        decode_frame(confluent, kinds={FrameKind.APICURIO})


@pytest.mark.parametrize("length", range(5, 9))
def test_refuses_an_id_cut_at_any_length(length: int) -> None:
    with pytest.raises(
        TruncatedFrameError,
        match=rf"^Apicurio frame: found {length} bytes \(00.*\), expected a header of 9$",
    ):
        decode_frame(_VALUE[:length], kinds=_KINDS)


def test_an_id_of_0_is_rejected() -> None:
    with pytest.raises(
        UnknownFramingError,
        match=r"^Apicurio frame: found schema id 0 in 9 bytes \(.*\), expected 1 or more$",
    ):
        decode_frame(bytes(9), kinds=_KINDS)


def test_an_id_in_a_header_is_read() -> None:
    headers = [("apicurio.value.globalId", _KEY.id), ("apicurio.key.globalId", b"\0" * 7 + b"\7")]

    assert decode_frame(b"payload", headers, kinds=_KINDS) == Frame(
        _KEY, Compression.NONE, b"payload"
    )
    key = decode_frame(b"key", headers, is_key=True, kinds=_KINDS)
    assert key is not None
    assert str(key.key) == "apicurio:7"
    assert read_schema_key(b"payload", headers, kinds=_KINDS) == _KEY


def test_a_header_without_a_registry_says_so_and_one_with_a_registry_comes_first() -> None:
    headers = [("apicurio.value.globalId", _KEY.id), ("__value_schema_id", b"\0\0\0\0\7")]

    with pytest.raises(NoRegistryForFramingError, match="a frame of apicurio with schema apicurio"):
        decode_frame(b"payload", headers[:1], kinds=[FrameKind.GLUE])
    assert str(read_schema_key(b"payload", headers)) == "confluent:7"
    assert str(read_schema_key(b"payload", headers, kinds=_KINDS)) == "apicurio:15"


_LAST = b"\0" * 7 + b"\7"


def test_a_content_id_is_the_id_of_apicurios_confluent_api() -> None:
    headers = [("apicurio.value.contentId", _LAST), ("apicurio.key.contentId", _KEY.id)]

    value, key = (
        decode_frame(b"payload", headers, is_key=is_key, content_ids=True)
        for is_key in (False, True)
    )

    expected = [SchemaKey.parse(text) for text in ("confluent:7", "confluent:15")]
    assert [frame and frame.key for frame in (value, key)] == expected


def test_a_content_id_is_no_id_of_a_registry_that_is_not_apicurios() -> None:
    both = {FrameKind.APICURIO, FrameKind.CONFLUENT}
    headers = [("apicurio.value.contentId", _LAST), ("apicurio.key.contentId", _KEY.id)]
    message = (
        r"^header apicurio.{}.contentId: found content id {}, expected a registry with the URL of "
        r"Apicurio's Confluent API, whose path has /apis/ccompat/$"
    )

    for kinds, content_ids in ((both, False), (_KINDS, False), (_KINDS, True)):
        framing = Framing(frozenset(kinds), content_ids=content_ids)
        with pytest.raises(NoRegistryForFramingError, match=message.format("value", 7)):
            framing.decode(b"payload", headers, "readings")
        with pytest.raises(NoRegistryForFramingError, match=message.format("key", 15)):
            framing.decode_key(b"payload", headers)
    named = [*headers, ("__value_schema_id", b"\0\0\0\0\x09")]
    assert str(read_schema_key(b"payload", named, kinds=both)) == "confluent:9"


def test_a_global_id_comes_before_a_content_id() -> None:
    headers = [("apicurio.value.globalId", _KEY.id), ("apicurio.value.contentId", _LAST)]

    for both in (headers, headers[::-1]):
        assert str(read_schema_key(b"payload", both, kinds=FrameKind)) == "apicurio:15"
    assert str(read_schema_key(b"payload", headers, content_ids=True)) == "confluent:7"


@pytest.mark.parametrize("part", ["value", "key"])
@pytest.mark.parametrize("id_name", ["globalId", "contentId"])
def test_a_payload_of_json_is_rejected_by_name(part: str, id_name: str) -> None:
    found = [(f"apicurio.{part}.{id_name}", _LAST)]
    encoding = f"apicurio.{part}.encoding"

    def read(text: bytes | None) -> Frame | None:
        headers = [*found, (encoding, text)]
        is_key = part == "key"
        return decode_frame(b"{}", headers, is_key=is_key, kinds=FrameKind, content_ids=True)

    binary = read(b"BINARY")
    assert binary is not None
    assert binary.payload == b"{}"
    for text, shown in ((b"JSON", "b'JSON'"), (None, "b''")):
        with pytest.raises(
            UnknownFramingError, match=f"^header {encoding}: found {shown}, expected b'BINARY'$"
        ):
            read(text)


def test_an_encoding_without_an_id_in_a_header_of_apicurio_means_nothing() -> None:
    headers = [("apicurio.value.encoding", b"JSON")]

    assert decode_frame(_VALUE, headers, kinds=_KINDS) == decode_frame(_VALUE, kinds=_KINDS)
    named = [*headers, ("__value_schema_id", b"\0\0\0\0\7")]
    assert decode_frame(b"payload", named) == decode_frame(b"payload", named[1:])


@pytest.mark.parametrize("name", ["globalId", "contentId"])
@pytest.mark.parametrize(
    "header", [b"", b"\0" * 7, b"\0" * 8, b"\0" * 7 + b"\1x", b"\0\0\0\0\x80\0\0\0", b"\xff" * 8]
)
def test_a_header_that_is_no_id_is_rejected(name: str, header: bytes) -> None:
    with pytest.raises(
        UnknownFramingError,
        match=rf"^header apicurio.value.{name}: found .*, expected 8 with an id from 1 to 2\^31",
    ):
        decode_frame(b"payload", [(f"apicurio.value.{name}", header)], kinds=FrameKind)
