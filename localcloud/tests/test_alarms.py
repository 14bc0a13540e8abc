"""Alarms and rules: metrics move their states, and topics get what their policies let in."""

from __future__ import annotations

import itertools
import json
from datetime import timedelta

import pytest
from botocore.exceptions import ClientError

from localcloud.testing import wait_until
from tests.fixtures.jobs import make_jobs

_NUMBERS = itertools.count(1)
_S3 = "s3.amazonaws.com"
_REGION = "eu-central-1"


@pytest.fixture
def account():
    """Return an account that nobody has used."""
    return f"9200{next(_NUMBERS):08}"


@pytest.fixture
def made(client, account):
    """Make clients of the account by service."""
    return lambda service: client(service, account=account)


@pytest.fixture
def topic(made, account):
    """Make an encrypted topic that CloudWatch and EventBridge may publish to, and a queue on it."""
    return Topic(made, account)


class Topic:
    """A topic with a queue that has all its messages."""

    def __init__(self, made, account):
        self._made, self._account = made, account
        services = ["cloudwatch.amazonaws.com", "events.amazonaws.com"]
        key = made("kms").create_key(Policy=json.dumps(self._policy("kms:*", services)))
        self.key = key["KeyMetadata"]["KeyId"]
        self.arn = made("sns").create_topic(Name="t", Attributes={"KmsMasterKeyId": self.key})[
            "TopicArn"
        ]
        self.let(services)
        self._queue = made("sqs").create_queue(QueueName="q")["QueueUrl"]
        queue = f"arn:aws:sqs:{_REGION}:{account}:q"
        made("sns").subscribe(TopicArn=self.arn, Protocol="sqs", Endpoint=queue)

    def _policy(self, action, services, **condition):
        statements = [
            {
                "Effect": "Allow",
                "Principal": principal,
                "Action": action,
                "Resource": "*",
            }
            for principal in (
                {"AWS": f"arn:aws:iam::{self._account}:root"},
                *({"Service": service} for service in services),
            )
        ]
        statements[-1] |= {"Condition": condition} if condition else {}
        return {"Version": "2012-10-17", "Statement": statements}

    def let(self, services, **condition):
        policy = json.dumps(self._policy("sns:Publish", services, **condition))
        self._made("sns").set_topic_attributes(
            TopicArn=self.arn, AttributeName="Policy", AttributeValue=policy
        )

    def let_use_key(self, *services):
        policy = json.dumps(self._policy("kms:*", services))
        self._made("kms").put_key_policy(KeyId=self.key, PolicyName="default", Policy=policy)

    def set_key(self, key):
        self._made("sns").set_topic_attributes(
            TopicArn=self.arn, AttributeName="KmsMasterKeyId", AttributeValue=key
        )

    def disable_key(self):
        self._made("kms").disable_key(KeyId=self.key)

    def messages(self):
        got = self._made("sqs").receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10)
        for each in got.get("Messages", []):
            self._made("sqs").delete_message(
                QueueUrl=self._queue, ReceiptHandle=each["ReceiptHandle"]
            )
        return [json.loads(each["Body"])["Message"] for each in got.get("Messages", [])]

    def states(self):
        return [json.loads(text)["NewStateValue"] for text in self.messages()]


def _alarm(made, topic, **settings):
    asked = {
        "AlarmName": "a",
        "Namespace": "N",
        "MetricName": "m",
        "Statistic": "Maximum",
        "Period": 300,
        "EvaluationPeriods": 3,
        "Threshold": 10,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "missing",
        "AlarmActions": [topic.arn],
        "OKActions": [topic.arn],
        "InsufficientDataActions": [topic.arn],
    }
    made("cloudwatch").put_metric_alarm(**asked | settings)


def _state(made, name="a"):
    (alarm,) = made("cloudwatch").describe_alarms(AlarmNames=[name])["MetricAlarms"]
    return alarm["StateValue"]


@pytest.fixture
def put(made, control):
    """Pass minutes in which the metric has a value, or none."""

    def pass_minutes(minutes, value=None):
        for _ in range(minutes):
            if value is not None:
                _put(control, made, value)
            control("pass-minutes", minutes=1)

    return pass_minutes


def _put(control, made, value):
    line = {"_aws": {"CloudWatchMetrics": [_DIRECTIVE]}, "m": value}
    logs = made("logs")
    if not logs.describe_log_groups()["logGroups"]:
        logs.create_log_group(logGroupName="g")
        logs.create_log_stream(logGroupName="g", logStreamName="s")
    logs.put_log_events(
        logGroupName="g",
        logStreamName="s",
        logEvents=[{"timestamp": 1, "message": json.dumps(line)}],
    )


_DIRECTIVE = {"Namespace": "N", "Dimensions": [[]], "Metrics": [{"Name": "m"}]}


def test_an_alarm_rings_after_its_periods_and_tells_when_its_metric_stops(made, topic, put):
    _alarm(made, topic)
    put(20)
    assert (_state(made), topic.states()) == ("INSUFFICIENT_DATA", [])

    put(5, 1)
    assert (_state(made), topic.states()) == ("OK", ["OK"])
    put(10, 11)
    assert _state(made) == "OK"
    put(5, 11)
    assert (_state(made), topic.states()) == ("ALARM", ["ALARM"])
    put(16)
    assert (_state(made), topic.states()) == ("INSUFFICIENT_DATA", ["INSUFFICIENT_DATA"])


@pytest.mark.parametrize(
    ("treatment", "state"),
    [("breaching", "ALARM"), ("notBreaching", "OK"), ("ignore", "INSUFFICIENT_DATA")],
)
def test_missing_data_counts_as_the_alarm_says(made, topic, put, treatment, state):
    _alarm(made, topic, TreatMissingData=treatment)
    put(1)
    assert _state(made) == state


def test_a_changed_alarm_keeps_its_state(made, topic, put):
    _alarm(made, topic, TreatMissingData="breaching")
    put(1)
    _alarm(made, topic, TreatMissingData="breaching", Threshold=20)
    assert _state(made) == "ALARM"


def test_the_history_has_the_changes_of_states_and_their_notices(made, topic, put):
    _alarm(made, topic, EvaluationPeriods=1, Period=60)
    put(1, value=11)
    put(1, value=1)
    read = made("cloudwatch").describe_alarm_history

    items = read(AlarmName="a")["AlarmHistoryItems"]
    changes = read(AlarmName="a", HistoryItemType="StateUpdate", ScanBy="TimestampAscending")
    first = read(AlarmName="a", MaxRecords=1)

    assert [each["HistorySummary"] for each in changes["AlarmHistoryItems"]] == [
        "Alarm updated from INSUFFICIENT_DATA to ALARM",
        "Alarm updated from ALARM to OK",
    ]
    assert [each["HistoryItemType"] for each in items] == ["Action", "StateUpdate"] * 2
    assert items[0]["HistorySummary"] == f"Successfully executed action {topic.arn}"
    assert first["AlarmHistoryItems"] == items[:1] and first["NextToken"]
    assert (
        read(AlarmName="a", StartDate=items[0]["Timestamp"] + timedelta(minutes=1)).get(
            "AlarmHistoryItems"
        )
        == []
    )
    assert read(AlarmName="other")["AlarmHistoryItems"] == []


def test_a_service_that_the_policies_keep_out_publishes_nothing(made, topic, put):
    _alarm(made, topic, TreatMissingData="breaching", EvaluationPeriods=1, Period=60)
    topic.let_use_key("events.amazonaws.com")
    put(1)
    assert (_state(made), topic.states()) == ("ALARM", [])
    topic.let_use_key("cloudwatch.amazonaws.com")
    topic.let(["cloudwatch.amazonaws.com"], StringEquals={"aws:SourceAccount": "111111111111"})
    put(1, 1)
    assert (_state(made), topic.states()) == ("OK", [])
    topic.let(["cloudwatch.amazonaws.com"])
    topic.disable_key()
    put(1)
    assert (_state(made), topic.states()) == ("ALARM", [])
    topic.set_key("alias/aws/sns")
    put(1, 1)
    assert (_state(made), topic.states()) == ("OK", [])
    topic.set_key("")
    put(1)
    assert (_state(made), topic.states()) == ("ALARM", ["ALARM"])


def test_an_alarm_that_is_not_evaluated_is_named(made, topic, control, account):
    query = {"Id": "e", "Expression": "1 + 1", "ReturnData": True}
    made("cloudwatch").put_metric_alarm(
        AlarmName="math",
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
        Metrics=[query],
    )
    (shown,) = [each for each in control("status")["alarms"] if each["account"] == account]
    assert (shown["name"], shown["not_evaluated"]) == ("math", "it is on an expression")


@pytest.mark.parametrize(
    ("period", "periods", "error"),
    [
        (3600, 168, None),
        (3600, 169, "a week .* must be <= 604800"),
        (3540, 25, "a day .* must be <= 86400"),
        (30, 1, None),
        (45, 1, "Period must be 10, 20, 30 or a multiple of 60"),
    ],
)
def test_an_alarm_that_looks_back_too_far_is_refused(made, topic, period, periods, error):
    if error is None:
        _alarm(made, topic, Period=period, EvaluationPeriods=periods)
        assert _state(made) == "INSUFFICIENT_DATA"
    else:
        with pytest.raises(ClientError, match=rf"\(ValidationError\).*{error}"):
            _alarm(made, topic, Period=period, EvaluationPeriods=periods)
        assert made("cloudwatch").describe_alarms()["MetricAlarms"] == []


def test_a_failed_job_run_is_published_by_a_rule(made, client, topic, account):
    jobs = make_jobs(made, account)
    pattern = {
        "source": ["aws.emr-serverless"],
        "detail": {"applicationId": [jobs.application], "state": ["FAILED"]},
    }
    made("events").put_rule(Name="r", EventPattern=json.dumps(pattern))
    transformer = {"InputPathsMap": {"run": "$.detail.jobRunId"}, "InputTemplate": '"see <run>"'}
    made("events").put_targets(
        Rule="r", Targets=[{"Id": "t", "Arn": topic.arn, "InputTransformer": transformer}]
    )

    run = jobs.submit({"entryPoint": f"s3://{jobs.bucket}/nothing.py"})

    jobs.wait_end(run)
    assert wait_until("the message", topic.messages) == [f'"see {run}"']


def test_events_go_whole_to_topics_only(made, topic):
    made("events").put_rule(Name="r", EventPattern='{"source": ["aws.s3"]}')
    arn = f"arn:aws:lambda:{_REGION}:111111111111:function:f"
    for target, said in [
        ({"Arn": arn}, "SNS topics only; found the target arn:aws:lambda"),
        ({"Arn": topic.arn, "InputPath": "$.detail"}, "no InputPath; found \\$.detail, expected"),
    ]:
        with pytest.raises(ClientError, match=said):
            made("events").put_targets(Rule="r", Targets=[{"Id": "t", **target}])


def test_triggers_that_start_no_function_are_refused(made, topic):
    arn = f"arn:aws:lambda:{_REGION}:111111111111:function:f"
    made("s3").create_bucket(
        Bucket="notifying", CreateBucketConfiguration={"LocationConstraint": _REGION}
    )
    notified = {"LambdaFunctionConfigurations": [{"LambdaFunctionArn": arn, "Events": ["s3:*"]}]}
    made("logs").create_log_group(logGroupName="g")
    refused = {
        "notifications of a bucket": lambda: made("s3").put_bucket_notification_configuration(
            Bucket="notifying", NotificationConfiguration=notified
        ),
        "messages of a topic": lambda: made("sns").subscribe(
            TopicArn=topic.arn, Protocol="lambda", Endpoint=arn
        ),
        "lines of a log group": lambda: made("logs").put_subscription_filter(
            logGroupName="g", filterName="f", filterPattern="", destinationArn=arn
        ),
        "mappings of arn:aws:sqs": lambda: made("lambda").create_event_source_mapping(
            FunctionName="f", EventSourceArn=f"arn:aws:sqs:{_REGION}:111111111111:q"
        ),
    }
    for what, call in refused.items():
        with pytest.raises(ClientError, match=what):
            call()


@pytest.mark.parametrize("keeps_out", ["topic", "key", "state", None])
def test_a_buckets_topic_must_let_s3_in(made, topic, keeps_out, account):
    bucket = f"notifying-{keeps_out}-{account}".lower()
    made("s3").create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": _REGION}
    )
    named = {"aws:SourceAccount": account, "aws:SourceArn": f"arn:aws:s3:::{bucket}"}
    topic.let(["cloudwatch.amazonaws.com" if keeps_out == "topic" else _S3], StringEquals=named)
    topic.let_use_key("cloudwatch.amazonaws.com" if keeps_out == "key" else _S3)
    if keeps_out == "state":
        topic.disable_key()
    asked = {"TopicConfigurations": [{"TopicArn": topic.arn, "Events": ["s3:ObjectCreated:*"]}]}

    def put():
        made("s3").put_bucket_notification_configuration(
            Bucket=bucket, NotificationConfiguration=asked
        )

    if keeps_out is None:
        return put()
    with pytest.raises(ClientError, match="Unable to validate the following destination conf"):
        put()


def test_a_log_groups_key_must_let_its_logs_in(made, topic, account):
    key = f"arn:aws:kms:{_REGION}:{account}:key/{topic.key}"
    with pytest.raises(ClientError, match="does not allow logs"):
        made("logs").create_log_group(logGroupName="g", kmsKeyId=key)
    topic.let_use_key(f"logs.{_REGION}.amazonaws.com")
    made("logs").create_log_group(logGroupName="g", kmsKeyId=key)
    topic.let_use_key("logs.us-east-1.amazonaws.com")
    with pytest.raises(ClientError, match="could not be used"):
        made("logs").associate_kms_key(logGroupName="g", kmsKeyId=key)
    topic.let_use_key(f"logs.{_REGION}.amazonaws.com")
    topic.disable_key()
    with pytest.raises(ClientError, match=r"could not be used.* is disabled"):
        made("logs").associate_kms_key(logGroupName="g", kmsKeyId=key)
