"""What is given up goes to the destination; nothing is lost when that is down."""

from __future__ import annotations

import json
import secrets
import time

import pytest

from localcloud.testing import allow, deploy, make_queue, make_role, wait_until
from localcloud.testing.mappings import (
    create_topic,
    get,
    mapped,
    read_trace,
    seen,
    trace_in,
    tracing,
)

pytestmark = pytest.mark.kafka

_FAIL = "    raise ValueError('never')"
_PROVISIONED = {"ProvisionedPollerConfig": {"MinimumPollers": 1, "MaximumPollers": 1}}


@pytest.fixture
def role(client):
    """A role without rights."""
    return make_role(client)


def to(destination, **settings):
    """The settings of a mapping that gives up after one retry."""
    return {
        **_PROVISIONED,
        "MaximumRetryAttempts": 1,
        "DestinationConfig": {"OnFailure": {"Destination": destination}},
        **settings,
    }


def group_of(client, mapping):
    return get(client, mapping)["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]


def test_sqs_gets_the_record_of_a_batch_without_its_content(client, broker, trace, role):
    topic = create_topic(broker)
    topic.send("a", "b", timestamp_ms=1_795_234_015_788)
    queue, take = make_queue(client)
    allow(client, role, "sqs:SendMessage")
    function = deploy(client, tracing(_FAIL), Role=role, **trace_in(trace))
    with mapped(client, function, topic, **to(queue, BatchSize=2)) as mapping:
        record = wait_until("the record", take)
        wait_until("going on", lambda: topic.committed(group_of(client, mapping)) == 2)
    assert len(read_trace(trace)) == 2
    context = record["requestContext"]
    assert context["condition"] == "RetryAttemptsExhausted"
    assert context["approximateInvokeCount"] == 2
    assert context["functionArn"].endswith(f":function:{function}")
    assert record["responseContext"] == {
        "statusCode": 200,
        "executedVersion": "$LATEST",
        "functionError": "Unhandled",
    }
    info = record["KafkaBatchInfo"]
    assert info["batchSize"] == 2
    assert info["bootstrapServers"] == broker.bootstrap_servers("PLAINTEXT")
    when = "2026-11-21T04:06:55.788Z"
    assert info["recordsInfo"] == {
        f"{topic.name}-0": {
            "firstRecordOffset": "0",
            "firstRecordTimestamp": when,
            "lastRecordOffset": "1",
            "lastRecordTimestamp": when,
        }
    }
    assert "payload" not in record


def test_sns_gets_the_record(client, broker, trace, role):
    queue, take = make_queue(client)
    sns = client("sns").create_topic(Name=f"n-{secrets.token_hex(4)}")["TopicArn"]
    client("sns").subscribe(
        TopicArn=sns, Protocol="sqs", Endpoint=queue, Attributes={"RawMessageDelivery": "true"}
    )
    allow(client, role, "sns:Publish")
    topic = create_topic(broker)
    topic.send("a")
    function = deploy(client, tracing(_FAIL), Role=role, **trace_in(trace))
    with mapped(client, function, topic, **to(sns)):
        record = wait_until("the record", take)
    assert record["KafkaBatchInfo"]["batchSize"] == 1


def test_s3_gets_the_record_with_the_payload(client, broker, trace, role):
    bucket, s3 = f"b-{secrets.token_hex(4)}", client("s3")
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    allow(client, role, "s3:PutObject")
    topic = create_topic(broker)
    topic.send("a", "b")
    function = deploy(client, tracing(_FAIL), Role=role, **trace_in(trace))
    with mapped(client, function, topic, **to(f"arn:aws:s3:::{bucket}", BatchSize=2)) as mapping:
        (found,) = wait_until(
            "the object", lambda: s3.list_objects_v2(Bucket=bucket).get("Contents")
        )
        assert found["Key"].startswith(f"aws/lambda/{mapping}/{function}/20")
    record = json.load(s3.get_object(Bucket=bucket, Key=found["Key"])["Body"])
    assert json.loads(record["payload"]) == read_trace(trace)[0]["event"]


def test_records_after_a_discarded_batch_are_delivered(client, broker, trace, role):
    topic = create_topic(broker)
    body = "    if 'bad' in seen[next(iter(seen))]:\n        raise ValueError('bad')\n"
    topic.send("a", "bad", "c", "d")
    queue, take = make_queue(client)
    allow(client, role, "sqs:SendMessage")
    function = deploy(client, tracing(body), Role=role, **trace_in(trace))
    with mapped(client, function, topic, **to(queue, BatchSize=1)):
        wait_until("the last", lambda: "d" in seen(trace, f"{topic.name}-0"))
    assert seen(trace, f"{topic.name}-0") == ["a", "bad", "bad", "c", "d"]
    info = wait_until("the record", take)["KafkaBatchInfo"]["recordsInfo"][f"{topic.name}-0"]
    assert (info["firstRecordOffset"], info["lastRecordOffset"]) == ("1", "1")


def test_a_destination_that_refuses_holds_the_batch_until_it_does_not(client, broker, trace, role):
    topic = create_topic(broker)
    topic.send("a", "b")
    queue, take = make_queue(client)
    function = deploy(client, tracing(_FAIL), Role=role, **trace_in(trace))
    with mapped(client, function, topic, **to(queue, BatchSize=2)) as mapping:

        def refused():
            result = get(client, mapping)["LastProcessingResult"]
            return result.startswith("PROBLEM: the on-failure destination: ") and result

        assert "AccessDenied" in wait_until("the problem", refused)
        assert topic.committed(group_of(client, mapping)) == 0
        allow(client, role, "sqs:SendMessage")
        assert wait_until("the record", take)["KafkaBatchInfo"]["batchSize"] == 2
        wait_until("going on", lambda: topic.committed(group_of(client, mapping)) == 2)
    assert len(read_trace(trace)) == 2  # the function is not called again for that


def test_records_that_are_too_old_are_given_up_without_a_call(client, broker, trace, role):
    topic = create_topic(broker)
    topic.send("old", timestamp_ms=1_700_000_000_000)
    in_half_an_hour = int(time.time() + 1_800) * 1_000  # so it is not old, however long this takes
    topic.send("new", timestamp_ms=in_half_an_hour)
    queue, take = make_queue(client)
    allow(client, role, "sqs:SendMessage")
    function = deploy(client, tracing(), Role=role, **trace_in(trace))
    settings = to(queue, BatchSize=1, MaximumRecordAgeInSeconds=60)
    with mapped(client, function, topic, **settings):
        record = wait_until("the record", take)
        wait_until("the new one", lambda: seen(trace, f"{topic.name}-0"))
    assert record["requestContext"]["condition"] == "MaximumRecordAgeExceeded"
    assert record["requestContext"]["approximateInvokeCount"] == 0
    assert seen(trace, f"{topic.name}-0") == ["new"]
