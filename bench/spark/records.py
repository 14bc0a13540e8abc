"""Versions of one schema as it grows, and framed records of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle
from random import Random
from typing import Any

from penstock.framing import FrameKind, SchemaKey, encode_frame, encode_glue_frame
from penstock.registry import SchemaVersion, VersionStatus
from penstock.schemas import Schema, compile_encoder

BASE_FIELDS = 20
_EXTRAS = 50  # versions that each add a field to the one before; later ones change the order
_VALUES: dict[str, Any] = {"string": "running-smoothly", "long": 1_000_000, "double": 0.5}
_KINDS = tuple(_VALUES)
_FRAMES = 1_000
_WORDS = "ok warm idle running degraded maintenance offline north south pump valve".split()


def make_version(number: int) -> SchemaVersion:
    """Return the version with this number, from 0: 20 fields, and one more for each up to 69."""
    turned, added = divmod(number, _EXTRAS)
    optional = [f"f{at}" for at in range(BASE_FIELDS - 2)]
    names = [*optional[turned:], *optional[:turned], *(f"x{at}" for at in range(added))]
    fields: list[Schema] = [
        {"name": "deviceId", "type": "string"},
        {"name": "timestamp", "type": "long"},
        *({"name": name, "type": ["null", _kind(name)], "default": None} for name in names),
    ]
    schema = {"type": "record", "name": "Reading", "fields": fields}
    key = SchemaKey(FrameKind.GLUE, (number + (7 << 100)).to_bytes(16))
    status = VersionStatus.AVAILABLE
    return SchemaVersion(key, "bench", number + 1, status, schema, None)


@cache
def make_versions(count: int) -> tuple[SchemaVersion, ...]:
    """Return the first versions."""
    return tuple(map(make_version, range(count)))


def make_named_versions(count: int) -> tuple[SchemaVersion, ...]:
    """Return the first version of so many schemas, which differ in their names."""
    return tuple(
        replace(make_version(0), name=f"schema{at}", key=make_version(at).key)
        for at in range(count)
    )


def make_sized_frames(version: SchemaVersion, size: int, compressed_percent: int) -> list[bytes]:
    """Return a thousand frames of this size before some are compressed.

    Half of the text is random, as in ids; numbers are random. So zlib saves what it saves of true
    records.
    """
    random = Random(size)
    encode = compile_encoder(version.schema)
    empty = len(encode(_make_sized_event(version, random, 0)))
    texts = sum(_kind(name) == "string" for name in _list_own(version))
    length = (size - empty) // texts
    return [
        encode_glue_frame(
            version.key,
            encode(_make_sized_event(version, random, length)),
            number % 100 < compressed_percent,
        )
        for number in range(_FRAMES)
    ]


def make_frames(versions: Sequence[SchemaVersion], poison_share: float = 0.0) -> list[bytes]:
    """Return a thousand frames of the versions in turns, some of them cut off."""
    encoders = [compile_encoder(version.schema) for version in versions]
    turns = cycle(zip(versions, encoders, strict=True))
    frames = [
        encode_frame(version.key, encode(_make_event(version, number)))
        for number, (version, encode) in zip(range(_FRAMES), turns, strict=False)
    ]
    every = round(1 / poison_share) if poison_share else _FRAMES + 1
    return [
        frame[:-1] if number % every == every - 1 else frame for number, frame in enumerate(frames)
    ]


def _make_event(version: SchemaVersion, number: int) -> dict[str, Any]:
    own = {"deviceId": f"device-{number:06d}", "timestamp": 1_795_239_498_031 + number}
    return own | {name: _VALUES[_kind(name)] for name in _list_own(version)}


def _make_sized_event(version: SchemaVersion, random: Random, length: int) -> dict[str, Any]:
    """Return an event of random values, whose texts have this length."""

    def text() -> str:
        half = random.randbytes(length // 4).hex()
        return half + " ".join(random.choices(_WORDS, k=length))[: length - len(half)]

    values: dict[str, Callable[[], Any]] = {
        "string": text,
        "long": lambda: random.randrange(10**9),
        "double": lambda: random.uniform(-40, 120),
    }
    own = {"deviceId": f"{random.randrange(1000):06d}", "timestamp": 1_795_239_498_031}
    return own | {name: values[_kind(name)]() for name in _list_own(version)}


def _list_own(version: SchemaVersion) -> list[str]:
    """Return the fields that not every version has."""
    schema: Any = version.schema
    return [field["name"] for field in schema["fields"][2:]]


def _kind(name: str) -> str:
    return _KINDS[int(name[1:]) % len(_KINDS)]
