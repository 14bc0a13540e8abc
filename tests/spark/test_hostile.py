"""Bytes that mean harm reach no table, and what is beside them does."""

from __future__ import annotations

from collections import Counter

import pytest

from penstock.errors import InvalidTextError, PayloadError
from penstock.schemas import decode, encode
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import split_frames
from tests.oracle.generate import Maker, damage
from tests.spark.records import GLUE, frame, make_record, make_topic, make_version

pytestmark = pytest.mark.usefixtures("compiled")

_HUGE = encode(2_000_000_000, "long")


def _statuses(spark, decoder, values):
    decoded = decoder.decode(split_frames(make_topic(spark, values), GLUE))
    rows = decoded.select("offset", "status").collect()
    return [row.status for row in sorted(rows)]


def _among_good(values, good):
    """Put a good record before each of the others and behind the last."""
    return [each for value in values for each in (good, value)] + [good]


def test_cut_and_lengthened_records_are_found_and_their_neighbours_kept(spark, seeded):
    maker = Maker(seeded)
    version = make_version(1, maker.record())
    header = frame(version, maker.value(version.schema))[:18]
    payload = encode(maker.value(version.schema), version.schema)
    cut = [header + payload[:length] for length in range(len(payload))]
    longer = [header + payload + rest for rest in (b"\0", payload, b"\0" * 8, b"x" * 100)]

    found = _statuses(
        spark, Decoder(spark, [version]), _among_good([*cut, *longer], header + payload)
    )

    assert found[::2] == ["decoded"] * (len(cut) + len(longer) + 1)
    assert found[1::2] == ["undecodable"] * len(cut) + ["trailing-bytes"] * len(longer)


def test_damaged_records_are_refused_where_ours_refuses_them(spark, seeded, trials):
    outcomes = Counter()
    for _ in range(trials(2, 40)):
        maker = Maker(seeded)
        version = make_version(1, maker.record())
        header = frame(version, maker.value(version.schema))[:18]
        good = encode(maker.value(version.schema), version.schema)
        damaged = [damage(good, seeded) for _ in range(trials(500, 2_000))]
        found = _statuses(
            spark,
            Decoder(spark, [version]),
            _among_good([header + each for each in damaged], header + good),
        )
        assert set(found[::2]) == {"decoded"}
        for payload, status in zip(damaged, found[1::2], strict=True):
            outcomes[_judge(payload, version.schema, status)] += 1
    assert outcomes["refused by both"] >= 0.4 * outcomes.total(), outcomes
    assert outcomes["read by both"] >= 0.05 * outcomes.total(), outcomes


def _judge(payload, schema, status):
    try:
        decode(payload, schema)
    except PayloadError as error:
        assert status != "decoded", (payload.hex(), schema)
        assert status != "invalid-text" or isinstance(error, InvalidTextError), payload.hex()
        return "refused by both"
    assert status == "decoded", (payload.hex(), schema)
    return "read by both"


def test_claims_of_gigabytes_in_a_few_bytes_do_no_harm(spark):
    version = make_version(
        1,
        make_record(
            ("text", ["null", "string"]), ("bytes", ["null", "bytes"]),
            ("list", {"type": "array", "items": {"type": "array", "items": "long"}}),
            ("map", {"type": "map", "values": "int"}),
        ),
    )  # fmt: skip
    good = frame(version, {"text": "a", "bytes": b"b", "list": [[1]], "map": {"k": 1}})
    header = good[:18]
    bombs = [
        header + b"\2" + _HUGE,
        header + b"\0\2" + _HUGE,
        header + b"\0\0" + _HUGE,
        header + b"\0\0" + encode(2**20, "long") * 2,
        header + b"\0\0\0" + _HUGE + b"\2a",
        header + b"\0\0\0" + encode(-(2**62), "long") + b"\2\2a",
    ]

    found = _statuses(spark, Decoder(spark, [version]), _among_good(bombs, good))

    assert found[::2] == ["decoded"] * (len(bombs) + 1)
    assert found[1::2] == ["undecodable"] * len(bombs)
