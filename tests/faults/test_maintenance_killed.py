"""Maintenance of a lake table killed with -9 while the job appends: the rows stay as they were."""

from __future__ import annotations

import pytest

from systems.moments import MAINTAINED
from systems.traps import Trap
from tests.faults.readings import BATCH

pytestmark = [
    pytest.mark.kafka, pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(3_600),
]  # fmt: skip

_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_KEPT_HOURS, _OLDER_HOURS = 24, 30
_BATCHES = 5  # of records of most of a day, whose files are worth a compaction


@pytest.fixture
def words(readings):
    table, hours = readings.arguments["--lake-table"], str(_KEPT_HOURS)
    kept = ("--keep-hours", hours, "--orphan-hours", hours)
    return ["maintain_lake", "--lake-table", table, *kept]


def test_maintenance_that_is_killed_leaves_every_row_once(readings, words, fault):
    """The next one needs no repair, and removes what is old."""
    kills = fault("maintenance-killed")
    orphan = readings.bucket.Object("tables/readings/data/of-no-snapshot.parquet")
    for moment, (steps, performed) in MAINTAINED.items():
        readings.send(_BATCHES * BATCH)
        assert readings.run(Trap()) == 0
        orphan.put(Body=b"")
        readings.age(_OLDER_HOURS)
        old = readings.snapshots()
        readings.send(BATCH)
        trap = Trap(steps, performed, program="maintain_lake")
        with readings.start(Trap()) as writer:
            assert readings.run(trap, words) == -9, (moment, trap.calls)
            assert writer.wait(_SECONDS) == 0, writer.tell()
        kills.count(1, fired=int(trap.snapped))
        with kills.recovery(), readings.start(Trap(), words) as job:
            assert job.wait(_SECONDS) == 0, job.tell()
        assert old.isdisjoint(readings.snapshots()), moment
        assert [*readings.bucket.objects.filter(Prefix=orphan.key)] == [], moment

    readings.check(kills)
