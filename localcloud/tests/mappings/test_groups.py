"""A mapping as a member of its group: where it begins, shares, goes on and stops."""

from __future__ import annotations

import time

import pytest
from kafka import KafkaConsumer

from localcloud.testing import deploy, wait_until
from localcloud.testing.mappings import (
    count_members,
    create_topic,
    drop_repeats,
    get,
    mapped,
    read_trace,
    seen,
    trace_in,
    tracing,
    wait_for_result,
    wait_for_state,
)

pytestmark = pytest.mark.kafka


def test_provisioned_pollers_share_the_partitions(client, broker, trace):
    topic = create_topic(broker, partitions=4)
    function = deploy(client, tracing("    time.sleep(0.1)"), **trace_in(trace))
    model = {f"{topic.name}-{p}": [f"{p}-{n}" for n in range(40)] for p in range(4)}
    pollers = {"ProvisionedPollerConfig": {"MinimumPollers": 2, "MaximumPollers": 2}}
    with mapped(client, function, topic, BatchSize=10, **pollers) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("both members", lambda: count_members(broker, group) == 2)
        for partition, values in enumerate(model.values()):
            topic.send(*values, partition=partition)
        wait_until("the offsets", lambda: {topic.committed(group, p) for p in range(4)} == {40})
    assert {name: drop_repeats(seen(trace, name)) for name in model} == model


def test_a_rebalance_loses_nothing_and_repeats_one_batch_at_most(client, broker, trace, tmp_path):
    topic = create_topic(broker, partitions=4)
    model = {f"{topic.name}-{p}": [f"{p}-{n}" for n in range(50)] for p in range(4)}
    for partition, values in enumerate(model.values()):
        topic.send(*values, partition=partition)
    joined = tmp_path / "joined"  # the first batch is in work until then
    body = f"    while not os.path.exists({str(joined)!r}):\n        time.sleep(0.05)\n"
    function = deploy(client, tracing(body), Timeout=60, **trace_in(trace))
    elsewhere = {name: [] for name in model}
    with mapped(client, function, topic, BatchSize=20) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("the first call", lambda: read_trace(trace))
        second = KafkaConsumer(
            topic.name,
            bootstrap_servers=broker.bootstrap_servers("PLAINTEXT"),
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=500,
        )

        def all_there():
            if second.assignment():
                joined.touch()
            for place, records in second.poll(timeout_ms=100).items():
                name = f"{place.topic}-{place.partition}"
                elsewhere[name] += [record.value.decode() for record in records]
                second.commit()
            return all({*seen(trace, name), *elsewhere[name]} == {*model[name]} for name in model)

        wait_until("every record is in one of the members", all_there)
        second.close()
    assert any(elsewhere.values()), "the second member got nothing: there was no rebalance"
    for name, values in model.items():
        here, there = seen(trace, name), elsewhere[name]
        assert here == values[: len(here)]
        assert there == values[len(values) - len(there) :]
        assert len(here) + len(there) - len(values) <= 20, "more than the batch in work came twice"


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ({"StartingPosition": "TRIM_HORIZON"}, ["old", "middle", "new"]),
        ({"StartingPosition": "LATEST"}, ["new"]),
        (
            {"StartingPosition": "AT_TIMESTAMP", "StartingPositionTimestamp": 1_700_000_050},
            ["middle", "new"],
        ),
    ],
)
def test_a_new_group_begins_at_the_starting_position(client, broker, trace, position, expected):
    topic = create_topic(broker)
    topic.send("old", timestamp_ms=1_700_000_000_000)
    topic.send("middle", timestamp_ms=1_700_000_100_000)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic, **position) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        # Enabled says so too, unless a broker was slow: with a problem it is Enabled as well.
        wait_until("the start", lambda: topic.committed(group) is not None)
        topic.send("new", timestamp_ms=1_700_000_200_000)
        wait_until("the new one", lambda: "new" in seen(trace, f"{topic.name}-0"))
    assert seen(trace, f"{topic.name}-0") == expected


def test_a_topic_that_is_created_later_is_read(client, broker, trace):
    name = f"later-{time.monotonic_ns()}"
    function = deploy(client, tracing(), **trace_in(trace))
    missing = type(create_topic(broker))(broker, name)
    with mapped(client, function, missing) as mapping:
        wait_for_result(client, mapping, f"PROBLEM: topic '{name}' does not exist")
        topic = create_topic(broker, name=name)
        topic.send("first")
        wait_until("the first record", lambda: seen(trace, f"{name}-0"))
        wait_for_result(client, mapping, "OK")


def test_disabling_keeps_the_offsets(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic) as mapping:
        topic.send("a", "b")
        wait_until("two", lambda: len(seen(trace, f"{topic.name}-0")) == 2)
        client("lambda").update_event_source_mapping(UUID=mapping, Enabled=False)
        wait_for_state(client, mapping, "Disabled")
        topic.send("c")
        client("lambda").update_event_source_mapping(UUID=mapping, Enabled=True)
        wait_until("three", lambda: len(seen(trace, f"{topic.name}-0")) == 3)
        wait_for_state(client, mapping, "Enabled")
    assert seen(trace, f"{topic.name}-0") == ["a", "b", "c"]
