"""A mapping's broker is killed, or its links break, while it gives records to the function."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import pytest

from localcloud.brokers import BrokerCluster
from localcloud.faults import Faults, Kind
from localcloud.testing import wait_until
from localcloud.testing.links import BrokerLinks, LinkedSpec, linked
from systems.clusters import OPEN, running_brokers
from systems.consumers import Consumer
from systems.trials import Trials
from tests.lambdas.consumer.flow import Flow
from tests.lambdas.consumer.model import Model

pytestmark = pytest.mark.kafka

_SECONDS = 180  # until all rows are there, on a machine with much else to do
_RECORDS = 25  # of each of four partitions
_SETTINGS = {"BatchSize": 10}


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerCluster]:
    """The only broker of its cluster."""
    folder = tmp_path_factory.mktemp("mortal")
    with running_brokers(folder, LinkedSpec, broker_count=1, properties=OPEN) as running:
        yield running.cluster


@pytest.fixture
def links(mortal: BrokerCluster) -> Iterator[BrokerLinks]:
    """The links that the mapping reads over."""
    with linked(mortal) as made:
        yield made


@pytest.fixture
def flow(
    mortal: BrokerCluster,
    links: BrokerLinks,
    consumer: Consumer,
    new_model: Callable[[Consumer], Model],
    faults: Faults,
) -> Flow:
    """A topic whose records take the function a while."""
    faults.add(kind=Kind.LATENCY, operation="BatchWriteItem", seconds=0.2)
    return Flow(mortal, consumer, new_model(consumer))


def _begin(flow: Flow) -> None:
    """Send records, and wait until some of them are rows, but not all."""
    before = flow.count()
    flow.send_some(_RECORDS)
    wait_until("the first rows", lambda: flow.count() != before, _SECONDS)


def test_a_broker_is_killed_while_a_mapping_reads(
    flow: Flow,
    mortal: BrokerCluster,
    seeded: random.Random,
    trials: Callable[[int, int], int],
    fault: Callable[[str], Trials],
) -> None:
    kills = fault("broker-under-function")
    with flow.mapped(**_SETTINGS):
        for _ in range(trials(1, 10)):
            _begin(flow)
            pid = mortal.pids[1]
            mortal.kill(1)
            was_amid = flow.count() < flow.wanted
            time.sleep(seeded.uniform(0.5, 5.0))
            mortal.restart(1)
            with kills.recovery():
                flow.await_rows(_SECONDS)
            kills.count(1, fired=int(was_amid and mortal.pids[1] != pid))
        flow.check_rows(kills)


def test_links_break_while_a_mapping_reads(
    flow: Flow,
    links: BrokerLinks,
    seeded: random.Random,
    trials: Callable[[int, int], int],
    fault: Callable[[str], Trials],
) -> None:
    breaks = fault("links-under-function")
    with flow.mapped(**_SETTINGS):
        for _ in range(trials(1, 5)):
            for disturb in (
                lambda: links.slow(1, seeded.uniform(1, 4), 0.2),
                lambda: links.cut(1, seeded.uniform(0, 3)),
                lambda: links.split(1, seeded.uniform(1, 15)),
            ):
                _begin(flow)
                fired = disturb()
                with breaks.recovery():
                    flow.await_rows(_SECONDS)
                breaks.count(1, fired=fired)
        flow.check_rows(breaks)
