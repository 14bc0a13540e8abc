"""`make aws-check` asks an account only with credentials and a yes, and leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import boto3
import pytest
from botocore.stub import Stubber

from localcloud.command.assumptions import read_assumptions
from tools.aws_check import __main__ as aws_check
from tools.aws_check import account as account_probes
from tools.aws_check import deployed, findings
from tools.aws_check.notifications import ask_bucket_notifications
from tools.aws_check.roles import ask_policy_sizes
from tools.aws_check.schedules import ask_schedules
from tools.aws_check.spark import ask_spark_environment

_ACCOUNT = "777777777777"
_FUNCTIONS = f"arn:aws:lambda:eu-central-1:{_ACCOUNT}:function"


@pytest.fixture
def account(cloud: Any, client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """An account of localcloud in the environment, and clients of it."""
    monkeypatch.setattr("sys.argv", ["aws_check"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", _ACCOUNT)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.delenv("CONFIRM", raising=False)
    monkeypatch.setattr(findings, "NEW_ROLE_SECONDS", 0)
    return lambda service: client(service, _ACCOUNT)


def test_without_credentials_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["aws_check"])
    monkeypatch.setattr(boto3.Session, "get_credentials", lambda _: None)

    assert aws_check.main() == 0
    assert "there are no AWS credentials, so AWS was not asked" in capsys.readouterr().out


def test_without_a_yes_it_only_says_what_it_would_cost(
    account: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert aws_check.main() == 0

    told = capsys.readouterr().out
    assert f"would ask account {_ACCOUNT} in eu-central-1" in told
    assert "together               about 0.06 USD" in told
    assert "not confirmed (CONFIRM=yes), so AWS was not asked" in told
    assert account("kms").list_keys()["Keys"] == []


def test_with_a_yes_it_asks_everything_and_cleans_up(
    account: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONFIRM", "yes")
    monkeypatch.setattr(aws_check, "PROBES", aws_check.PROBES[:-1])  # the last has its own test

    assert aws_check.main() == 0, capsys.readouterr().out

    told = capsys.readouterr().out
    answers = dict(re.findall(r"^([a-z-]+): ([a-z ]+)[.]", told, re.MULTILINE))
    assert answers.pop("pollers") == answers.pop("cluster-users") == "not settled"
    assert answers == dict.fromkeys(answers, "as expected")
    assert len(answers) + 2 == len(aws_check.PROBES)
    for line in (
        "3.9.x.kraft on kafka.t3.small: refused: Unsupported InstanceType",
        "settles burstable-brokers of `python -m localcloud assumptions`",
        "zone_ids of eu-central-1: euc1-az1, euc1-az2",
        "aws.api.eu-central-1.emr-service-cell01 is in eu-central-1a, ",
        "no consumer is applied here",
        "no cluster of spark.cluster runs here",
        "10 run at once, 10 unreserved: 0 may be reserved",
        "decreases account's UnreservedConcurrentExecution below its minimum value of [10]",
        "two inline policies of 10240 characters and white space: taken",
        "of 10241: LimitExceeded: Maximum policy size of 10240 bytes exceeded for role",
        "a managed policy of 6144 characters and white space: taken",
        "of 6145: LimitExceeded: Cannot exceed quota for PolicySize: 6144",
        "Mars/Base: ValidationException",
        "at(2020-01-01T00:00:00): taken",
        "t4g.small of resolve:ssm:/aws/service/ami-amazon-linux-latest/",
        "on new tables IAM alone decides",
        "the grant on a database that was deleted and made again is gone",
    ):
        assert line in told
    _assert_clean(account)


def _assert_clean(account: Callable[[str], Any]) -> None:
    """Nothing is left but a key that waits for its end."""
    (key,) = account("kms").list_keys()["Keys"]
    shown = account("kms").describe_key(KeyId=key["KeyId"])["KeyMetadata"]
    assert shown["KeyState"] == "PendingDeletion"
    left = (
        account("s3").list_buckets()["Buckets"],
        account("sns").list_topics()["Topics"],
        account("kafka").list_clusters_v2()["ClusterInfoList"],
        account("lambda").list_functions()["Functions"],
        account("iam").list_roles()["Roles"],
        account("iam").list_policies(Scope="Local")["Policies"],
        account("scheduler").list_schedules()["Schedules"],
        account("ec2").describe_launch_templates()["LaunchTemplates"],
        account("glue").get_databases()["DatabaseList"],
    )
    assert left == ([],) * len(left)


def test_each_answer_names_assumptions_that_there_are() -> None:
    known = {each.id: each.settle for each in read_assumptions()}
    by_id = {id_: probe.name for probe in aws_check.PROBES for id_ in probe.settles}

    assert by_id.keys() <= known.keys()
    asked = {id_ for id_, settle in known.items() if "make aws-check" in settle}
    assert asked == by_id.keys()
    names = {probe.name for probe in aws_check.PROBES}
    assert {id_: names & set(re.findall("[a-z-]+", known[id_])) for id_ in asked} == {
        id_: {probe.name for probe in aws_check.PROBES if id_ in probe.settles} for id_ in asked
    }


def test_every_probe_has_a_price_and_the_cheapest_come_first() -> None:
    prices = [probe.usd for probe in aws_check.PROBES]

    assert prices == sorted(prices)
    assert all(probe.settles and probe.creates for probe in aws_check.PROBES)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["free"], [probe.name for probe in aws_check.PROBES[:-2]]),
        (["schedules", "pollers"], ["pollers", "schedules"]),
    ],
)
def test_some_questions_can_be_chosen(
    account: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    names: list[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["aws_check", *words])

    assert aws_check.main() == 0

    told = capsys.readouterr().out
    assert re.findall(r"^  ([a-z-]+) +about 0.00 USD;", told, re.MULTILINE) == names
    assert "together               about 0.00 USD" in told


def test_an_unknown_question_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["aws_check", "free", "weather"])

    assert aws_check.main() == 2
    assert "weather: expected free, or of kafka-pairs, " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("Unsupported InstanceType specified. Valid values: []", False),
        ("The subnet ID 'subnet-0a1b2c3d4e5f60718' does not exist", False),  # of t3.small too
        ("Your account is not permitted to use MSK", None),
    ],
)
def test_an_answer_that_says_neither_settles_nothing(
    account: Any, monkeypatch: pytest.MonkeyPatch, said: str, verdict: bool | None
) -> None:
    kafka = boto3.Session().client("kafka")
    stubber = Stubber(kafka)
    for _ in range(4):
        stubber.add_client_error("create_cluster", "BadRequestException", said)
    session = boto3.Session()
    monkeypatch.setattr(session, "client", lambda _: kafka)

    with stubber:
        assert account_probes.ask_kafka_pairs(session).expected is verdict


@pytest.mark.parametrize(
    ("result", "verdict"),
    [("OK", True), ("No records processed", True), ("PROBLEM: Connection error", False)],
)
def test_pollers_of_an_applied_consumer_are_looked_at(result: str, verdict: bool) -> None:
    mapping = {
        "FunctionArn": f"{_FUNCTIONS}:penstock-analytics-consumer",
        "LastProcessingResult": result,
        "SelfManagedEventSource": {"Endpoints": {}},
    }
    queue = {"FunctionArn": f"{_FUNCTIONS}:other"}
    session = boto3.Session(region_name="eu-central-1")
    functions = session.client("lambda", aws_access_key_id="a", aws_secret_access_key="b")
    session.client = lambda _: functions  # type: ignore[method-assign,assignment]
    with Stubber(functions) as stubber:
        shown = {"EventSourceMappings": [mapping, queue]}
        stubber.add_response("list_event_source_mappings", shown, {})

        finding = deployed.ask_pollers(session)

    assert finding == findings.Finding(verdict, [f"penstock-analytics-consumer: {result}"])


class _Cluster:
    """A running cluster whose step prints what it is told to, in time or not."""

    def __init__(self, s3: Any, printed: str | None) -> None:
        self.s3, self.printed = s3, printed
        self.states = iter(["PENDING", "RUNNING"])
        self.cancelled: list[str] = []

    def list_clusters(self, **_: Any) -> dict[str, Any]:
        names = {"j-1": "another", "j-2": "penstock-analytics-emr"}
        return {"Clusters": [{"Id": each, "Name": name} for each, name in names.items()]}

    def describe_cluster(self, ClusterId: str) -> dict[str, Any]:
        assert ClusterId == "j-2"
        return {"Cluster": {"LogUri": "s3n://penstock-emr-logs/"}}

    def add_job_flow_steps(self, JobFlowId: str, Steps: list[dict[str, Any]]) -> dict[str, Any]:
        _, _, script = Steps[0]["HadoopJarStep"]["Args"]
        compile(script.partition("END'\n")[2].partition("END\n")[0], "look.py", "exec")
        return {"StepIds": ["s-1"]}

    def describe_step(self, **_: Any) -> dict[str, Any]:
        state = next(self.states, "RUNNING" if self.printed is None else "COMPLETED")
        if state == "COMPLETED":
            packed = gzip.compress(str(self.printed).encode())
            key = "j-2/steps/s-1/stdout.gz"
            self.s3.put_object(Bucket="penstock-emr-logs", Key=key, Body=packed)
        return {"Step": {"Status": {"State": state}}}

    def cancel_steps(self, ClusterId: str, StepIds: list[str]) -> None:
        self.cancelled += StepIds


@pytest.mark.parametrize(
    ("executor", "verdict"),
    [(["yarn", False], True), (["hadoop", True], False), (None, None)],
)
def test_a_step_tells_who_runs_executors(
    account: Any, monkeypatch: pytest.MonkeyPatch, executor: list[Any] | None, verdict: bool | None
) -> None:
    session, s3 = boto3.Session(), account("s3")
    s3.create_bucket(
        Bucket="penstock-emr-logs",
        CreateBucketConfiguration={"LocationConstraint": "eu-central-1"},
    )
    said = None if executor is None else json.dumps({"driver": ["hadoop"], "executor": executor})
    emr, clients = _Cluster(s3, said), session.client
    session.client = lambda name: emr if name == "emr" else clients(name)  # type: ignore[method-assign]
    now = iter(range(10**6))
    monkeypatch.setattr(deployed.time, "monotonic", lambda: 100 * next(now))

    assert deployed.ask_cluster_users(session, lambda _: None).expected is verdict

    assert emr.cancelled == ([] if said else ["s-1"])
    for key in s3.list_objects_v2(Bucket="penstock-emr-logs").get("Contents", []):
        s3.delete_object(Bucket="penstock-emr-logs", Key=key["Key"])
    s3.delete_bucket(Bucket="penstock-emr-logs")


def test_a_difference_is_the_exit_code(
    account: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONFIRM", "yes")
    answer = findings.Finding(False, ["it is not"])
    other = aws_check.Probe("p", "Is it so?", "nothing", 0, lambda _: answer, ("zip-modes",))
    monkeypatch.setattr(aws_check, "PROBES", (other,))

    assert aws_check.main() == 1
    assert (
        "p: DIFFERENT. Is it so?\n  it is not\n  settles zip-modes of " in capsys.readouterr().out
    )


def test_a_region_without_the_endpoint_of_clusters_is_told(account: Any) -> None:
    session = boto3.Session(region_name="eu-central-1")
    ec2 = session.client("ec2")
    with Stubber(ec2) as stubber:
        stubber.add_client_error("describe_vpc_endpoint_services", "InvalidServiceName", "none")
        session.client = lambda _: ec2  # type: ignore[method-assign,assignment]

        finding = account_probes.ask_cluster_endpoint(session)

    assert finding.expected is False
    assert "InvalidServiceName" in finding.lines[0]


@pytest.mark.parametrize(
    "ask", [ask_bucket_notifications, ask_policy_sizes, ask_schedules, ask_spark_environment]
)
def test_names_are_in_the_partition_of_the_credentials(
    ask: Callable[[Any], findings.Finding], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "NEW_ROLE_SECONDS", 0)
    me = f"arn:aws-us-gov:iam::{_ACCOUNT}:user/me"
    aws = MagicMock()
    aws.get_caller_identity.return_value = {"Account": _ACCOUNT, "Arn": me}
    aws.create_topic.return_value = {"TopicArn": "arn:aws-us-gov:sns:us-gov-west-1:1:topic"}
    aws.get_application.return_value = {"application": {"state": "STOPPED"}}
    aws.get_job_run.return_value = {"jobRun": {"state": "SUCCESS"}}
    aws.get_object.return_value = {"Body": io.BytesIO(gzip.compress(b""))}
    session = MagicMock(region_name="us-gov-west-1")
    session.client.return_value = aws

    ask(session)

    assert set(re.findall("arn:[a-z-]+:", str(aws.method_calls))) == {"arn:aws-us-gov:"}
