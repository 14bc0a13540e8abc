"""AWS answers a Spark job wrongly, or its broker dies: it goes on, or is started again."""

from __future__ import annotations

import time

import pytest

from localcloud.faults import Kind
from systems.traps import Step, Trap
from tests.faults.readings import BATCH

pytestmark = [
    pytest.mark.kafka, pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(3_600),
]  # fmt: skip

_SECONDS = 600  # for a start and a few batches on a machine with much else to do
_PUT = {"service": "s3", "operation": "PutObject", "probability": 0.2}
_GET = {"service": "s3", "operation": "GetObject", "probability": 0.2}
_COMMIT = {"service": "glue", "operation": "UpdateTable"}
_CONFLICT = {"status": 400, "code": "ConcurrentModificationException"}
_PLAN = Step("PutObject", r"/offsets/\d+$")
_LOOK_UP = Step("PutObject", r"/\d{20}-\d{4}\.jsonl$")
_ANSWERS = [
    ("object-store-answers", {**_PUT, "kind": Kind.CUT}),
    ("object-store-answers", {**_PUT, "kind": Kind.ERROR, "status": 503, "code": "SlowDown"}),
    ("object-store-answers", {**_GET, "kind": Kind.ERROR, "status": 500, "code": "InternalError"}),
    ("lake-answers", {**_COMMIT, "kind": Kind.CUT, "calls": 1}),
    ("lake-answers", {**_COMMIT, "kind": Kind.ERROR, "calls": 2, **_CONFLICT}),
]


@pytest.mark.parametrize(
    ("row", "injected"), _ANSWERS, ids=[f"{row} {each['kind']}" for row, each in _ANSWERS]
)
def test_a_job_goes_on_whatever_aws_answers(readings, seeded, fault, row, injected):
    """It loses nothing; where S3 fails, it may end and be started again, as EMR does it."""
    answers = fault(row)
    readings.send(BATCH)
    assert readings.run(Trap()) == 0  # the table is there
    broken = readings.faults.add(seed=seeded.randrange(2**32), **injected)
    for _ in range(2):
        readings.send(BATCH)
        job = readings.start(Trap())
        ended_well = job.wait(_SECONDS) == 0
        assert ended_well or row == "object-store-answers", job.tell()
    readings.watch()
    readings.faults.clear()
    with answers.recovery():
        assert readings.run(Trap()) == 0

    answers.count(1, fired=broken.broken)
    readings.check(answers)


def test_columns_are_made_though_other_commits_come_first(readings, fault):
    """Iceberg itself repeats no change of columns; values without a column would be left out."""
    answers, trap = fault("lake-answers"), Trap([_LOOK_UP], performed=True, stops=True)
    readings.send(BATCH)
    assert readings.run(Trap()) == 0
    readings.send(BATCH)
    conflicts = {"kind": Kind.ERROR, "calls": 2, **_COMMIT, **_CONFLICT}
    with readings.start(trap) as job:
        # The change follows the look-up of the version that brings the column.
        trap.kill = lambda: readings.faults.add(**conflicts)
        assert job.wait(_SECONDS) == 0, job.tell()
    readings.watch()

    answers.count(1, fired=sum(each.broken for each in readings.faults.list()))
    readings.faults.clear()
    readings.check(answers)


def test_a_look_up_whose_answer_was_lost_is_the_jobs_own(readings, fault):
    """S3 refuses to write the file again; the job does not take it for another job's."""
    answers, trap = fault("object-store-answers"), Trap([_LOOK_UP], performed=True)
    readings.send(BATCH)
    with readings.start(trap) as job:
        trap.kill = lambda: None
        assert job.wait(_SECONDS) == 0, job.tell()
    readings.watch()

    answers.count(1, fired=int(trap.snapped))
    readings.check(answers)


def test_a_job_goes_on_after_its_broker_was_killed(readings, kafka, seeded, trials, fault):
    """The broker dies once a batch is planned, before its records are read, or later."""
    kills, cluster = fault("broker-under-job"), kafka.cluster
    for number in range(trials(1, 5)):
        readings.send(3 * BATCH)
        later = seeded.randrange(20) if number else 0
        # The call is answered when the broker is dead.
        trap = Trap([_PLAN, *[Step()] * later], performed=True, stops=True)
        pid = cluster.pids[1]
        with readings.start(trap) as job:
            trap.kill = lambda: cluster.kill(1)
            assert trap.shut.wait(_SECONDS), job.tell()
            time.sleep(seeded.uniform(0.5, 3.0))
            cluster.restart(1)
            with kills.recovery():
                assert job.wait(_SECONDS) == 0, job.tell()
        readings.watch()
        kills.count(1, fired=int(cluster.pids[1] != pid))

    readings.check(kills)
