"""From a real broker through a mapping to a function: what arrives, how often, in which order."""

from __future__ import annotations

import base64
import json
import time

import pytest
from kafka import KafkaConsumer

from tests.fixtures.functions import deploy, wait_until
from tests.fixtures.mappings import (
    broker,
    count_members,
    create_topic,
    get,
    mapped,
    read_trace,
    seen,
    trace_in,
    tracing,
    wait_for_result,
    wait_for_state,
)

__all__ = ["broker"]
pytestmark = pytest.mark.kafka

_PROVISIONED = {"ProvisionedPollerConfig": {"MinimumPollers": 1, "MaximumPollers": 1}}
_RAISE_AT_POISON = """
    if any("poison" in value for values in seen.values() for value in values):
        raise ValueError("poison")
"""
_REPORT_POISON = """
    return {"batchItemFailures": [
        {"itemIdentifier": {"partition": name, "offset": r["offset"]}}
        for name, records in event["records"].items()
        for r in records
        if b"poison" in base64.b64decode(r["value"])
    ]}
"""


@pytest.fixture
def trace(tmp_path):
    """Where the function writes down what it was given."""
    return tmp_path / "trace.jsonl"


def values_with_poison(position):
    """Nine values, one of which the function cannot take."""
    values = [f"v{n}" for n in range(9)]
    values[{"first": 0, "middle": 4, "last": 8}[position]] = "poison"
    return values


def drop_repeats(values):
    """What stays of a sequence when each value is kept at its last place only."""
    return list(reversed(dict.fromkeys(reversed(values))))


def test_all_records_arrive_once_and_in_order(client, broker, trace):
    topic = create_topic(broker, partitions=3)
    function = deploy(client, tracing(), **trace_in(trace))
    model = {f"{topic.name}-{p}": [f"{p}-{n}" for n in range(100)] for p in range(3)}
    with mapped(client, function, topic, BatchSize=7) as mapping:
        for partition, values in enumerate(model.values()):
            topic.send(*values, partition=partition)
        wait_until("300 records", lambda: sum(len(seen(trace, name)) for name in model) >= 300)
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("the offsets", lambda: {topic.committed(group, p) for p in range(3)} == {100})
        wait_for_result(client, mapping, "OK")
    assert {name: seen(trace, name) for name in model} == model
    sizes = [sum(map(len, call["seen"].values())) for call in read_trace(trace)]
    assert max(sizes) == 7


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


def test_the_event_has_exactly_the_shape_of_aws(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(
        client,
        "import json, os\ndef handler(event, context):\n"
        "    open(os.environ['TRACE'], 'a').write(json.dumps(event) + chr(10))\n",
        **trace_in(trace),
    )
    with mapped(client, function, topic, BatchSize=2, MaximumBatchingWindowInSeconds=2):
        topic.send("v", key=b"k", timestamp_ms=1795234015788, headers=[("h", b"ab\xff")])
        topic.send(None, key=b"gone", timestamp_ms=1795234015789)
        (event,) = wait_until("the event", lambda: read_trace(trace))
    assert list(event) == ["eventSource", "bootstrapServers", "records"]
    assert event == {
        "eventSource": "SelfManagedKafka",
        "bootstrapServers": broker.bootstrap_servers("PLAINTEXT"),
        "records": {
            f"{topic.name}-0": [
                {
                    "topic": topic.name,
                    "partition": 0,
                    "offset": 0,
                    "timestamp": 1795234015788,
                    "timestampType": "CREATE_TIME",
                    "key": base64.b64encode(b"k").decode(),
                    "value": base64.b64encode(b"v").decode(),
                    "headers": [{"h": [97, 98, -1]}],
                },
                {
                    "topic": topic.name,
                    "partition": 0,
                    "offset": 1,
                    "timestamp": 1795234015789,
                    "timestampType": "CREATE_TIME",
                    "key": base64.b64encode(b"gone").decode(),
                    "headers": [],
                },
            ]
        },
    }


@pytest.mark.parametrize("position", ["first", "middle", "last"])
@pytest.mark.parametrize(
    ("body", "settings"),
    [
        (_RAISE_AT_POISON, {"BisectBatchOnFunctionError": True}),
        (_REPORT_POISON, {"FunctionResponseTypes": ["ReportBatchItemFailures"]}),
    ],
    ids=["halved", "partial answers"],
)
def test_a_poison_record_stops_nothing_but_itself(  # noqa: PLR0913, PLR0917 - two tables
    client, broker, trace, position, body, settings
):
    topic = create_topic(broker)
    values = values_with_poison(position)
    topic.send(*values)
    function = deploy(client, tracing(body), **trace_in(trace))
    settings = {**settings, **_PROVISIONED, "MaximumRetryAttempts": 1, "BatchSize": 9}
    if "FunctionResponseTypes" in settings:
        settings["BatchSize"] = 1  # what follows a failed record is given up with it
    with mapped(client, function, topic, **settings) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("all are done", lambda: topic.committed(group) == 9)
    assert drop_repeats(seen(trace, f"{topic.name}-0")) == values
    alone = [call for call in read_trace(trace) if call["seen"] == {f"{topic.name}-0": ["poison"]}]
    assert len(alone) == 2  # the try and its retry


def test_a_partial_answer_keeps_what_was_done_and_the_order(client, broker, trace):
    topic = create_topic(broker, partitions=2)
    body = """
    calls = sum(1 for _ in open(os.environ["TRACE"]))
    failures = [
        {"itemIdentifier": {"partition": name, "offset": records[len(records) // 2]["offset"]}}
        for name, records in event["records"].items() if calls <= 3
    ]
    return {"batchItemFailures": failures}
"""
    for partition in range(2):
        topic.send(*(f"{partition}-{n}" for n in range(10)), partition=partition)
    function = deploy(client, tracing(body), **trace_in(trace))
    settings = {**_PROVISIONED, "FunctionResponseTypes": ["ReportBatchItemFailures"]}
    with mapped(client, function, topic, BatchSize=20, **settings) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("all", lambda: {topic.committed(group, p) for p in range(2)} == {10})
    for partition in range(2):
        given = seen(trace, f"{topic.name}-{partition}")
        assert drop_repeats(given) == [f"{partition}-{n}" for n in range(10)]
        assert given.count(f"{partition}-0") == 1  # done at first, not given again
        assert given.count(f"{partition}-9") > 1


def test_partial_answers_are_not_read_unless_asked_for(client, broker, trace):
    topic = create_topic(broker)
    topic.send("poison", "good")
    function = deploy(client, tracing(_REPORT_POISON), **trace_in(trace))
    with mapped(client, function, topic) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("both are done", lambda: topic.committed(group) == 2)
    assert seen(trace, f"{topic.name}-0") == ["poison", "good"]


def test_a_failing_batch_blocks_until_it_succeeds_and_no_offset_moves(
    client, broker, trace, tmp_path
):
    topic = create_topic(broker)
    topic.send("a", "b", "c")
    repaired = tmp_path / "repaired"
    body = f"    if not os.path.exists({str(repaired)!r}):\n        raise ValueError('not yet')\n"
    function = deploy(client, tracing(body), **trace_in(trace))
    with mapped(client, function, topic, BatchSize=2) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("some retries", lambda: len(read_trace(trace)) >= 3)
        assert topic.committed(group) == 0
        wait_for_result(client, mapping, "PROBLEM: Function call failed")
        repaired.touch()
        wait_until("all are done", lambda: topic.committed(group) == 3)
    given = [call["seen"][f"{topic.name}-0"] for call in read_trace(trace)]
    assert given[-1] == ["c"]
    assert given[:-1] == [["a", "b"]] * (len(given) - 1)


def test_a_time_out_in_mid_batch_gives_the_whole_batch_again(client, broker, trace):
    topic = create_topic(broker)
    topic.send("a", "b", "c", "d")
    body = "    if sum(1 for _ in open(os.environ['TRACE'])) == 1:\n        time.sleep(30)\n"
    function = deploy(client, tracing(body), Timeout=1, **trace_in(trace))
    with mapped(client, function, topic, BatchSize=3) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("all are done", lambda: topic.committed(group) == 4)
    given = [call["seen"][f"{topic.name}-0"] for call in read_trace(trace)]
    assert given == [["a", "b", "c"], ["a", "b", "c"], ["d"]]


def test_a_rebalance_loses_nothing_and_repeats_one_batch_at_most(client, broker, trace):
    topic = create_topic(broker, partitions=4)
    model = {f"{topic.name}-{p}": [f"{p}-{n}" for n in range(50)] for p in range(4)}
    for partition, values in enumerate(model.values()):
        topic.send(*values, partition=partition)
    function = deploy(client, tracing("    time.sleep(0.5)"), Timeout=10, **trace_in(trace))
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
            for place, records in second.poll(timeout_ms=100).items():
                name = f"{place.topic}-{place.partition}"
                elsewhere[name] += [record.value.decode() for record in records]
                second.commit()
            return all({*seen(trace, name), *elsewhere[name]} == {*model[name]} for name in model)

        wait_until("every record is in one of the members", all_there, seconds=40)
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
def test_a_new_group_begins_where_it_is_told(client, broker, trace, position, expected):
    topic = create_topic(broker)
    topic.send("old", timestamp_ms=1_700_000_000_000)
    topic.send("middle", timestamp_ms=1_700_000_100_000)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic, **position):
        topic.send("new", timestamp_ms=1_700_000_200_000)
        wait_until("the new one", lambda: "new" in seen(trace, f"{topic.name}-0"))
    assert seen(trace, f"{topic.name}-0") == expected


def test_only_what_a_filter_matches_is_given(client, broker, trace):
    topic = create_topic(broker)
    hot = {"value": {"temperature": [{"numeric": [">", 30]}]}}
    filters = {"FilterCriteria": {"Filters": [{"Pattern": json.dumps(hot)}]}}
    values = ['{"temperature": 20}', '{"temperature": 31}', "no json", "{}", '{"temperature": 9}']
    topic.send(*values)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic, **filters) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("all are done", lambda: topic.committed(group) == 5)
    assert seen(trace, f"{topic.name}-0") == ['{"temperature": 31}']


def test_a_batch_waits_for_its_window(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic, MaximumBatchingWindowInSeconds=1):
        topic.send("a")
        topic.send("b")
        wait_until("both", lambda: len(seen(trace, f"{topic.name}-0")) == 2)
    assert [call["seen"][f"{topic.name}-0"] for call in read_trace(trace)] == [["a", "b"]]


def test_events_stay_below_6_mb(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(
        client,
        "import json, os\ndef handler(event, context):\n"
        "    size = len(json.dumps(event, separators=(',', ':')))\n"
        "    n = sum(map(len, event['records'].values()))\n"
        "    open(os.environ['TRACE'], 'a').write(json.dumps([n, size]) + chr(10))\n",
        MemorySize=512,
        Timeout=20,
        **trace_in(trace),
    )
    for _ in range(10):
        topic.send("x" * 900_000)
    with mapped(client, function, topic, BatchSize=10, MaximumBatchingWindowInSeconds=3):
        wait_until("all", lambda: sum(n for n, _ in read_trace(trace)) == 10)
    assert max(size for _, size in read_trace(trace)) <= 6 * 1024 * 1024
    assert max(n for n, _ in read_trace(trace)) == 5  # 1.2 MB each, as base64


def test_a_topic_that_comes_later_is_seen_within_two_seconds(client, broker, trace):
    name = f"later-{time.monotonic_ns()}"
    function = deploy(client, tracing(), **trace_in(trace))
    missing = type(create_topic(broker))(broker, name)
    with mapped(client, function, missing) as mapping:
        wait_for_result(client, mapping, f"PROBLEM: topic '{name}' does not exist")
        topic = create_topic(broker, name=name)
        topic.send("first")
        wait_until("the first record", lambda: seen(trace, f"{name}-0"), seconds=4)
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
