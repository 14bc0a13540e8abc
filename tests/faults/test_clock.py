"""The clock of a Spark job's machine is wrong."""

from __future__ import annotations

import pytest

from systems.clocks import build_clock
from systems.traps import Trap
from tests.faults.readings import BATCH

pytestmark = [
    pytest.mark.kafka, pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(3_600),
]  # fmt: skip

_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_ALL = 100_000  # characters of the output
_REFUSED_MINUTES = 5
_WAITS = "later than the time of this machine"


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(-16, "Signature expired"), (-4, _WAITS), (4, _WAITS), (16, "Signature not yet current")],
)
def test_a_wrong_clock_holds_a_job_up_and_loses_no_record(readings, fault, tmp_path, minutes, said):
    """AWS refuses a clock that is 5 minutes off, and Iceberg a commit from over a minute ago."""
    clocks = fault("clock-of-a-job")
    readings.send(BATCH)
    assert readings.run(Trap()) == 0
    readings.send(BATCH)
    readings.environ = build_clock(tmp_path / "clock", 60 * minutes)
    wrong = readings.start(Trap())
    assert (wrong.wait(_SECONDS) == 0) == (abs(minutes) < _REFUSED_MINUTES), wrong.tell()
    readings.environ = {}
    readings.send(BATCH)
    right = readings.start(Trap())
    with clocks.recovery():
        assert right.wait(_SECONDS) == 0, right.tell()

    # After a job whose clock is ahead, and is taken, the next one waits.
    told = right if minutes == 4 else wrong
    clocks.count(1, fired=int(said in told.tell(_ALL)))
    readings.check(clocks)
