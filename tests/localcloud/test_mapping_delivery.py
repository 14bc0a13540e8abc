"""From a real broker through a mapping to a real function: what arrives, how often, in which order."""

from __future__ import annotations

import pytest

from tests.fixtures.functions import deploy, wait_until
from tests.fixtures.mappings import (  # noqa: F401 - broker is a fixture
    broker,
    create_topic,
    mapped,
    seen,
    trace_in,
    tracing,
)

pytestmark = pytest.mark.kafka


@pytest.fixture
def trace(tmp_path):
    return tmp_path / "trace.jsonl"


def test_all_records_arrive_once_and_in_order(client, broker, trace):  # noqa: F811
    topic = create_topic(broker, partitions=3)
    function = deploy(client, tracing(), **trace_in(trace))
    model = {p: [f"{p}-{n}" for n in range(100)] for p in range(3)}
    with mapped(client, function, topic, BatchSize=7):
        for partition, values in model.items():
            topic.send(*values, partition=partition)
        names = {p: f"{topic.name}-{p}" for p in model}
        wait_until("300 records", lambda: sum(len(seen(trace, n)) for n in names.values()) >= 300)
        assert {p: seen(trace, name) for p, name in names.items()} == model
