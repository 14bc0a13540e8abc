"""The Spark job killed with -9 or stopped wherever it hurts: every record is in each table once."""

from __future__ import annotations

import re

import pytest

from systems.moments import CONSUMED, FILE, OFFSETS
from systems.traps import Step, Trap
from tests.faults.readings import BATCH

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(3_600)]

_WRITES = re.compile(r"(BatchWriteItem|PutItem|UpdateTable) |\w+Object .*/(data|metadata)/")
_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_CALLS = 250  # of a start with a batch to finish and a new one


def test_a_job_that_is_killed_writes_every_record_once(readings, seeded, trials, fault):
    kills = fault("job-killed")
    moments = [*CONSUMED.items()][: trials(2, len(CONSUMED))]
    for moment, (steps, performed) in moments:
        readings.send(BATCH)
        trap = Trap(steps, performed)
        assert readings.run(trap) == -9, (moment, trap.calls)
    anywhere = 0
    while anywhere < trials(0, 20):
        readings.send(BATCH)
        trap = Trap([Step()] * seeded.randrange(1, _CALLS), pause=seeded.uniform(0, 0.1))
        anywhere += readings.run(trap) == -9
    killed = len(moments) + anywhere
    kills.count(killed, fired=killed)
    with kills.recovery():
        assert readings.run(Trap()) == 0

    readings.check(kills)


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
    with readings.start(trap) as stalled:
        assert trap.shut.wait(_SECONDS), stalled.tell()
        with readings.start(Trap()) as other:
            assert other.wait(_SECONDS) == 0, other.tell()
        since = readings.watch()
        stalled.wake()
        assert stalled.wait(_SECONDS) == 1, stalled.tell()

    assert re.search(
        r"CheckpointInUseError: this job has lost the lease of s3://\S+: no job holds it now; the "
        r"last heartbeat of this one was at .*; nothing more is written",
        stalled.tell(100_000),
    )
    assert writes or [call for call in since.calls if _WRITES.match(call)] == []
    stalls.count(1, fired=int(trap.snapped))
    readings.check(stalls)
