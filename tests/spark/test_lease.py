"""One job at a time holds a lease, and a dead one keeps others waiting for a lease's length."""

from __future__ import annotations

import os
import secrets
import time

import pytest

from localcloud.testing import wait_until
from penstock.errors import CheckpointInUseError, SettingsError, SinkUnavailableError
from penstock.spark.rows import while_held
from penstock.spark.settings.lease import LeaseSettings
from penstock.spark.state.files import StateFiles
from penstock.spark.state.lease import (
    LEASE_PREFIX,
    Lease,
    LeaseRow,
    claim_checkpoint,
    find_lease_table,
    name_lease,
)

_SECONDS = 60
_LONG = LeaseSettings(lease_seconds=_SECONDS, heartbeat_seconds=0.05)
_SHORT = LeaseSettings(lease_seconds=0.5, heartbeat_seconds=0.05)


class Query:
    """Runs until it is told to end."""

    def __init__(self):
        self.ended = False

    def awaitTermination(self, _):
        time.sleep(0.02)
        return self.ended


@pytest.fixture
def name():
    return f"s3://bucket/{secrets.token_hex(4)}"


@pytest.fixture
def row(lease_table, name):
    """The row of the lease, as it is now."""
    return lambda: lease_table.get_item(Key={"id": f"{LEASE_PREFIX}{name}"}).get("Item", {})


@pytest.mark.parametrize("url", ["s3://b/c", "s3a://b/c", "s3n://b/c/"])
def test_a_folder_on_s3_has_one_lease(url):
    assert name_lease(url) == "s3://b/c"


@pytest.fixture
def hold(leases, name):
    """Start jobs that hold the lease, and end them all."""
    started = []

    def start(settings=_LONG):
        query = Query()
        with Lease.claim(leases, name, settings) as held:
            held.keep_for(query)
        started.append((held, query))
        return held, query

    yield start
    for held, query in started:
        query.ended = True
        held._keeper.join(_SECONDS)


@pytest.fixture
def stalled(monkeypatch):
    """From now on no holder gives heartbeats by itself."""
    return lambda: monkeypatch.setattr(Lease, "_beat", lambda _: None)


def test_the_job_that_starts_second_is_refused(leases, name, hold):
    first, _ = hold()

    with pytest.raises(
        CheckpointInUseError,
        match=rf"^another job holds the lease of {name}: process {os.getpid()} on \S+ since 20\S+,"
        r" fence 1; end that one first, or do not start this one$",
    ):
        Lease.claim(leases, name, _SHORT)
    first.check()


def test_an_end_frees_the_lease_at_once_and_the_fence_goes_on(hold, row):
    for number in (1, 2):
        held, query = hold()
        assert held.fence == number == row()["fence"]
        query.ended = True
        wait_until("free", lambda: "holder" not in row(), _SECONDS)
    assert row()["expiresAt"] > time.time() + 29 * 86_400


def test_a_start_that_fails_frees_the_lease(leases, name, row):
    with pytest.raises(OSError, match="no broker"), Lease.claim(leases, name, _LONG):
        raise OSError("no broker")

    # At once: a driver that ends now does not wait for its threads.
    assert "holder" not in row()


def test_silence_is_taken_for_an_end(hold, stalled, row, caplog):
    stalled()
    old, _ = hold(_SHORT)

    new, _ = hold()

    assert (old.fence, new.fence) == (1, 2)
    assert f"is taken over: process {os.getpid()} on " in caplog.text
    assert "gave no heartbeat for 0.5 s" in caplog.text


def test_one_of_two_that_take_over_at_once_is_refused(leases, name, hold, stalled, monkeypatch):
    stalled()
    hold(_SHORT)
    take = LeaseRow.acquire

    def take_behind_another(row, found, driver, seconds):
        assert take(LeaseRow(leases, name, "other"), found, "another", 9) == 2
        return take(row, found, driver, seconds)

    monkeypatch.setattr(LeaseRow, "acquire", take_behind_another)
    with pytest.raises(
        CheckpointInUseError,
        match=rf"^another job took the lease of {name} at the same moment: another, fence 2; see",
    ):
        Lease.claim(leases, name, _SHORT)


def test_a_lease_whose_holder_gave_a_heartbeat_meanwhile_is_not_taken(leases, name):
    holder, other = LeaseRow(leases, name, "me"), LeaseRow(leases, name, "you")
    assert holder.acquire({}, "it", 9) == 1
    found = other.read()
    assert holder.beat()

    assert other.acquire(found, "other", 9) is None
    assert other.read()["holder"] == "me"


def test_an_answer_that_was_lost_takes_the_lease_once(leases, name):
    row = LeaseRow(leases, name, "me")

    assert [row.acquire({}, "it", 9), row.acquire({}, "it", 9)] == [1, 1]
    assert [LeaseRow(leases, name, "you").acquire({}, "it", 9), row.beat()] == [None, True]


def test_a_job_that_was_taken_over_writes_nothing_more(name, hold, stalled, row):
    stalled()
    old, _ = hold(_SHORT)
    new, query = hold()

    lost = pytest.raises(
        CheckpointInUseError,
        match=rf"^this job has lost the lease of {name}: process \d+ on .* since 20\S+, fence 2 "
        r"holds it; the last heartbeat of this one was at 20\S+; nothing more is written$",
    )
    with lost, while_held(old):
        pytest.fail("it must not write")
    with while_held(new):
        pass

    query.ended = True
    wait_until("its end", lambda: not new._keeper.is_alive(), _SECONDS)
    with pytest.raises(
        CheckpointInUseError,
        match=rf"^this job has lost the lease of {name}: no job holds it now; the last heartbeat",
    ):
        old.check()
    assert "holder" not in row()


def test_a_loss_of_the_lease_during_a_write_is_noticed(hold, stalled):
    stalled()
    old, _ = hold(_SHORT)

    lost = pytest.raises(CheckpointInUseError, match="this job has lost the lease of")
    with lost, while_held(old):
        hold()


def test_heartbeats_go_on_after_one_that_failed(hold, monkeypatch, caplog, row):
    failures = iter([SinkUnavailableError("slow down")])
    beat = LeaseRow.beat

    def fail_once(of):
        for error in failures:
            raise error
        return beat(of)

    hold()
    before = row()["beat"]
    monkeypatch.setattr(LeaseRow, "beat", fail_once)

    wait_until("the failure", lambda: "no heartbeat for the lease of" in caplog.text, _SECONDS)
    wait_until("a heartbeat", lambda: row()["beat"] > before, _SECONDS)


def test_a_lease_that_cannot_be_released_stays(hold, monkeypatch, caplog, row):
    def fail(_):
        raise SinkUnavailableError("slow down")

    held, query = hold()
    monkeypatch.setattr(LeaseRow, "release", fail)
    query.ended = True

    held._keeper.join(_SECONDS)
    assert not held._keeper.is_alive()
    assert "is not released: slow down" in caplog.text
    assert "holder" in row()


def test_a_lease_that_one_late_heartbeat_would_end_is_refused():
    with pytest.raises(SettingsError, match=(
        "--heartbeat-seconds is 5, expected at most half of --lease-seconds 9"
    )):  # fmt: skip
        LeaseSettings(lease_seconds=9)


@pytest.fixture
def checkpoint(tmp_path):
    return f"file://{tmp_path}/checkpoint"


def test_a_checkpoint_has_one_lease_wherever_the_dead_letters_go(spark, leases, checkpoint):
    query = Query()
    with claim_checkpoint(spark, checkpoint, leases, _LONG) as held:
        held.keep_for(query)

    with pytest.raises(CheckpointInUseError, match=f"^another job holds the lease of {checkpoint}"):
        claim_checkpoint(spark, checkpoint, "other-errors", _SHORT)

    query.ended = True
    held._keeper.join(_SECONDS)
    with claim_checkpoint(spark, checkpoint, "other-errors", _LONG) as held:
        assert held.fence == 2


def test_of_two_first_starts_one_names_the_table(spark, leases, checkpoint, monkeypatch):
    files = StateFiles(spark, f"{checkpoint}/penstock-lease")
    write = StateFiles.write

    def write_behind_another(self, name, text):
        write(self, name, leases)
        write(self, name, text)

    monkeypatch.setattr(StateFiles, "write", write_behind_another)

    assert find_lease_table(files, "other-errors") == leases


def test_a_table_of_the_lease_that_cannot_be_used_is_named(spark, leases, checkpoint):
    StateFiles(spark, f"{checkpoint}/penstock-lease").write("table", "gone")

    with pytest.raises(SinkUnavailableError) as refused:
        claim_checkpoint(spark, checkpoint, leases, _SHORT)

    said = str(refused.value)
    assert said.startswith(
        f"the lease of {checkpoint} is in the table gone, as its file penstock-lease/table says, "
        f"and the job names {leases}: DynamoDB's BatchGetItem was refused: "
    )
    assert said.endswith(
        "; give the job permissions for gone, or delete that file when no job uses the checkpoint"
    )
    with pytest.raises(SinkUnavailableError, match=r"^DynamoDB's BatchGetItem was refused: "):
        claim_checkpoint(spark, checkpoint, "gone", _SHORT)


def test_a_table_of_errors_that_was_mistyped_is_not_stored(spark, leases, checkpoint):
    with pytest.raises(SinkUnavailableError, match=r"^DynamoDB's BatchGetItem was refused: "):
        claim_checkpoint(spark, checkpoint, "gone", _SHORT)

    with claim_checkpoint(spark, checkpoint, leases, _SHORT) as held:
        assert held.fence == 1
