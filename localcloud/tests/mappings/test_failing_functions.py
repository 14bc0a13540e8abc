"""A function that fails: what is given again, what is given up, and which offsets move."""

from __future__ import annotations

from itertools import groupby

import pytest

from localcloud.testing import deploy, wait_until
from localcloud.testing.mappings import (
    create_topic,
    drop_repeats,
    get,
    mapped,
    read_trace,
    seen,
    trace_in,
    tracing,
    wait_for_result,
)

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


@pytest.mark.parametrize(
    ("body", "settings"),
    [
        (_RAISE_AT_POISON, {"BisectBatchOnFunctionError": True}),
        (_REPORT_POISON, {"FunctionResponseTypes": ["ReportBatchItemFailures"]}),
    ],
    ids=["halved", "partial answers"],
)
def test_a_poison_record_stops_nothing_but_itself(client, broker, trace, body, settings):
    topic = create_topic(broker)
    values = [f"{'poison' if n in {0, 4, 8} else 'good'}-{n}" for n in range(9)]
    topic.send(*values)
    function = deploy(client, tracing(body), **trace_in(trace))
    settings = {**settings, **_PROVISIONED, "MaximumRetryAttempts": 1, "BatchSize": 9}
    if "FunctionResponseTypes" in settings:
        settings["BatchSize"] = 1  # what follows a failed record is given up with it
    with mapped(client, function, topic, **settings) as mapping:
        group = get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
        wait_until("all are done", lambda: topic.committed(group) == 9)
    assert drop_repeats(seen(trace, f"{topic.name}-0")) == values
    calls = [call["seen"][f"{topic.name}-0"] for call in read_trace(trace)]
    for number in (0, 4, 8):
        assert calls.count([f"poison-{number}"]) == 2  # the try and its retry


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
    assert given.count(["a", "b", "c"]) >= 2  # once more, where the machine is slower than that
    assert [batch for batch, _ in groupby(given)] == [["a", "b", "c"], ["d"]]
