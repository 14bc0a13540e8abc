"""Every event has a device and a time of its own."""

from __future__ import annotations

import tracemalloc
from unittest.mock import patch

from penstock.producing import Stamper
from penstock.records import READING

_CLOCK = "penstock.producing.stamper.time.time_ns"


def test_timestamps_of_a_device_increase_strictly() -> None:
    stamper = Stamper(READING, "d-1")
    with patch(_CLOCK, side_effect=[9_000_000] * 2 + [1, 10**8]):
        times = [stamper.stamp({}).timestamp for _ in range(4)]

    assert times == [9, 10, 11, 100]


def test_a_wrong_reading_of_the_clock_does_not_stay() -> None:
    stamper = Stamper(READING, "d-1")
    year, minute = 31_536_000_000, 60_000
    readings = [0, year, 5, 5, 5 + minute, 5]
    with patch(_CLOCK, side_effect=[each * 1_000_000 for each in readings]):
        times = [stamper.stamp({}).timestamp for _ in readings]

    assert times == [1, year, 5, 6, 5 + minute, 6 + minute]


def test_devices_have_independent_timestamps() -> None:
    stamper = Stamper(READING, "d-1")
    with patch(_CLOCK, return_value=9_000_000):
        stamps = [stamper.stamp(event) for event in ({}, {"deviceId": "d-2"}, {"deviceId": 7}, [])]

    assert [(each.base["deviceId"], each.timestamp) for each in stamps] == [
        *(("d-1", 9), ("d-2", 9), ("d-1", 10), ("d-1", 11)),
    ]
    assert stamps[1].base == {"deviceId": "d-2", "timestamp": 9}


def test_a_forgotten_device_gets_no_timestamp_twice() -> None:
    stamper = Stamper(READING, "d-0")
    with (
        patch(_CLOCK, return_value=9_000_000),
        patch("penstock.producing.stamper._MOST_KEYS", 3),
    ):
        events = [{"deviceId": f"d-{number % 5}"} for number in range(50)]
        stamps = [stamper.stamp(event) for event in events]

    given = [(each.base["deviceId"], each.timestamp) for each in stamps]
    assert len(set(given)) == 50
    for device in {each.base["deviceId"] for each in stamps}:
        times = [each.timestamp for each in stamps if each.base["deviceId"] == device]
        assert times == sorted(times)
    assert len(stamper._last) <= 3


def test_long_keys_are_not_kept() -> None:
    stamper = Stamper(READING, "d-0")
    tracemalloc.start()
    for number in range(20):
        stamper.stamp({"deviceId": f"{number:01000000d}"})
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert kept < 1_000_000
