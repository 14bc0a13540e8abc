"""The staging job killed with -9 wherever a join may be cut: the final table is the model's."""

from __future__ import annotations

from itertools import chain, islice

import pytest

from demo.staging.publisher import Publisher
from localcloud.faults import Kind
from systems.moments import OFFSETS, STAGED, WAITING
from systems.shipments import Shipments
from systems.traps import Step, Trap
from systems.world import entered, running_broker

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(3_600)]

_LATENESS = (0.3, 0.25, 0.15, 0.1, 0.2)
_SHIPMENTS, _POOL = 10, 5  # of a batch; customers and products that are there from the start
_CALLS = 150  # of a batch
_QUIET = 6  # ticks that one batch has at the end; then some dependencies are still missing


@pytest.fixture
def world(cloud, client, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    with running_broker(tmp_path / "kafka") as kafka:
        with entered(Shipments(cloud, client, kafka, tmp_path)) as made:
            yield made


@pytest.fixture
def traps(seeded, trials):
    """A trap for each moment, then some that kill the job anywhere in a batch."""
    moments = list(STAGED.values())[: trials(2, len(STAGED))]
    anywhere = [
        Trap([OFFSETS, *[Step()] * seeded.randrange(1, _CALLS)], pause=seeded.uniform(0, 0.1))
        for _ in range(trials(0, 10))
    ]
    return [Trap(steps, performed) for steps, performed in moments] + anywhere


def test_a_staging_job_that_is_killed_joins_what_the_model_joins(world, traps, fault):
    """Before half of the kills the registry goes down. At last the executor alone is killed, while
    the tables are throttled.
    """
    ticks = Publisher(5, _SHIPMENTS * len(traps), len(traps), _LATENESS, _POOL).publish()
    kills, killed = fault("staging-killed"), 0
    for number, trap in enumerate(traps):
        world.send(next(ticks))
        if number == len(traps) // 2:  # when new schema versions come
            down = world.faults.add(
                kind=Kind.ERROR, status=500, code="InternalServiceException",
                service="glue", operation="GetSchemaVersion", calls=4,
            )  # fmt: skip
        code = world.run(trap)
        assert code == -9 or trap.pause, trap  # it may be over before a kill at a random call
        killed += code == -9
        if code == -9 and trap.pause and number % 2:  # the others are killed again meanwhile
            with kills.recovery():
                assert world.run(Trap()) == 0
    world.send([*chain(*islice(ticks, _QUIET))])
    slow = world.faults.add(kind=Kind.THROTTLE, service="dynamodb", operation="PutItem", calls=16)
    last = Trap((OFFSETS, WAITING), performed=True, executor=True)
    with kills.recovery():
        assert world.run(last) == 0
    kills.count(killed + 1, fired=killed + last.snapped)
    world.shop.retry_all()

    finals, parked = world.shop.check(kills)
    assert finals > parked > 0
    assert (down.broken, slow.broken) == (4, 16)
