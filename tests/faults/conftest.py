"""A broker and the world of the consuming job."""

from __future__ import annotations

import pytest

from systems.world import entered, running_broker
from tests.faults.readings import Readings


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    """One broker for a module, which knows the job's user."""
    with running_broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def readings(cloud, client, kafka, seeded, tmp_path):
    """The topic, the tables and the job that writes them."""
    with entered(Readings(cloud, client, kafka, seeded, tmp_path)) as made:
        yield made
