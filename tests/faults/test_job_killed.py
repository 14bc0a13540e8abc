"""The Spark job killed with -9 or stopped wherever it hurts: every record is in each table once."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from unittest.mock import patch

import pytest

from localcloud.faults import Faults
from tests.faults.killing import Step, Trap
from tests.faults.world import BATCH, World, running_broker

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(3_600)]

_OFFSETS = Step("CopyObject", r"/offsets/\d+$")
_LESSON = Step("CopyObject", r"/penstock-ledger/.*\.jsonl$")
_FILE = Step("PutObject", r"/data/.*\.parquet$")
_SNAPSHOT = Step("PutObject", r"/metadata/snap-")
_MARKER = Step("UpdateTable")
_DONE = Step("CopyObject", r"/commits/\d+$")
# The steps to each point, and whether the last of them has its effect. A lesson says that the batch
# brings a version that is new, whose records are a part of their own.
_POINTS = {
    "after the offsets": ((_OFFSETS,), True),
    "amid the files of a part": ((_OFFSETS, _LESSON, _FILE), True),
    "after the files, before the marker": ((_OFFSETS, _LESSON, _SNAPSHOT, _MARKER), False),
    "after the tables, before Spark's commit": ((_OFFSETS, _DONE), False),
    "after Spark's commit": ((_OFFSETS, _DONE), True),
    "after the marker, before the other table": ((_OFFSETS, _LESSON, _SNAPSHOT, _MARKER), True),
}
_WRITES = re.compile(r"(BatchWriteItem|PutItem|UpdateTable) |\w+Object .*/(data|metadata)/")
_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_CALLS = 250  # of a start with a batch to finish and a new one


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    with running_broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def world(cloud, client, kafka, seeded, tmp_path):
    with closing(World(cloud, client, kafka, seeded, tmp_path)) as made:
        with patch.object(cloud.state(Faults), "around", made.around):
            yield made


def test_a_job_that_is_killed_writes_every_record_once(world, seeded, trials):
    for point, (steps, performed) in _POINTS.items():
        world.send(BATCH)
        trap = Trap(steps, performed=performed)
        assert world.run(trap) == -9, (point, trap.calls)
    killed = 0
    while killed < trials(1, 40):
        world.send(BATCH)
        trap = Trap([Step()] * seeded.randrange(1, _CALLS), pause=seeded.uniform(0, 0.1))
        killed += world.run(trap) == -9
    assert world.run(Trap()) == 0

    assert world.compare() == {}


def test_a_job_that_slept_while_another_took_over_writes_nothing_more(world):
    """It sleeps between Spark's plan of a batch and the batch."""
    world.send(2 * BATCH)
    trap = Trap([_OFFSETS], performed=True, stops=True)
    with world.start(trap) as sleeper:
        assert trap.shut.wait(_SECONDS), sleeper.tell()
        with world.start(Trap(), Path(__file__).with_name("impatient.py")) as other:
            assert other.wait(_SECONDS) == 0, other.tell()
        since = world.watch()
        sleeper.wake()
        assert sleeper.wait(_SECONDS) == 1, sleeper.tell()

    assert re.search(
        r"CheckpointTakenError: the claim of this job is gone, .*, and no other is there; the last "
        r"sign of life of this one was at .*; nothing more is written",
        sleeper.tell(100_000),
    )
    assert [call for call in since.calls if _WRITES.match(call)] == []
    assert world.compare() == {}
