"""`make aws-check` asks an account only with credentials and a yes, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tools import aws_check, aws_probes

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
    assert "together               about 0.01 USD" in told
    assert "not confirmed (CONFIRM=yes), so AWS was not asked" in told
    assert account("kms").list_keys()["Keys"] == []


def test_with_a_yes_it_asks_everything_and_cleans_up(
    account: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONFIRM", "yes")

    assert aws_check.main() == 0, capsys.readouterr().out

    told = capsys.readouterr().out
    assert [name for name in told.split() if name.endswith("pairs:")] == ["kafka-pairs:"]
    assert "3.9.x.kraft on kafka.t3.small: refused: Unsupported InstanceType" in told
    assert "zone_ids of eu-central-1: euc1-az1, euc1-az2" in told
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
