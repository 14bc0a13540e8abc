"""A delivery against a model of the function: order, retries, halves, partial answers."""

from __future__ import annotations

import json
import threading

import pytest

from localcloud.poller import batch, delivery
from localcloud.poller.batch import make_item
from localcloud.poller.delivery import Delivery
from tests.stubs.poller import NOW_MS, P0, P1, Function, record, settings


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_SECONDS", 0.0)


def deliver(function, records, limit=50, **changes):
    """Deliver everything; returns each step's offsets and what was reported."""
    reports, steps = [], []
    items = [make_item(record) for record in records]
    under_way = Delivery(settings(**changes), items, function, reports.append, threading.Event())
    while not under_way.finished and len(steps) < limit:
        steps.append(under_way.step())
    return steps, reports


def fail_with(*poison):
    return lambda places: "fail" if set(poison) & set(places) else None


def report_failures(*poison):
    """The partial answer of a function that cannot take these."""
    return lambda places: {
        "batchItemFailures": [
            {"itemIdentifier": {"partition": f"t-{p}", "offset": o}}
            for p, o in places
            if (p, o) in poison
        ]
    }


_PARTIAL = {"FunctionResponseTypes": ["ReportBatchItemFailures"]}


def test_a_batch_that_succeeds_is_done():
    function = Function()
    steps, reports = deliver(function, [record(4), record(5), record(0, partition=1)])
    assert steps == [{P0: 6, P1: 1}]
    assert function.calls == [[(0, 4), (0, 5), (1, 0)]]
    assert reports == ["OK"]


def test_a_failing_batch_is_retried_forever_unless_limited():
    function = Function(fail_with((0, 1)))
    steps, reports = deliver(function, [record(0), record(1)], limit=30)
    assert steps == [{}] * 30
    assert set(reports) == {"PROBLEM: Function call failed"}


def test_after_its_retries_a_batch_is_discarded():
    function = Function(fail_with((0, 1)))
    steps, _ = deliver(function, [record(0), record(1)], MaximumRetryAttempts=2)
    assert len(function.calls) == 3
    assert steps == [{}, {}, {P0: 2}]
    ((discarded, event),) = function.discarded
    assert discarded["requestContext"]["approximateInvokeCount"] == 3
    assert discarded["KafkaBatchInfo"]["payloadSize"] == len(event)


def test_a_batch_of_a_far_future_is_discarded():
    function = Function(fail_with((0, 0)))
    steps, _ = deliver(function, [record(0, timestamp_ms=2**63 - 1)], MaximumRetryAttempts=0)
    assert steps == [{P0: 1}]
    ((discarded, _),) = function.discarded
    assert discarded["KafkaBatchInfo"]["recordsInfo"]["t-0"]["firstRecordTimestamp"] == (
        "9999-12-31T23:59:59.000Z"
    )


def test_with_a_destination_there_are_ten_retries():
    function = Function(fail_with((0, 0)))
    queue = {"OnFailure": {"Destination": "arn:aws:sqs:eu-central-1:111111111111:q"}}
    deliver(function, [record(0)], DestinationConfig=queue)
    assert len(function.calls) == 11


def test_retries_may_be_none_at_all():
    function = Function(fail_with((0, 0)))
    deliver(function, [record(0)], MaximumRetryAttempts=0)
    assert len(function.calls) == 1


@pytest.mark.parametrize("poison", [0, 3, 7])
def test_halving_isolates_a_poison_record_in_order(poison):
    function = Function(fail_with((0, poison)))
    records = [record(offset) for offset in range(8)]
    steps, _ = deliver(function, records, MaximumRetryAttempts=1, BisectBatchOnFunctionError=True)
    ((discarded, _),) = function.discarded
    assert discarded["KafkaBatchInfo"]["batchSize"] == 1
    done = [step[P0] for step in steps if step]
    assert done == sorted(done)
    assert done[-1] == 8
    good = [offset for call in function.calls if (0, poison) not in call for _, offset in call]
    assert good == [offset for offset in range(8) if offset != poison]


def test_a_partial_answer_goes_on_at_each_partitions_first_failure():
    first = [True]

    def judge(places):
        answer = report_failures((0, 1), (1, 8))(places) if first[0] else None
        first[0] = False
        return answer

    function = Function(judge)
    records = [record(o) for o in (0, 1, 2)] + [record(o, partition=1) for o in (7, 8, 9)]
    steps, _ = deliver(function, records, **_PARTIAL)
    assert steps == [{P0: 1, P1: 8}, {P0: 3, P1: 10}]
    assert function.calls[1] == [(0, 1), (0, 2), (1, 8), (1, 9)]


def test_a_lasting_partial_failure_discards_the_rest():
    function = Function(report_failures((0, 1)))
    deliver(function, [record(o) for o in range(3)], MaximumRetryAttempts=0, **_PARTIAL)
    ((discarded, event),) = function.discarded
    assert discarded["KafkaBatchInfo"]["recordsInfo"]["t-0"]["firstRecordOffset"] == "1"
    assert [r["offset"] for r in json.loads(event)["records"]["t-0"]] == [1, 2]


@pytest.mark.parametrize(
    "answer", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}]
)
def test_an_answer_without_failures_is_success(answer):
    steps, _ = deliver(Function(lambda _: answer), [record(0)], **_PARTIAL)
    assert steps == [{P0: 1}]


@pytest.mark.parametrize(
    "answer",
    [
        "text",
        {"batchItemFailures": [{"itemIdentifier": ""}]},
        {"batchItemFailures": [{"itemIdentifier": {"partition": "u-0", "offset": 0}}]},
        {"batchItemFailures": [{"itemIdentifier": {"partition": "t-0"}}]},
        {"batchItemFailures": "all"},
    ],
)
def test_an_answer_that_is_not_understood_fails_the_batch(answer):
    steps, _ = deliver(Function(lambda _: answer), [record(0), record(1)], limit=1, **_PARTIAL)
    assert steps == [{}]


def test_the_lowest_failed_offset_counts_in_whatever_order_they_are_named():
    failures = [{"itemIdentifier": {"partition": "t-0", "offset": o}} for o in (3, 1, 2)]
    answer = {"batchItemFailures": failures}
    function = Function(lambda _: answer)
    steps, _ = deliver(function, [record(o) for o in range(5)], limit=1, **_PARTIAL)
    assert steps == [{P0: 1}]


def test_an_answer_is_not_read_unless_asked_for():
    steps, _ = deliver(Function(report_failures((0, 0))), [record(0)])
    assert steps == [{P0: 1}]


def test_a_call_that_cannot_be_made_does_not_count_as_an_attempt():
    function = Function(refusals=5)
    steps, reports = deliver(function, [record(0)], MaximumRetryAttempts=0)
    assert steps == [{}] * 5 + [{P0: 1}]
    assert reports == ["PROBLEM: throttled"] * 5 + ["OK"]
    assert function.discarded == []


def test_a_destination_that_is_down_is_asked_again_without_another_call():
    function = Function(fail_with((0, 0)), refused_discards=3)
    steps, reports = deliver(function, [record(0)], MaximumRetryAttempts=0)
    assert steps == [{P0: 1}]
    assert (len(function.calls), len(function.discarded)) == (1, 1)
    assert "PROBLEM: the on-failure destination: destination down" in reports


def test_a_stop_does_not_count_as_discarded():
    stop, function = threading.Event(), Function(fail_with((0, 0)))
    stop.set()
    under_way = Delivery(
        settings(MaximumRetryAttempts=0), [make_item(record(0))], function, lambda _: None, stop
    )
    assert under_way.step() == {}
    assert not under_way.finished


def test_old_records_are_discarded_without_a_call():
    function = Function()
    old = record(0, timestamp_ms=NOW_MS - 120_000)
    steps, _ = deliver(function, [old], MaximumRecordAgeInSeconds=60)
    assert (steps, function.calls) == ([{P0: 1}], [])
    assert function.discarded[0][0]["requestContext"]["condition"] == "MaximumRecordAgeExceeded"


def test_a_record_that_is_too_large_alone_is_discarded(monkeypatch):
    monkeypatch.setattr(batch, "MAX_EVENT_BYTES", 1500)
    monkeypatch.setattr(delivery, "MAX_EVENT_BYTES", 1500)
    function = Function()
    steps, _ = deliver(function, [record(0), record(1, b"x" * 1500), record(2)])
    assert function.calls == [[(0, 0)], [(0, 2)]]
    assert [step[P0] for step in steps] == [1, 2, 3]
    condition = function.discarded[0][0]["requestContext"]["condition"]
    assert condition == "MaximumPayloadSizeExceeded"


def test_a_failed_batch_is_divided_without_comparing_each_record_with_each(monkeypatch):
    def compare(_one, _other):
        raise AssertionError("for 10,000 records that is 50 million times")

    monkeypatch.setattr(batch.Item, "__eq__", compare)
    function = Function(report_failures((0, 2)))
    steps, _ = deliver(
        function,
        [record(offset) for offset in range(4)],
        limit=2,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )
    assert steps[0] == {P0: 2}
    assert function.calls[1] == [(0, 2), (0, 3)]


def test_partitions_that_are_lost_are_dropped():
    function = Function(fail_with((0, 0)))
    items = [make_item(record(0)), make_item(record(0, partition=1))]
    stop = threading.Event()
    under_way = Delivery(settings(), items, function, lambda _: None, stop)
    assert under_way.step() == {}
    under_way.drop({P0})
    assert under_way.step() == {P1: 1}
    assert function.calls[-1] == [(1, 0)]
    assert under_way.finished
