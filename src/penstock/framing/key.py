"""The key of a schema: the kind of frame and the id bytes that the frame carries.

| kind      | id                          | as text           | packed                |
| --------- | --------------------------- | ----------------- | --------------------- |
| glue      | 16 bytes of a UUID          | the UUID          | the 16 bytes          |
| confluent | 4 bytes, a number from 1    | `confluent:17`    | 00 and the 4 bytes    |
| confluent | 16 bytes of a GUID          | `confluent:UUID`  | 01 and the 16 bytes   |
| apicurio  | 8 bytes, a number from 1    | `apicurio:17`     | 00 and the 8 bytes    |

Spark compares keys in the packed form. It holds the bytes of the frame, and each kind has its own
length.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self
from uuid import UUID


class FrameKind(StrEnum):
    """The kind of a frame, which determines the registry that has its schema."""

    GLUE = "glue"
    CONFLUENT = "confluent"
    APICURIO = "apicurio"


_UUID_SIZE: Final = 16
# The first byte of the frames of a kind, by the size of the id; a packed Glue key has none.
_MAGIC: Final = {
    (FrameKind.CONFLUENT, 4): b"\0",
    (FrameKind.CONFLUENT, _UUID_SIZE): b"\1",
    (FrameKind.APICURIO, 8): b"\0",
    (FrameKind.GLUE, _UUID_SIZE): b"",
}
_KINDS: Final = {len(magic) + size: (kind, size) for (kind, size), magic in _MAGIC.items()}


@dataclass(frozen=True, slots=True)
class SchemaKey:
    """The key of a schema in the registry of its kind; in Glue, of one version of a schema."""

    kind: FrameKind
    id: bytes

    def __str__(self) -> str:
        """Return the text form, which rows and messages hold."""
        is_uuid = len(self.id) == _UUID_SIZE
        text = str(UUID(bytes=self.id)) if is_uuid else str(int.from_bytes(self.id))
        return text if self.kind is FrameKind.GLUE else f"{self.kind}:{text}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the key of a text form.

        Raises:
            ValueError: the text is not the text form of a key.
        """
        name, colon, number = text.rpartition(":")
        try:
            kind = FrameKind(name) if colon else FrameKind.GLUE
            key = cls(kind, _read_number(kind, number) or UUID(number).bytes)
            if (kind, len(key.id)) in _MAGIC and str(key) == text:
                return key
        except (ValueError, OverflowError):
            pass
        raise ValueError(f"found {text!r}, expected the text of a schema's key")

    def pack(self) -> bytes:
        """Return the packed form."""
        return _MAGIC[self.kind, len(self.id)] + self.id

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return the key of a packed form."""
        kind, size = _KINDS[len(packed)]
        return cls(kind, packed[-size:])


def _read_number(kind: FrameKind, text: str) -> bytes | None:
    """Return a number as bytes of the kind's id size; None if kind or text has no number."""
    sizes = [size for of, size in _MAGIC if of is kind and size != _UUID_SIZE]
    return int(text).to_bytes(sizes[0]) if sizes and text.isdecimal() else None
