"""The rung of peers: it counts what a system does with a backlog, and no system that loses rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.rungs import peers
from localcloud.testing import ask_for
from systems.processes import is_stopped


class _Table:
    """A table whose newest snapshot says that all rows of a topic are there."""

    lost = 0

    def __init__(self, endpoint, account, name):
        self.name = name

    def count(self):
        return _System.topic.records

    def count_rows(self):
        return _System.topic.records - self.lost


class _System:
    """A system whose process is this one."""

    account = "111111111111"
    topic = peers._Topic(None, "peers-system", [])

    def __init__(self, place, topic):
        self.pid = os.getpid()

    def start(self):
        assert self.topic.records, "it begins with a topic that has records"

    def close(self):
        """End nothing."""


@pytest.fixture
def stopped(monkeypatch):
    """Replace all processes of the rung; list the backlogs, and if the system stood still."""
    written, still = [], []

    class Stopped:
        def __init__(self, root):
            still.append(root)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            still.pop()

    def write(topic, records):
        written.append((records, bool(still)))
        topic.records += records

    monkeypatch.setattr(peers, "_WARM", 2)
    monkeypatch.setattr(peers._Topic, "write", write)
    monkeypatch.setattr(peers, "_stopped", Stopped)
    monkeypatch.setattr(peers, "GlueTable", _Table)
    monkeypatch.setattr(peers, "make_lake", lambda *_: None)
    _System.topic = peers._Topic(None, "peers-system", [])
    return written


def _drain(turns):
    place = peers.Place("servers", "registry", "aws", Path())
    return list(peers._drain(place, _System, _System.topic, 100, turns))


def test_a_system_stands_still_while_a_backlog_that_counts_is_written(stopped):
    spent = _drain(2)

    assert stopped == [(200, False), (100, True), (100, True)]
    assert len(spent) == 2
    assert min(spent) >= 0


@pytest.mark.parametrize("lost", [1, -1])
def test_a_system_that_has_other_rows_than_the_topic_fails_the_rung(stopped, lost, monkeypatch):
    monkeypatch.setattr(_Table, "lost", lost)

    with pytest.raises(AssertionError, match=rf"has {300 - lost} rows, expected 300"):
        _drain(1)


def test_a_process_and_its_children_stand_still_and_go_on():
    script = "import subprocess as s; c = s.Popen(['sleep', '60']); print(c.pid, flush=True)"
    words = [sys.executable, "-c", f"{script}; c.wait()"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        child = int(process.stdout.readline())
        with peers._stopped(process.pid):
            stood_still = ask_for(lambda: is_stopped(process.pid) and is_stopped(child), 10)
        went_on = ask_for(lambda: not is_stopped(process.pid) and not is_stopped(child), 10)
        os.kill(child, signal.SIGKILL)

    assert stood_still
    assert went_on
