"""Faults on demand, each by its effect on a caller, and the door that sets them."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from localcloud.door import control
from localcloud.errors import BrokerStartError
from localcloud.faults import Faults, Kind
from localcloud.testing import wait_until

_JSON = {"Content-Type": "application/json"}
_ONCE = Config(retries={"max_attempts": 0}, read_timeout=20)


@pytest.fixture
def door(cloud):
    """Ask localcloud itself: `door("add-fault", kind="throttle")`; all faults end with the test."""

    def ask(name, method="POST", **arguments):
        body = json.dumps(arguments).encode() if method == "POST" else None
        request = urllib.request.Request(
            f"{cloud.endpoint}/_localcloud/{name}", body, _JSON, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)["error"]

    yield ask
    ask("clear-faults")


@pytest.fixture
def once(client):
    """Make clients that try once."""
    return lambda service, **more: client(service, config=_ONCE, **more)


def _fails(do, *args, **kwargs):
    with pytest.raises(ClientError) as refused:
        do(*args, **kwargs)
    answer = refused.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        ("dynamodb", "list_tables", ("ProvisionedThroughputExceededException", 400)),
        ("glue", "get_databases", ("ThrottlingException", 400)),
        ("lambda", "list_functions", ("TooManyRequestsException", 429)),
        ("s3", "list_buckets", ("SlowDown", 503)),
        ("sts", "get_caller_identity", ("Throttling", 400)),
    ],
)
def test_a_throttle_speaks_as_its_service_does(door, once, service, operation, code):
    door("add-fault", kind="throttle", service=service, calls=1)
    do = getattr(once(service), operation)
    assert _fails(do) == code
    assert do()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_an_error_meets_its_operation_and_account_only(door, once):
    fault = {"service": "sqs", "operation": "ListQueues", "account": "222222222222"}
    door("add-fault", kind="error", code="InternalFailure", status=503, **fault)
    there = once("sqs", account="222222222222")
    assert _fails(there.list_queues) == ("InternalFailure", 503)
    assert there.create_queue(QueueName="q")["QueueUrl"]
    assert once("sqs").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert [fault["broken"] for fault in door("list-faults")] == [1]


def test_a_probability_breaks_the_same_calls_for_the_same_seed(door, once):
    def draw():
        door("clear-faults")
        door("add-fault", kind="throttle", service="sts", probability=0.5, seed=11)
        return [_answers(once("sts").get_caller_identity) for _ in range(12)]

    first = draw()
    assert draw() == first
    assert {True, False} == set(first)


def _answers(do):
    try:
        do()
    except ClientError:
        return False
    return True


def test_latency_comes_before_the_answer(door, once):
    sts = once("sts")
    sts.get_caller_identity()
    door("add-fault", kind="latency", service="sts", seconds=0.3)
    begun = time.monotonic()
    sts.get_caller_identity()
    assert time.monotonic() - begun >= 0.3


def test_calls_that_meet_are_performed_when_the_second_has_come(door, once):
    door("add-fault", kind="meet", service="sts", calls=2)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(once("sts").get_caller_identity)
        wait_until("the call is held", lambda: door("list-faults")[0]["broken"] == 1)
        assert not first.done()
        once("sts").get_caller_identity()
        assert first.result(60)
    assert [(fault["broken"], fault["met"]) for fault in door("list-faults")] == [(2, 1)]


def test_a_call_that_meets_no_other_is_performed_after_its_time_or_when_the_fault_ends(door, once):
    door("add-fault", kind="meet", service="sts", seconds=0.1)
    assert once("sts").get_caller_identity()
    assert once("sts").get_caller_identity()
    assert [(fault["broken"], fault["met"]) for fault in door("list-faults")] == [(2, 0)]
    door("clear-faults")
    door("add-fault", kind="meet", service="sts")
    with ThreadPoolExecutor(1) as pool:
        alone = pool.submit(once("sts").get_caller_identity)
        wait_until("the call is held", lambda: door("list-faults")[0]["broken"] == 1)
        door("clear-faults")
        assert alone.result(60)


def test_a_cut_call_has_its_effect_and_no_answer(door, once):
    sqs = once("sqs")
    door("add-fault", kind="cut", service="sqs", operation="CreateQueue", calls=1)
    with pytest.raises(ConnectionClosedError):
        sqs.create_queue(QueueName="made-all-the-same")
    assert sqs.get_queue_url(QueueName="made-all-the-same")["QueueUrl"]


def test_a_hanging_call_has_no_effect_and_is_let_go(door, once):
    sqs, failures = once("sqs"), []
    door("add-fault", kind="hang", service="sqs", operation="CreateQueue", calls=1)

    def create():
        try:
            sqs.create_queue(QueueName="never-made")
        except ConnectionClosedError as error:
            failures.append(error)

    caller = threading.Thread(target=create)
    caller.start()
    wait_until("the call hangs", lambda: door("list-faults")[0]["broken"])
    assert door("clear-faults") == {"cleared": 1}
    caller.join(60)
    assert len(failures) == 1
    assert "NonExistentQueue" in _fails(sqs.get_queue_url, QueueName="never-made")[0]


def test_a_call_passes_through_what_wraps_it_and_then_the_faults(cloud, client):
    faults, seen = cloud.state(Faults), []

    def watch(call, perform):
        seen.append(("before", call.operation))
        try:
            return perform()
        finally:
            seen.append(("after", call.operation))

    glue = client("glue", config=_ONCE)
    with faults.wrapped(watch):
        glue.list_registries()
        fault = faults.add(kind=Kind.THROTTLE, service="glue", calls=1)
        assert _fails(glue.list_registries)[0] == "ThrottlingException"
    glue.list_registries()

    assert seen == [("before", "ListRegistries"), ("after", "ListRegistries")] * 2
    assert fault.broken == 1
    faults.clear()


@pytest.fixture
def table(once):
    """A table whose items have the key id."""
    dynamodb = once("dynamodb")
    dynamodb.create_table(
        TableName="batches",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield dynamodb
    dynamodb.delete_table(TableName="batches")


def _write(dynamodb, *ids):
    puts = [{"PutRequest": {"Item": {"id": {"S": key}}}} for key in ids]
    undone = dynamodb.batch_write_item(RequestItems={"batches": puts})["UnprocessedItems"]
    return [put["PutRequest"]["Item"]["id"]["S"] for put in undone.get("batches", [])]


def _ids(dynamodb):
    return sorted(item["id"]["S"] for item in dynamodb.scan(TableName="batches")["Items"])


def test_chunked_answers_are_whole(door, table):
    door("add-fault", kind="chunked", service="dynamodb")

    answers = [table.list_tables() for _ in range(2)]  # on one connection

    headers = [answer["ResponseMetadata"]["HTTPHeaders"] for answer in answers]
    assert [each["transfer-encoding"] for each in headers] == ["chunked"] * 2
    first, second = (answer["TableNames"] for answer in answers)
    assert first == second
    assert "batches" in first  # perhaps among those of other tests


def test_unprocessed_items_of_a_write_are_not_written(door, table):
    door("add-fault", kind="unprocessed", items=2, calls=1)
    assert _write(table, "a", "b", "c") == ["b", "c"]
    assert _ids(table) == ["a"]
    assert _write(table, "b", "c") == []
    assert _ids(table) == ["a", "b", "c"]


def test_one_item_may_never_be_accepted(door, table):
    door("add-fault", kind="unprocessed", containing='"poison"')
    assert _write(table, "a", "poison") == ["poison"]
    assert _write(table, "poison") == ["poison"]
    assert _ids(table) == ["a"]


def test_unprocessed_keys_of_a_read_come_back(door, table):
    _write(table, "a", "b")
    door("add-fault", kind="unprocessed", items=1)
    keys = [{"id": {"S": key}} for key in ("a", "b")]
    ask = {"batches": {"Keys": keys, "ConsistentRead": True}}
    answer = table.batch_get_item(RequestItems=ask)
    assert answer["Responses"] == {"batches": [{"id": {"S": "a"}}]}
    assert answer["UnprocessedKeys"]["batches"] == {"Keys": keys[1:], "ConsistentRead": True}
    rest = table.batch_get_item(RequestItems=answer["UnprocessedKeys"])
    assert rest["Responses"] == {}


def test_a_batch_that_is_refused_stays_refused(door, table):
    door("add-fault", kind="unprocessed")
    puts = [{"PutRequest": {"Item": {"wrong": {"S": "x"}}}} for _ in range(2)]
    with pytest.raises(ClientError, match="ValidationException"):
        table.batch_write_item(RequestItems={"batches": puts})


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({}, "add-fault needs kind"),
        ({"kind": "x"}, "kind is 'x', expected one of throttle, error, latency, meet, hang"),
        ({"kind": "cut", "sevice": "s3"}, "add-fault has no parameter sevice; it takes kind, serv"),
        ({"kind": "cut", "service": "s4"}, "found no service 's4', expected a name of boto3"),
        ({"kind": "cut", "operation": "Put"}, "operation 'Put' needs its service"),
        (
            {"kind": "cut", "service": "s3", "operation": "Put"},
            "found no operation 'Put' of s3, expected a name of its API",
        ),
        ({"kind": "cut", "calls": "3"}, "add-fault: calls must be int | None, not '3'"),
        ({"kind": "cut", "calls": True}, "add-fault: calls must be int | None, not True"),
        ({"kind": "cut", "probability": 2}, "probability is 2, expected 0 to 1"),
        ({"kind": "hang", "seconds": 901}, "seconds is 901, expected 0 to 900.0"),
        ({"kind": "error", "status": 200}, "status is 200, expected 400 to 599"),
        ({"kind": "cut", "calls": 0}, "calls is 0, expected 1 to inf"),
        ({"kind": "unprocessed", "items": 0}, "items is 0, expected 1 to inf"),
    ],
)
def test_an_unknown_action_is_rejected(door, arguments, refusal):
    status, said = door("add-fault", **arguments)
    assert status == 400
    assert said.startswith(refusal)
    assert door("list-faults") == []


def test_the_control_door_lists_its_actions(door):
    assert "Remove all faults" in door("", method="GET")["clear-faults"]
    status, said = door("no-such-thing")
    assert status == 404
    assert "POST /_localcloud/no-such-thing is not known" in said
    assert "add-fault" in said


def test_a_failed_action_is_reported(door, monkeypatch):
    def fail(_cloud):
        raise BrokerStartError("broker 1 did not answer within 30 s")

    monkeypatch.setitem(control._ACTIONS, "list-faults", fail)
    assert door("list-faults") == (500, "broker 1 did not answer within 30 s")


def test_status_has_a_part_for_each_kind_of_thing(door):
    assert {"accounts"} <= set(door("status", method="GET"))
