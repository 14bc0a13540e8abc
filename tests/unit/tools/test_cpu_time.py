"""The CPU time of a process and its children, while children end."""

from __future__ import annotations

import os
import subprocess
import sys

from tools import cpu_time
from tools.cpu_time import living_seconds, tree_seconds

_BURN = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def test_a_child_counts_while_it_lives_and_when_it_has_ended():
    before = tree_seconds(os.getpid())
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _BURN], **pipes) as child:
        child.stdout.readline()
        living = tree_seconds(os.getpid())
        child.communicate(b"\n")
    ended = tree_seconds(os.getpid())

    assert 0.2 <= living - before  # of 0.3: user and system time are whole ticks each
    assert living <= ended


def test_a_child_that_ends_between_two_files_is_not_counted_twice(monkeypatch):
    parent, child = cpu_time._Times(0, 1, 10, 50), cpu_time._Times(1, 1, 50, 0)
    readings = iter([{1: parent, 2: child}, {1: parent}, {1: parent, 3: child}])
    monkeypatch.setattr(cpu_time, "_read_tree", lambda root: next(readings))

    assert tree_seconds(1) * os.sysconf("SC_CLK_TCK") == 60


def test_the_time_of_a_living_process_is_its_own():
    mine = os.getpid()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", _BURN], **pipes) as child:
        child.stdout.readline()
        found = {pid: seconds for (pid, _), seconds in living_seconds(mine).items()}
        child.communicate(b"\n")

    assert found[child.pid] >= 0.2
    assert child.pid not in {pid for pid, _ in living_seconds(mine)}
