"""Bytes that mean harm: every cut, thousands of flips, claims of gigabytes in six bytes."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from typing import Any

import fastavro
import pytest

from penstock.errors import (
    PayloadError,
    PayloadLimitError,
    Reason,
    TrailingBytesError,
    TruncatedPayloadError,
)
from penstock.schemas import decode, encode
from penstock.schemas._readers import Payload
from penstock.schemas.codec import compile_decoder
from tests.oracle.generate import Maker, damage


def _exact(value: Any) -> Any:
    """Make values comparable that Python compares otherwise: NaN, 0.0 and -0.0, 1 and 1.0."""
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return (type(value), struct.pack("<d", value) if isinstance(value, float) else value)


def test_truncated_and_extended_payloads_are_rejected(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    maker = Maker(seeded)
    for _ in range(trials(60, 3_000)):
        schema = maker.record()
        payload = encode(maker.value(schema), schema)
        read = compile_decoder(schema)
        for length in range(len(payload)):
            with pytest.raises(TruncatedPayloadError):
                read(payload[:length])
        for rest in (b"\0", payload):
            with pytest.raises(TrailingBytesError):
                read(payload + rest)


def test_damaged_bytes_are_rejected_or_read_as_fastavro_reads_them(
    seeded: random.Random, trials: Callable[[int, int], int]
) -> None:
    maker = Maker(seeded)
    outcomes: Counter[str] = Counter()
    for _ in range(trials(100, 5_000)):
        schema = maker.record()
        payload = encode(maker.value(schema), schema)
        parsed = fastavro.parse_schema(schema)
        read = compile_decoder(schema)
        for damaged in (damage(payload, seeded) for _ in range(20)):
            try:
                value = read(damaged)
            except PayloadError as error:
                outcomes[type(error).__name__] += 1
            else:
                expected = fastavro.schemaless_reader(BytesIO(damaged), parsed, None)
                assert _exact(value) == _exact(expected), (schema, damaged.hex())
                outcomes["read"] += 1
    assert outcomes.keys() == {
        "read",
        "TruncatedPayloadError",
        "TrailingBytesError",
        "UndecodablePayloadError",
        "InvalidTextError",
    }
    assert min(outcomes.values()) >= trials(10, 500), outcomes


def test_a_payload_of_another_schema_is_rejected_or_read_to_its_end(seeded: random.Random) -> None:
    maker = Maker(seeded)
    schemas = [maker.record() for _ in range(30)]
    payloads = [encode(maker.value(schema), schema) for schema in schemas]
    for schema in schemas:
        read = compile_decoder(schema)
        for payload in payloads:
            try:
                value = read(payload)
            except PayloadError:
                continue
            fastavro.schemaless_writer(rest := BytesIO(), schema, value)
            assert len(rest.getvalue()) <= len(payload)  # a varint may be longer than it must be


def _array(items: Any) -> Any:
    return {"type": "array", "items": items}


def _record(*types: Any) -> Any:
    fields = [{"name": f"f{number}", "type": type_} for number, type_ in enumerate(types)]
    return {"type": "record", "name": "R", "fields": fields}


_BOMBS = [
    ("string", "80d0acf30e61"),  # 2 GB of text
    ("bytes", "feffffff0f"),
    (_array("long"), "8084af5f00"),  # 100 million items
    (_array(["null", "long"]), "feffffffffffffffff0100"),
    (_array("long"), "ffffffffffffffffff01ffffffffffffffffff01"),  # 2^63, as a negative count
    ({"type": "map", "values": "null"}, "8084af5f"),
    (_array(_array(_array("long"))), "02" * 60_000),
    (_array("null"), "8084af5f00"),
    (_array(_record()), "8084af5f00"),
    (_record(["null", "R"]), "02" * 100_000),
    (_record(_array("R")), "02" * 100_000),
]

# Runs in a process of its own, which a bomb may take down, and prints what each came to.
_CHILD = """
import json, sys
from pathlib import Path
from penstock.errors import PenstockError
from penstock.schemas import decode

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])

bombs = json.load(sys.stdin)
Path("/proc/self/clear_refs").write_text("5")  # the peak is reset
before = peak()
for schema, payload in bombs:
    try:
        decode(bytes.fromhex(payload), schema)
    except PenstockError as error:
        print(type(error).__name__)
print(peak() - before)
"""


def test_bombs_are_rejected_in_bounded_memory() -> None:
    child = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(_BOMBS),
        capture_output=True,
        timeout=90,
        check=True,
        text=True,
    )
    *errors, growth_kib = child.stdout.split()

    assert errors == [
        *["TruncatedPayloadError"] * 7,
        *["InvalidSchemaError"] * 2,
        *["RecursiveSchemaError"] * 2,
    ]
    assert int(growth_kib) < 16 * 1024


_INNER = {"type": "record", "name": "I", "fields": [{"name": "x", "type": ["null", "long"]}]}


@pytest.mark.parametrize(
    ("schema", "payload", "values"),
    [
        (_record("long", "long"), "0202", 2),
        (_array("long"), "04020200", 2),
        (_array("long"), "0202020200", 2),  # in two blocks
        (_array(["null", "long"]), "04000000", 2),
        (_array(_INNER), "04000000", 4),  # two records of one field
        (_array(["null", _INNER]), "0400020000", 3),  # null, and a record of one field
        (_array(_array("long")), "040202000000", 3),
        ({"type": "map", "values": "null"}, "04026102" + "6200", 4),  # two keys and their values
        (_record(_array(_INNER)), "04000000", 5),
    ],
)
def test_the_values_of_a_payload_are_counted(
    schema: Any, payload: str, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Payload, "left", values)
    decode(bytes.fromhex(payload), schema)

    monkeypatch.setattr(Payload, "left", values - 1)
    with pytest.raises(PayloadLimitError):
        decode(bytes.fromhex(payload), schema)


def test_a_list_of_too_many_values_is_rejected_before_an_item_is_read() -> None:
    schema = _record(_array(_INNER))
    most = encode({"f0": [{"x": None}] * 249_999}, schema)  # the list and two values for each
    assert len(decode(most, schema)["f0"]) == 249_999

    with pytest.raises(
        PayloadLimitError,
        match=r"^f0: found more than 500,000 values in the payload, expected at most that$",
    ) as caught:
        decode(encode(500_000, "long") + b"\xff" * 500_001, schema)  # an item is not valid
    assert (caught.value.reason, caught.value.path) == (Reason.OVERSIZE, "f0")


def test_the_deepest_schema_is_read_with_half_the_stack_used() -> None:
    schema: Any = {"type": "record", "name": "R0", "fields": [{"name": "a", "type": "int"}]}
    value: Any = {"a": 1}
    for number in range(1, 32):
        field = {"name": "a", "type": ["null", schema], "default": None}
        schema = {"type": "record", "name": f"R{number}", "fields": [field]}
        value = {"a": value}

    def deep(frames: int) -> Any:
        return deep(frames - 1) if frames else decode(encode(value, schema), schema, schema)

    assert deep(sys.getrecursionlimit() // 2) == value
