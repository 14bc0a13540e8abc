"""`make aws-check` asks an account only with credentials and a yes, and leaves nothing behind."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tools import aws_check, aws_probes
from tools.aws_spark_probe import ask_spark_environment

_ACCOUNT = "777777777777"


@pytest.fixture
def account(cloud: Any, client: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """An account of localcloud in the environment, and clients of it."""
    monkeypatch.setattr("sys.argv", ["aws_check"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", _ACCOUNT)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.delenv("CONFIRM", raising=False)
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
    assert [name for name in told.split() if name.endswith("pairs:")] == ["kafka-pairs:"]
    assert "3.9.x.kraft on kafka.t3.small: refused: Unsupported InstanceType" in told
    assert "zone_ids of eu-central-1: euc1-az1, euc1-az2" in told
    assert "aws.api.eu-central-1.emr-service-cell01 is in eu-central-1a, " in told
    assert "10 run at once, 10 unreserved: 0 may be reserved" in told
    assert "bucket-notifications: as expected" in told
    (key,) = account("kms").list_keys()["Keys"]
    shown = account("kms").describe_key(KeyId=key["KeyId"])["KeyMetadata"]
    assert shown["KeyState"] == "PendingDeletion"
    assert account("s3").list_buckets()["Buckets"] == []
    assert account("sns").list_topics()["Topics"] == []
    assert account("kafka").list_clusters_v2()["ClusterInfoList"] == []


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
        assert aws_probes.ask_kafka_pairs(session).expected is verdict


class _Emr:
    """EMR Serverless whose job prints what it is told to, into the bucket of its logs."""

    def __init__(self, s3: Any, printed: dict[str, Any] | None) -> None:
        self.s3, self.printed = s3, printed
        self.states = iter(["STARTED", "STOPPED"])
        self.deleted: list[str] = []

    def create_application(self, **_: Any) -> dict[str, str]:
        return {"applicationId": "app"}

    def start_job_run(self, **given: Any) -> dict[str, str]:
        monitoring = given["configurationOverrides"]["monitoringConfiguration"]
        bucket = monitoring["s3MonitoringConfiguration"]["logUri"].split("/")[2]
        program = given["jobDriver"]["sparkSubmit"]["entryPoint"].rpartition("/")[2]
        compile(self.s3.get_object(Bucket=bucket, Key=program)["Body"].read(), program, "exec")
        if self.printed is not None:
            key = "logs/applications/app/jobs/run/SPARK_DRIVER/stdout.gz"
            packed = gzip.compress(json.dumps(self.printed).encode())
            self.s3.put_object(Bucket=bucket, Key=key, Body=packed)
        return {"jobRunId": "run"}

    def get_job_run(self, **_: Any) -> dict[str, Any]:
        return {"jobRun": {"state": "SUCCESS"}}

    def stop_application(self, **_: Any) -> None:
        pass

    def get_application(self, **_: Any) -> dict[str, Any]:
        return {"application": {"state": next(self.states)}}

    def delete_application(self, applicationId: str) -> None:
        self.deleted.append(applicationId)


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [
        ({"archive": [True, True], "region": {"AWS_REGION": "eu-central-1"}}, True),
        ({"archive": [True, False], "region": {"AWS_REGION": "eu-central-1"}}, False),
        ({"archive": [True, True], "region": {"AWS_REGION": None}}, False),
        (None, None),
    ],
)
def test_a_spark_job_tells_of_its_environment_and_nothing_stays(
    account: Any, printed: dict[str, Any] | None, verdict: bool | None
) -> None:
    session = boto3.Session()
    emr, clients = _Emr(account("s3"), printed), session.client
    session.client = lambda name: emr if name == "emr-serverless" else clients(name)  # type: ignore[method-assign]

    assert ask_spark_environment(session, lambda _: None).expected is verdict

    assert emr.deleted == ["app"]
    assert account("s3").list_buckets()["Buckets"] == []
    assert account("iam").list_roles()["Roles"] == []


def test_a_difference_is_the_exit_code(
    account: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONFIRM", "yes")
    other = aws_check.Probe(
        "p", "Is it so?", "nothing", 0, lambda _: aws_probes.Finding(False, ["it is not"])
    )
    monkeypatch.setattr(aws_check, "PROBES", (other,))

    assert aws_check.main() == 1
    assert "p: DIFFERENT. Is it so?\n  it is not" in capsys.readouterr().out


def test_a_region_without_the_endpoint_of_clusters_is_told(account: Any) -> None:
    session = boto3.Session(region_name="eu-central-1")
    ec2 = session.client("ec2")
    with Stubber(ec2) as stubber:
        stubber.add_client_error("describe_vpc_endpoint_services", "InvalidServiceName", "none")
        session.client = lambda _: ec2  # type: ignore[method-assign,assignment]

        finding = aws_probes.ask_cluster_endpoint(session)

    assert finding.expected is False
    assert "InvalidServiceName" in finding.lines[0]
