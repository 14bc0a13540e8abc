"""The Spark job killed with -9 or stopped wherever it hurts: every record is in each table once."""

from __future__ import annotations

import re

import pytest

from localcloud.testing import wait_until
from systems.moments import CONSUMED, FILE, OFFSETS
from systems.traps import Step, Trap
from tests.faults.readings import BATCH

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(3_600)]

_WRITES = re.compile(r"(BatchWriteItem|PutItem|UpdateTable) |\w+Object .*/(data|metadata)/")
_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_CALLS = 250  # of a start with a batch to finish and a new one
_LOST = (
    r"CheckpointInUseError: this job has lost the lease of s3://\S+: no job holds it now; the "
    r"last heartbeat of this one was at .*; nothing more is written"
)


def test_a_job_that_is_killed_writes_every_record_once(readings, seeded, trials, fault):
    kills = fault("job-killed")
    moments = [*CONSUMED.items()][: trials(1, len(CONSUMED))]
    for moment, (steps, performed) in moments:
        readings.send(BATCH)
        trap = Trap(steps, performed)
        assert readings.run(trap) == -9, (moment, trap.calls)
    anywhere = 0
    while anywhere < trials(0, 20):
        readings.send(BATCH)
        trap = Trap([Step()] * seeded.randrange(1, _CALLS), pause=seeded.uniform(0, 0.1))
        if readings.run(trap) == 0:
            continue
        anywhere += 1
        if anywhere % 2 == 0:  # the others are killed again, before they are as far as they were
            _recover(readings, kills)
    killed = len(moments) + anywhere
    kills.count_seen(killed)
    _recover(readings, kills)

    readings.check(kills)


def _recover(readings, kills):
    with kills.recovery():
        assert readings.run(Trap()) == 0


@pytest.mark.parametrize(
    ("steps", "writes"),
    [
        pytest.param((OFFSETS,), False, id="before the batch"),
        pytest.param((OFFSETS, FILE), True, id="amid the append"),
    ],
)
@pytest.mark.nightly  # tests/spark/test_lease.py and test_lake_fence.py have it in one process
def test_a_job_that_stalled_while_another_took_over_writes_no_record_twice(
    readings, steps, writes, fault
):
    """It stalls for longer than its lease; the second one finishes what it had begun."""
    stalls = fault("job-stalls")
    readings.send(2 * BATCH)
    trap = Trap(steps, performed=True, stops=True)
    code, said, since = _stall(readings, trap)

    assert code == 1, said
    assert re.search(_LOST, said)
    assert writes or [call for call in since.calls if _WRITES.match(call)] == []
    stalls.count(1, fired=int(trap.snapped))
    readings.check(stalls)


@pytest.mark.nightly
def test_a_job_that_stalled_anywhere_writes_no_record_twice(readings, seeded, trials, fault):
    """Before it has its lease it may go on; later it ends, by Penstock's error or by Spark's."""
    stalls, stalled = fault("job-stalls"), 0
    while stalled < trials(2, 6):
        readings.send(2 * BATCH)
        steps = [Step()] * seeded.randrange(1, _CALLS)
        trap = Trap(steps, performed=seeded.random() < 0.5, stops=True)
        code, said, _ = _stall(readings, trap)
        assert code in {0, 1}, said[-5_000:]
        stalled += trap.snapped
    stalls.count_seen(stalled)
    readings.check(stalls)


def _stall(readings, trap):
    """Let another job take over; return the exit code, the output and the last calls of the first.

    One that ends before it stalls leaves the other nothing to do.
    """
    with readings.start(trap) as job:
        wait_until("a stall", lambda: trap.shut.is_set() or job.code is not None, _SECONDS)
        with readings.start(Trap()) as other:
            assert other.wait(_SECONDS) == 0, other.tell()
        since = readings.watch()
        job.wake()
        return job.wait(_SECONDS), job.tell(100_000), since
