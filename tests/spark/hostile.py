"""Records that mean harm, and what must become of each."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from penstock.errors import SchemaNotFoundError
from penstock.framing import FrameKind, SchemaKey, encode_glue_frame
from penstock.registry import SchemaVersion
from penstock.schemas import encode
from tests.oracle.generate import damage
from tests.spark.records import frame, make_record, make_version

ROW = "row"
_OWN = (("deviceId", "string"), ("timestamp", "long"))
_MORE = (
    ("text", ["null", "string"]),
    ("list", {"type": "array", "items": {"type": "array", "items": "int"}}),
    ("map", {"type": "map", "values": "bytes"}),
)
_GOOD = {
    "long": make_record(*_OWN, ("x", ["null", "long"]), *_MORE),
    "double": make_record(*_OWN, ("x", ["null", "double"]), *_MORE),
}
_DEEP: Any = "int"
for _ in range(500):
    _DEEP = {"type": "array", "items": _DEEP}
_NODE = {"type": "record", "name": "Node", "fields": [{"name": "n", "type": ["null", "Node"]}]}
# Schemas that nobody is to decode with, and why.
_BAD = {
    "recursive": (make_record(*_OWN, ("node", _NODE)), "recursive-schema"),
    "items without bytes": (
        make_record(*_OWN, ("list", {"type": "array", "items": "null"})),
        "undecodable",
    ),
    "deep": (make_record(*_OWN, ("list", _DEEP)), "undecodable"),
    "wide": (make_record(*_OWN, *((f"f{at}", "int") for at in range(10_000))), "undecodable"),
    "long": (make_record(*_OWN) | {"doc": "x" * 500_000}, "undecodable"),
    "contradicting": (make_record(*_OWN, ("x", ["null", "string"])), "schema-conflict"),
    "no record": ("string", "unroutable"),
}
_CLAIMS = [
    encode(count, "long") for count in (2_000_000_000, 10**12, 2**62, -1, -(2**31), -(2**62))
]


class HostileRegistry:
    """Versions that are there from the start; `refused` says of some why nobody may use them."""

    kind = FrameKind.GLUE

    def __init__(self, rng: random.Random) -> None:
        """Make the ids."""
        schemas = [*_GOOD.values(), *(schema for schema, _ in _BAD.values())]
        made = [
            replace(make_version(number, schema), key=_draw_key(rng))
            for number, schema in enumerate(schemas, 1)
        ]
        self.good, bad = made[: len(_GOOD)], made[len(_GOOD) :]
        reasons = (reason for _, reason in _BAD.values())
        self.refused = dict(zip((each.key for each in bad), reasons, strict=True))
        self._by_key = {each.key: each for each in made}

    def get(self, key: SchemaKey) -> SchemaVersion:
        """Give a version, as a registry does."""
        if key not in self._by_key:
            raise SchemaNotFoundError(f"{key} is not there")
        return self._by_key[key]


@dataclass
class Attacker:
    """Makes records, and says by how they are made what must become of them."""

    rng: random.Random
    registry: HostileRegistry
    sent: int = 0

    def good(self) -> bytes:
        """Make a record that nothing is wrong with."""
        version = self.rng.choice(self.registry.good)
        return frame(version, self.event(version), compress=self.rng.random() < 0.1)

    def event(self, version: SchemaVersion) -> dict[str, Any]:
        """Make an event; no two are the same."""
        self.sent += 1
        x = self.rng.randrange(-(2**53), 2**53)
        return {
            "deviceId": f"d{self.sent}",
            "timestamp": self.sent,
            "x": None if self.sent % 5 == 0 else float(x) if version.number == 2 else x,
            "text": self.rng.choice([None, "", "Öl \U0001f6e2"]),
            "list": [[self.sent], [], [1, 2]],
            "map": {"k": self.rng.randbytes(3)},
        }

    def plain(self) -> tuple[SchemaVersion, bytes]:
        """Make the payload of an event."""
        version = self.rng.choice(self.registry.good)
        return version, encode(self.event(version), version.schema)

    def records(self, count: int) -> list[tuple[bytes | None, str | None]]:
        """Make records with what becomes of them; None is for others to judge."""
        found: list[tuple[bytes | None, str | None]] = []
        for make in (self._cut, self._lengthened, self._headers, self._schemas, self._bombs):
            found += make()
        found += [(self._damaged(), None) for _ in range(count - len(found))]
        self.rng.shuffle(found)
        return found

    def _cut(self) -> Iterator[tuple[bytes, str]]:
        version, payload = self.plain()
        for compress in (False, True):
            whole = encode_glue_frame(version.key, payload, compress=compress)
            yield from (
                (whole[:size], "truncated" if size else "unknown-framing")
                for size in range(len(whole))
            )

    def _lengthened(self) -> Iterator[tuple[bytes, str]]:
        for rest in (b"\0", b"\0" * 8, self.rng.randbytes(20)):
            version, payload = self.plain()
            yield encode_glue_frame(version.key, payload + rest), "trailing-bytes"
            yield encode_glue_frame(version.key, payload + rest, compress=True), "trailing-bytes"
            yield encode_glue_frame(version.key, payload, compress=True) + rest, "undecodable"

    def _headers(self) -> Iterator[tuple[bytes | None, str | None]]:
        version, payload = self.plain()
        whole = encode_glue_frame(version.key, payload)
        yield None, "tombstone"
        for other in self.rng.sample([*range(3), *range(4, 256)], 30):
            yield bytes([other]) + whole[1:], None
        for other in self.rng.sample([*range(1, 5), *range(6, 256)], 30):
            yield whole[:1] + bytes([other]) + whole[2:], "unknown-framing"
        yield whole[:1] + b"\5" + whole[2:], "undecodable"
        yield b"\0\0\0\0\7" + payload, "no-registry-for-framing"

    def _schemas(self) -> Iterator[tuple[bytes, str]]:
        _, payload = self.plain()
        for key, reason in self.registry.refused.items():
            yield encode_glue_frame(key, payload), reason
        unknown = _draw_key(self.rng)
        yield encode_glue_frame(unknown, payload), "unknown-schema"
        yield encode_glue_frame(unknown, payload, compress=True), "unknown-schema"

    def _bombs(self) -> Iterator[tuple[bytes, str | None]]:
        version, payload = self.plain()
        device = encode("d", "string")
        for claim in _CLAIMS:
            for before in (b"", device + b"\0\0\2", device + b"\0\0\0", device + b"\0\0\0\0"):
                for after in (b"", b"\2a", claim):
                    yield encode_glue_frame(version.key, before + claim + after), None
        yield _inflating(version.key, 2**30), "inflate-limit"
        nested = zlib.compress(zlib.compress(payload))
        yield b"\3\5" + version.key.id + nested, None

    def _damaged(self) -> bytes:
        version, payload = self.plain()
        match self.rng.randrange(4):
            case 0:
                return encode_glue_frame(version.key, damage(payload, self.rng))
            case 1:
                return damage(encode_glue_frame(version.key, payload, compress=True), self.rng)
            case 2:  # valid for another schema
                other = self.rng.choice(self.registry.good)
                return encode_glue_frame(other.key, payload)
        return damage(encode_glue_frame(version.key, payload), self.rng)


def _draw_key(rng: random.Random) -> SchemaKey:
    return SchemaKey(FrameKind.GLUE, UUID(int=rng.getrandbits(128), version=4).bytes)


def _inflating(key: SchemaKey, size: int) -> bytes:
    """Make a frame that inflates to so many bytes, without inflating or deflating as many."""
    deflating = zlib.compressobj(9)
    begin = deflating.compress(b"\0" * 2**20) + deflating.flush(zlib.Z_FULL_FLUSH)
    again = deflating.compress(b"\0" * 2**20) + deflating.flush(zlib.Z_FULL_FLUSH)
    return b"\3\5" + key.id + begin + again * (size // 2**20 - 1)
