"""A consumer that is restored from a snapshot reads its first batch as any other does."""

from __future__ import annotations

from pathlib import Path

from localcloud.cloud import Cloud
from localcloud.testing import invoke
from systems.consumers import Consumer
from tests.fixtures.snapshots import expire_keys, needs_snapshots, running_from_snapshot
from tests.lambdas.consumer.batches import DONE, NewModel, rows_of

pytestmark = needs_snapshots


def test_its_first_batch_is_rows_and_dead_letters_by_new_keys(
    cloud: Cloud, consumer: Consumer, new_model: NewModel, snapshot_zips: Path
) -> None:
    """Its role in the account of the registry is taken again, too."""
    model, package = new_model(consumer), snapshot_zips / "consumer-lambda.zip"
    with running_from_snapshot(consumer.at_home, consumer.function, package) as (name, version):
        expire_keys(cloud, name)
        event = model.event({0: model.some(40)})
        for _ in range(2):  # as a mapping may deliver it
            answer = invoke(consumer.at_home, name, event, Qualifier=version)
            assert answer == (DONE, None)

    model.compare(*rows_of(consumer, model))
    assert model.readings
    assert model.errors
