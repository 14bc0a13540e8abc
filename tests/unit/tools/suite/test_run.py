"""Rooms run in processes of their own; each failure counts, whatever form it has."""

from __future__ import annotations

import pytest

from tools.suite import __main__ as command
from tools.suite.report import Outcome, Result, show_results
from tools.suite.rooms import Room
from tools.suite.run import Suite, may_start, run_again, run_rooms

_WORKS, _ALSO = Room("works", "tests/works"), Room("also", "tests/also")
_WAITS = Room("waits", "tests/waits", waits=True)
_SPARK = Room("spark", "tests/spark", spark=True)
_MORE = Room("more", "tests/more", spark=True, waits=True)
_NICE = "import os\nnice = [os.getpriority(os.PRIO_PROCESS, it) for it in (os.getppid(), 0)]\n"


@pytest.fixture(autouse=True)
def _without_plugins(monkeypatch):
    """No plugin is needed, and their imports are most of what pytest's start costs."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.mark.parametrize(
    ("room", "running", "may"),
    [
        (_WORKS, [], True),
        (_WORKS, [_ALSO], True),
        (_WORKS, [_ALSO, _SPARK], False),
        (_WORKS, [_ALSO, _WAITS], True),
        (_WAITS, [_ALSO, _WORKS], True),
        (_MORE, [_SPARK], True),
        (_MORE, [_SPARK, _MORE], False),
        (_SPARK, [_MORE, _WAITS], True),
    ],
)
def test_rooms_share_two_cores(room, running, may):
    assert may_start(room, running, cores=2) is may


def test_more_cores_run_three_rooms_with_spark():
    assert may_start(_MORE, [_SPARK, _MORE], cores=8)
    assert not may_start(_MORE, [_SPARK, _MORE, _MORE], cores=8)


def _run(clone, **sources):
    rooms = [
        Room(name, f"tests/{name}", longest=name == "longest", once=name == "once")
        for name in sources
    ]
    for name, source in sources.items():
        (clone / "tests" / name).mkdir(parents=True)
        (clone / "tests" / name / "test_it.py").write_text(source)
    suite = Suite(rooms, clone)
    results = run_rooms(rooms, suite, 2, lambda result: None)
    results = run_again(results, suite, lambda result: None)
    return {result.room: result for result in results}


def test_results_are_counted_and_rooms_yield_to_the_longest(tmp_path):
    found = _run(
        tmp_path,
        mixed=f"{_NICE}def test_a(): assert nice[0] < nice[1]\ndef test_b(): assert 0\n",
        longest=f"{_NICE}def test_a(): assert nice[0] == nice[1]\n",
        broken="import nothing_of_that_name\n",
        crashed="import os\ndef test_a(): os._exit(3)\n",
        empty="",
    )

    counts = {name: (result.passed, result.failed) for name, result in found.items()}
    failed = {"broken": (0, 1), "crashed": (0, 1), "empty": (0, 1)}
    assert counts == {"mixed": (1, 1), "longest": (1, 0), **failed}
    assert [test.name for test in found["mixed"].tests if test.failed] == [
        "tests.mixed.test_it::test_b"
    ]


_LACKING = """
import pytest
def test_works(): pass
@pytest.mark.skipif(True, reason="this machine lacks what it needs")
def test_lacks(): assert 0
"""


def test_a_skipped_test_has_not_passed_and_is_shown(tmp_path, monkeypatch, capsys):
    (tmp_path / "tests/room").mkdir(parents=True)
    (tmp_path / "tests/room/test_it.py").write_text(_LACKING)
    monkeypatch.setattr(command, "_CLONE", tmp_path)
    monkeypatch.setattr(command, "ROOMS", (Room("room", "tests/room"),))
    monkeypatch.setattr("sys.argv", ["suite"])

    assert command.main() == 0

    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("room                 1 passed, 1 skipped in ")
    assert told[-1] == "1 passed, 1 skipped, 0 failed"


def test_rooms_share_what_they_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    found = _run(tmp_path, mixed="import sys\ndef test_a(): assert not sys.dont_write_bytecode\n")

    assert (found["mixed"].passed, found["mixed"].failed) == (1, 0)


_FIRST_TIME = """
import pathlib
def test_works(): pass
def test_fails_once():
    here = pathlib.Path(__file__).with_name("begun")
    begun = here.exists()
    here.touch()
    assert begun
"""


def test_a_test_that_passes_when_it_runs_again_is_named(tmp_path):
    found = _run(tmp_path, accident=_FIRST_TIME, once=_FIRST_TIME, crashed="import os; os._exit(3)")

    counts = {name: (result.passed, result.failed) for name, result in found.items()}
    assert counts == {"accident": (2, 0), "once": (1, 1), "crashed": (0, 1)}
    said = "passed only when it ran again, alone: tests.accident.test_it::test_fails_once"
    assert show_results(list(found.values()), 1).count("ran again") == 1
    assert said in show_results(list(found.values()), 1).splitlines()


def test_a_test_that_fails_again_has_failed(tmp_path):
    both = f"{_FIRST_TIME}def test_never_passes(): assert 0\n"

    found = _run(tmp_path, both=both)["both"]

    assert (found.passed, found.failed, found.code) == (2, 1, 1)


def test_many_failures_are_no_accident(tmp_path):
    lines = _FIRST_TIME + "".join(f"def test_{n}(): assert 0\n" for n in range(3))

    assert _run(tmp_path, many=lines)["many"].failed == 4


@pytest.mark.parametrize(("night", "code"), [("", 0), ("1", 1)])
def test_nothing_runs_again_at_night(tmp_path, monkeypatch, capsys, night, code):
    (tmp_path / "tests/room").mkdir(parents=True)
    (tmp_path / "tests/room/test_it.py").write_text(_FIRST_TIME)
    monkeypatch.setattr(command, "_CLONE", tmp_path)
    monkeypatch.setattr(command, "ROOMS", (Room("room", "tests/room"),))
    monkeypatch.setattr("sys.argv", ["suite"])
    monkeypatch.setenv("NIGHTLY", night)

    assert command.main() == code
    assert ("passed only when it ran again" in capsys.readouterr().out) == (code == 0)


def test_running_rooms_are_interrupted_with_the_suite(tmp_path):
    lines = ["import os, pathlib, time, pytest", "def test_it():", " try:"]
    lines += ["  pathlib.Path('begun').touch()", "  time.sleep(600)"]
    lines += [" finally:", "  pathlib.Path('cleaned').touch()"]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("\n".join(lines))
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "test_it.py").write_text(
        "import pathlib, time\ndef test_it():\n"
        " while not pathlib.Path('begun').exists():\n  time.sleep(0.01)\n"
    )

    def interrupt(result):
        raise KeyboardInterrupt

    rooms = [Room("long", "tests"), Room("short", "short")]
    with pytest.raises(KeyboardInterrupt):
        run_rooms(rooms, Suite(rooms, tmp_path), 2, interrupt)

    assert (tmp_path / "cleaned").exists()


def test_the_slowest_come_first_and_the_totals_last():
    tests = (Outcome("a::one", 1, 0.5, False), Outcome("a::two", 3, 0.25, True))
    shown = show_results([Result("a", tests, 5, 2, 1), Result("b", (), 7, 1, 5)], 8)

    assert shown.splitlines() == [
        "",
        "  wall s     CPU s  slowest rooms",
        "     7.0       1.0  b",
        "     5.0       2.0  a",
        "",
        "  wall s     CPU s  slowest tests",
        "     3.0       0.2  a::two",
        "     1.0       0.5  a::one",
        "",
        "8 s in all, 3 s of CPU",
        "1 passed, 0 skipped, 2 failed",
    ]


def test_the_cpu_seconds_of_a_test_are_those_of_its_children_too(tmp_path):
    burn = "import subprocess, sys\ncode = 'import time\\nwhile time.process_time() < 1: pass'\n"
    burn += "def test_it(): subprocess.run([sys.executable, '-c', code], check=True)\n"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(burn)
    room = Room("burns", "tests")

    (result,) = run_rooms([room], Suite([room], tmp_path), 2, lambda result: None)

    assert result.tests[0].cpu >= 1
