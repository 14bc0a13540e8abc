"""A schema key has a text form and a packed form, and is parsed from both."""

from __future__ import annotations

import pytest

from penstock.framing import FrameKind, SchemaKey

_UUID = "d3e21a3b-f828-4ef7-a864-ea05cba14f2c"
_BYTES = bytes.fromhex(_UUID.replace("-", ""))
_KEYS = [
    (SchemaKey(FrameKind.GLUE, _BYTES), _UUID, _BYTES),
    (SchemaKey(FrameKind.CONFLUENT, b"\0\0\0\x11"), "confluent:17", b"\0\0\0\0\x11"),
    (SchemaKey(FrameKind.CONFLUENT, _BYTES), f"confluent:{_UUID}", b"\1" + _BYTES),
    (SchemaKey(FrameKind.APICURIO, b"\0" * 7 + b"\x11"), "apicurio:17", b"\0" * 8 + b"\x11"),
]


@pytest.mark.parametrize(("key", "text", "packed"), _KEYS)
def test_a_key_is_parsed_from_each_of_its_forms(key: SchemaKey, text: str, packed: bytes) -> None:
    assert (str(key), key.pack()) == (text, packed)
    assert SchemaKey.parse(text) == SchemaKey.unpack(packed) == key


def test_keys_of_different_kinds_have_different_forms() -> None:
    assert len({text for _, text, _ in _KEYS}) == len({len(packed) for *_, packed in _KEYS}) == 4


@pytest.mark.parametrize(
    "text",
    ["", "v7", "17", _UUID.upper(), f"{{{_UUID}}}", "glue:17", f"glue:{_UUID}", "other:17",
     "confluent:", "confluent:017", f"confluent:{2**32}", f"apicurio:{_UUID}", "apicurio:-1"],
)  # fmt: skip
def test_a_text_that_is_not_a_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^found '.*', expected the text of a schema's key$"):
        SchemaKey.parse(text)
