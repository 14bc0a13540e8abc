"""From a real broker through a mapping to a function: what arrives, and in which portions."""

from __future__ import annotations

import base64
import json

import pytest
from kafka import KafkaProducer

from localcloud.testing import deploy, wait_until
from localcloud.testing.mappings import (
    create_topic,
    get,
    mapped,
    read_trace,
    seen,
    trace_in,
    tracing,
    wait_for_result,
)

pytestmark = pytest.mark.kafka


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


def test_a_mapping_of_an_alias_follows_it_to_another_version(client, broker, tmp_path):
    lambda_, topic, old, new = (
        client("lambda"),
        create_topic(broker),
        tmp_path / "o",
        tmp_path / "n",
    )
    function = deploy(client, tracing(), **trace_in(old))
    alias = {"FunctionName": function, "Name": "live"}
    first = lambda_.publish_version(FunctionName=function)["Version"]
    arn = lambda_.create_alias(**alias, FunctionVersion=first)["AliasArn"]
    with mapped(client, arn, topic, BatchSize=1) as mapping:
        assert get(client, mapping)["FunctionArn"] == arn
        topic.send("a", partition=0)
        wait_until("the first record", lambda: seen(old, f"{topic.name}-0") == ["a"])
        lambda_.update_function_configuration(FunctionName=function, **trace_in(new))
        second = lambda_.publish_version(FunctionName=function)["Version"]
        lambda_.update_alias(**alias, FunctionVersion=second)
        topic.send("b", partition=0)
        wait_until("the second record", lambda: seen(new, f"{topic.name}-0") == ["b"])
    assert (first, second) == ("1", "2")
    assert seen(old, f"{topic.name}-0") == ["a"]


def test_the_event_has_exactly_the_shape_of_aws(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(
        client,
        "import json, os\ndef handler(event, context):\n"
        "    open(os.environ['TRACE'], 'a').write(json.dumps(event) + chr(10))\n",
        **trace_in(trace),
    )
    topic.send("v", key=b"k", timestamp_ms=1795234015788, headers=[("h", b"ab\xff")])
    topic.send(None, key=b"gone", timestamp_ms=1795234015789)
    with mapped(client, function, topic, BatchSize=2, MaximumBatchingWindowInSeconds=60):
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


def test_records_of_an_aborted_transaction_are_delivered(client, broker, trace):
    """See assumption `mapping-isolation`."""
    topic = create_topic(broker)
    function = deploy(client, tracing(), **trace_in(trace))
    servers = broker.bootstrap_servers("PLAINTEXT")
    with KafkaProducer(bootstrap_servers=servers, transactional_id=topic.name) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic.name, b"aborted", partition=0).get(30)
        producer.abort_transaction()
    topic.send("kept", partition=0)
    with mapped(client, function, topic, BatchSize=1):
        wait_until("the last record", lambda: "kept" in seen(trace, f"{topic.name}-0"))
    assert seen(trace, f"{topic.name}-0") == ["aborted", "kept"]


def test_only_records_that_match_a_filter_are_delivered(client, broker, trace):
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


def test_a_batch_waits_until_it_is_full(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic, BatchSize=2, MaximumBatchingWindowInSeconds=60):
        topic.send("a")
        topic.send("b")
        wait_until("both", lambda: len(seen(trace, f"{topic.name}-0")) == 2)
    assert [call["seen"][f"{topic.name}-0"] for call in read_trace(trace)] == [["a", "b"]]


def test_a_batch_that_is_not_full_is_delivered_after_its_window(client, broker, trace):
    topic = create_topic(broker)
    function = deploy(client, tracing(), **trace_in(trace))
    with mapped(client, function, topic, BatchSize=2, MaximumBatchingWindowInSeconds=1):
        topic.send("a")
        wait_until("the record", lambda: seen(trace, f"{topic.name}-0") == ["a"])


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
    for _ in range(12):
        topic.send("x" * 900_000)
    with mapped(client, function, topic, BatchSize=12, MaximumBatchingWindowInSeconds=60):
        wait_until("all", lambda: sum(n for n, _ in read_trace(trace)) == 12)
    assert max(size for _, size in read_trace(trace)) <= 6 * 1024 * 1024
    assert max(n for n, _ in read_trace(trace)) == 5  # 1.2 MB each, as base64
