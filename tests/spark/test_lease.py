"""One job at a time works with a checkpoint, and a dead one keeps nobody waiting."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from penstock.errors import CheckpointTakenError
from penstock.spark import Lease, StateFiles
from penstock.spark.state import lease
from penstock.spark.state.lease import LeasedSink
from penstock.spark.state.process import describe_driver, has_ended
from penstock.tables import BatchId
from tests.fixtures.functions import wait_until

_BATCH = BatchId("q", 3)
_SECONDS = 60


class Query:
    """Runs until it is told to end."""

    def __init__(self):
        self.ended = False

    def awaitTermination(self, _):
        time.sleep(0.02)
        return self.ended


class Sinks:
    """Counts what was written, and calls what happens meanwhile."""

    def __init__(self, meanwhile=lambda: None):
        self.written = 0
        self.meanwhile = meanwhile

    def write(self, rows, batch, part):
        self.meanwhile()
        self.written += 1
        return {}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return f"file://{tmp_path}"


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    return tmp_path / "penstock-owner"


@pytest.fixture
def hold(spark, folder):
    """Start jobs that hold the checkpoint, and end them all."""
    started = []

    def start():
        query = Query()
        with Lease.claim(spark, folder) as held:
            held.keep_for(query)
        started.append((held, query))
        return held, query

    yield start
    for held, query in started:
        query.ended = True
        held._keeper.join(_SECONDS)


@pytest.fixture
def elsewhere(owner: Path):
    """A claim of a job on another machine, which is silent."""
    who = {
        "host": "ip-10-0-0-7", "machine": "ip-10-0-0-7 boot pid:[1]", "processes": {"7": "1"},
        "since": "2026-11-21T08:00:00+00:00",
    }  # fmt: skip
    owner.mkdir()
    claim = owner / f"{4:020d}-other.json"
    claim.write_text(json.dumps(who))
    claim.with_suffix(".beat").touch()
    return claim


def test_the_job_that_starts_second_is_refused(spark, folder, hold, monkeypatch):
    monkeypatch.setattr(lease, "_PATIENCE_SECONDS", _SECONDS)
    first, _ = hold()

    with pytest.raises(
        CheckpointTakenError,
        match=rf"^another job works with the checkpoint {folder}: the one with the processes "
        rf"{os.getpid()} and \d+ on \S+ since 20\S+; end that one first, or leave it be$",
    ):
        Lease.claim(spark, folder)
    first.check()


def test_an_end_frees_the_checkpoint_at_once(hold, owner):
    for _ in range(2):
        _, query = hold()
        query.ended = True
        wait_until("free", lambda: not list(owner.glob("*.json")), _SECONDS)


def test_a_start_that_fails_frees_the_checkpoint(spark, folder, owner):
    with pytest.raises(OSError, match="no broker"), Lease.claim(spark, folder):
        raise OSError("no broker")

    # At once: a driver that ends now does not wait for its threads.
    assert list(owner.glob("*.json")) == []


def test_a_job_that_was_killed_here_keeps_nobody_waiting(spark, folder, owner, monkeypatch):
    monkeypatch.setattr(lease, "_PATIENCE_SECONDS", _SECONDS)
    with subprocess.Popen(["sleep", "600"]) as process:
        who = describe_driver(spark)
        stat = Path(f"/proc/{process.pid}/stat").read_text()
        who["processes"] = {str(process.pid): stat.rpartition(")")[2].split()[19]}
        assert not has_ended(who)
        process.kill()
        wait_until("its end", lambda: has_ended(who), _SECONDS)  # before anybody waits for it
    owner.mkdir()
    (owner / f"{1:020d}-killed.json").write_text(json.dumps(who))
    (owner / f"{1:020d}-killed.beat").touch()

    began = time.monotonic()
    with Lease.claim(spark, folder) as held:
        assert time.monotonic() - began < _SECONDS
        held.check()
        assert [path.name[:20] for path in owner.glob("*.json")] == [f"{2:020d}"]


def test_an_id_that_another_process_has_by_now_is_no_life(spark):
    who = describe_driver(spark)

    assert not has_ended(who)
    assert has_ended({**who, "processes": dict.fromkeys(who["processes"], "1")})
    assert not has_ended({**who, "machine": "another"})
    assert not has_ended({**who, "machine": None})
    assert not has_ended([])


def test_silence_from_elsewhere_is_taken_for_an_end(spark, folder, elsewhere, monkeypatch, caplog):
    monkeypatch.setattr(lease, "_PATIENCE_SECONDS", 0.5)

    with Lease.claim(spark, folder) as held:
        held.check()
        assert not elsewhere.exists()
    assert "is taken over: the one with the processes 7 on ip-10-0-0-7 since" in caplog.text


@pytest.mark.parametrize("text", ["", "[]", "{", '{"processes": 3, "machine": "x"}'])
def test_a_damaged_claim_is_a_claim(spark, folder, elsewhere, monkeypatch, text):
    elsewhere.write_text(text)
    looks = itertools.count()
    monkeypatch.setattr(
        StateFiles, "times", lambda _: {elsewhere.name: 0, f"{elsewhere.stem}.beat": next(looks)}
    )

    with pytest.raises(CheckpointTakenError, match=rf"the one of the claim {elsewhere.stem}; end"):
        Lease.claim(spark, folder)


def test_of_two_that_start_at_once_none_goes_on_unseen(spark, folder, owner, monkeypatch):
    write = StateFiles.write

    def write_beside_another(files, name, text):
        write(files, f"{1:020d}-0.json", "{}")
        write(files, name, text)

    monkeypatch.setattr(StateFiles, "write", write_beside_another)
    with pytest.raises(
        CheckpointTakenError, match=r"at the same moment: the one of the claim 0{19}1-0; see"
    ):
        Lease.claim(spark, folder)
    assert [path.name for path in owner.glob("*.json")] == [f"{1:020d}-0.json"]


def test_a_job_that_was_taken_over_writes_nothing_more(spark, folder, hold, monkeypatch):
    monkeypatch.setattr(Lease, "_beat", lambda _: None)  # asleep
    old, _ = hold()
    monkeypatch.setattr(lease, "_PATIENCE_SECONDS", 0.5)
    new, query = hold()

    sinks = Sinks()
    with pytest.raises(
        CheckpointTakenError,
        match=rf"^the checkpoint {folder} is another job's by now: the one with the processes "
        r".* since 20\S+; the last sign of life of this one was at 20\S+; nothing more is written$",
    ):
        LeasedSink(sinks, old).write(None, _BATCH, 0)
    assert sinks.written == 0
    LeasedSink(sinks, new).write(None, _BATCH, 0)
    assert sinks.written == 1

    query.ended = True
    wait_until("its end", lambda: not new._keeper.is_alive(), _SECONDS)
    with pytest.raises(
        CheckpointTakenError,
        match=r"^the claim of this job is gone, \S+/penstock-owner/\S+.json, and no other is "
        r"there; the last sign of life of this one was at 20\S+; nothing more is written$",
    ):
        old.check()


def test_what_was_being_written_meanwhile_is_named(hold, monkeypatch):
    monkeypatch.setattr(Lease, "_beat", lambda _: None)
    old, _ = hold()
    monkeypatch.setattr(lease, "_PATIENCE_SECONDS", 0.5)

    with pytest.raises(CheckpointTakenError, match=(
        "it was writing part 2 of batch 3 of query q meanwhile, see whether a table has"
    )):  # fmt: skip
        LeasedSink(Sinks(meanwhile=hold), old).write(None, _BATCH, 2)


def test_signs_of_life_go_on_after_one_that_failed(owner, hold, monkeypatch, caplog):
    failures = iter([OSError("slow down")])

    def fail_once(files, name):
        for error in failures:
            raise error
        touch(files, name)

    touch = StateFiles.touch
    hold()
    (beat,) = owner.glob("*.beat")
    before = beat.stat().st_mtime_ns
    monkeypatch.setattr(StateFiles, "touch", fail_once)

    wait_until("the failure", lambda: "no sign of life in" in caplog.text, _SECONDS)
    wait_until("a sign of life", lambda: beat.stat().st_mtime_ns > before, _SECONDS)


def test_a_claim_that_cannot_be_taken_away_stays(owner, hold, monkeypatch, caplog):
    def fail(files, name):
        raise OSError("slow down")

    held, query = hold()
    monkeypatch.setattr(StateFiles, "delete", fail)
    query.ended = True

    held._keeper.join(_SECONDS)
    assert not held._keeper.is_alive()
    assert "stays behind: slow down" in caplog.text
    assert list(owner.glob("*.json"))
