"""Every test belongs to one room."""

from __future__ import annotations

from pathlib import Path

from tools.suite.rooms import Room, check_rooms

_ROOMS = (Room("all", "tests"), Room("kafka", "tests/kafka"))


def test_a_room_leaves_out_the_rooms_below_it():
    assert _ROOMS[0].others_below(_ROOMS) == ["tests/kafka"]
    assert _ROOMS[1].others_below(_ROOMS) == []


def test_every_file_is_in_the_room_that_is_nearest():
    files = [Path("tests/test_a.py"), Path("tests/kafka/test_b.py")]

    assert check_rooms(_ROOMS, files) == []


def test_a_file_in_no_room_is_named():
    files = [Path("tests/test_a.py"), Path("tests/kafka/test_b.py"), Path("other/test_c.py")]

    assert check_rooms(_ROOMS, files) == [
        "other/test_c.py is in no room: add one to tools/suite/rooms.py"
    ]


def test_a_room_without_tests_is_named():
    assert check_rooms(_ROOMS, [Path("tests/test_a.py")]) == [
        "tests/kafka is a room in tools/suite/rooms.py without tests"
    ]
