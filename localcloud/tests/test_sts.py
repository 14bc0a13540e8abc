"""Roles: who may take which, what the keys are then, and until when."""

from __future__ import annotations

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from localstack_client.session import Session as LocalstackSession

from localcloud.identity.credentials import SessionKeys, credentials_for_role, find_key
from localcloud.identity.permissions import may_be_assumed_by_service
from localcloud.testing.policies import allow, allow_role, keys_of, make_role, trust
from tests.account_ids import CONSUMER

_ID = {"Condition": {"StringEquals": {"sts:ExternalId": "secret-word"}}}


def _refusal(do, *args, **kwargs):
    with pytest.raises(ClientError) as refused:
        do(*args, **kwargs)
    answer = refused.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"], str(refused.value)


def _assume(sts, role_arn, **more):
    return sts.assume_role(RoleArn=role_arn, RoleSessionName="run", **more)["Credentials"]


@pytest.fixture
def iam(client):
    return client("iam")


@pytest.fixture
def consumer(client):
    return client("sts", account=CONSUMER)


def test_a_role_of_another_account_is_taken_with_its_external_id(client, iam, consumer):
    role = make_role(iam, trust(CONSUMER, **_ID))
    keys = keys_of(_assume(consumer, role, ExternalId="secret-word"))
    identity = client("sts", **keys).get_caller_identity()
    name = role.rpartition("/")[2]
    assert identity["Account"] == "111111111111"
    assert identity["Arn"] == f"arn:aws:sts::111111111111:assumed-role/{name}/run"
    assert identity["UserId"].endswith(":run")


@pytest.mark.parametrize("external_id", [{}, {"ExternalId": "wrong"}])
def test_without_the_external_id_it_is_refused(iam, consumer, external_id):
    role = make_role(iam, trust(CONSUMER, **_ID))
    assert _refusal(_assume, consumer, role, **external_id) == (
        "AccessDenied",
        403,
        "An error occurred (AccessDenied) when calling the AssumeRole operation: "
        f"User: arn:aws:iam::{CONSUMER}:root is not authorized to perform: sts:AssumeRole "
        f"on resource: {role}",
    )


def test_another_account_is_refused(client, iam):
    role = make_role(iam, trust(CONSUMER))
    sts = client("sts", account="333333333333")
    assert _refusal(_assume, sts, role)[:2] == ("AccessDenied", 403)


def test_its_own_account_is_refused_too_unless_it_is_trusted(client, iam):
    role = make_role(iam, trust(CONSUMER))
    assert _refusal(_assume, client("sts"), role)[:2] == ("AccessDenied", 403)


def test_a_trust_policy_that_cannot_be_judged_refuses_and_says_why(iam, consumer):
    role = make_role(iam, trust(CONSUMER, Condition={"StringEquals": {"sts:ExternalId": "${a}"}}))
    code, status, message = _refusal(_assume, consumer, role, ExternalId="ab")
    assert (code, status) == ("AccessDenied", 403)
    assert "localcloud does not know the policy variable ${a}" in message


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"Tags": [{"Key": "a", "Value": "b"}]}, "answer sts:AssumeRole with Tags"),
        ({"SourceIdentity": "ann"}, "answer sts:AssumeRole with SourceIdentity"),
        ({"PolicyArns": [{"arn": f"arn:aws:iam::{CONSUMER}:policy/p"}]}, "policy/p does not exist"),
    ],
)
def test_a_parameter_that_changes_a_session_is_refused(client, consumer, more, said):
    role = make_role(client("iam", account=CONSUMER), trust(CONSUMER))
    assert said in _refusal(_assume, consumer, role, **more)[2]


def test_the_first_keys_to_expire_are_dropped(monkeypatch):
    monkeypatch.setattr("localcloud.identity.credentials._MAX_KEPT", 2)
    keys = SessionKeys()
    long, short, last = (keys.make(CONSUMER, seconds) for seconds in (7200, 900, 3600))
    assert keys.find(short.access_key) is None
    assert keys.find(long.access_key) == long
    assert keys.find(last.access_key) == last


def test_a_role_that_does_not_exist_is_refused(consumer):
    absent = "arn:aws:iam::111111111111:role/absent"
    assert _refusal(_assume, consumer, absent)[:2] == ("AccessDenied", 403)


def test_the_role_that_deploys_needs_not_exist_and_may_do_all(client):
    keys = keys_of(_assume(client("sts", account="test"), "arn:aws:iam::444444444444:role/deploy"))
    client("sqs", **keys).create_queue(QueueName="made-by-deploy")
    urls = client("sqs", account="444444444444").list_queues()["QueueUrls"]
    assert [url.rpartition("/")[2] for url in urls] == ["made-by-deploy"]


def test_a_role_of_a_function_may_not_take_the_role_that_deploys(client, iam, consumer):
    role = make_role(iam, trust(CONSUMER), allow("sts:AssumeRole"))
    chained = client("sts", **keys_of(_assume(consumer, role)))
    assert _refusal(_assume, chained, "arn:aws:iam::111111111111:role/deploy")[1] == 403


def test_a_deny_in_the_trust_policy_wins(iam, consumer):
    role = make_role(iam, trust("*"))
    iam.update_assume_role_policy(
        RoleName=role.rpartition("/")[2],
        PolicyDocument=trust(CONSUMER).replace('"Allow"', '"Deny"'),
    )
    assert _refusal(_assume, consumer, role)[0] == "AccessDenied"


def test_across_accounts_a_role_needs_the_permission_and_the_trust(client, iam):
    iam_there = client("iam", account=CONSUMER)
    job = make_role(iam_there, trust(CONSUMER))
    reader = make_role(iam, trust(job))
    keys = keys_of(_assume(client("sts", account=CONSUMER), job))
    assert _refusal(_assume, client("sts", **keys), reader)[0] == "AccessDenied"
    allow_role(job, iam_there, allow("sts:AssumeRole", reader))
    assert _assume(client("sts", **keys), reader)["AccessKeyId"].startswith("ASIA")
    other = make_role(iam_there, trust(CONSUMER), allow("sts:AssumeRole", reader))
    others = keys_of(_assume(client("sts", account=CONSUMER), other))
    assert _refusal(_assume, client("sts", **others), reader)[0] == "AccessDenied"


def test_inside_an_account_trust_in_the_role_itself_is_enough(client, iam):
    first = make_role(iam, trust("111111111111"))
    by_name, by_account = make_role(iam, trust(first)), make_role(iam, trust("111111111111"))
    sts = client("sts", **keys_of(_assume(client("sts"), first)))
    assert _assume(sts, by_name)
    assert _refusal(_assume, sts, by_account)[0] == "AccessDenied"


def test_a_chained_session_lasts_an_hour_at_most(client, iam):
    first = make_role(iam, trust("111111111111"))
    second = make_role(iam, trust(first))
    sts = client("sts", **keys_of(_assume(client("sts"), first)))
    assert "1 hour session limit" in _refusal(_assume, sts, second, DurationSeconds=3601)[2]
    assert "MaxSessionDuration" in _refusal(_assume, client("sts"), first, DurationSeconds=7200)[2]
    hasty = client("sts", config=Config(parameter_validation=False))
    assert "equal to 900" in _refusal(_assume, hasty, first, DurationSeconds=60)[2]


def test_a_session_name_of_other_characters_is_refused(consumer, iam):
    role = make_role(iam, trust(CONSUMER))
    with pytest.raises(ClientError, match="roleSessionName"):
        consumer.assume_role(RoleArn=role, RoleSessionName="a b")
    with pytest.raises(ClientError, match="arn:nonsense-of-20-chars is invalid"):
        consumer.assume_role(RoleArn="arn:nonsense-of-20-chars", RoleSessionName="ab")


@pytest.fixture
def over(cloud, iam):
    """The keys of a session whose time is over."""
    key = credentials_for_role(cloud, make_role(iam, trust(CONSUMER)), "run", 0)
    return {
        "aws_access_key_id": key.access_key,
        "aws_secret_access_key": key.secret_key,
        "aws_session_token": key.session_token,
    }


@pytest.mark.parametrize(
    ("service", "operation", "refusal"),
    [
        ("sts", "get_caller_identity", ("ExpiredToken", 403)),
        ("s3", "list_buckets", ("ExpiredToken", 403)),
        ("glue", "get_databases", ("ExpiredTokenException", 400)),
        ("dynamodb", "list_tables", ("ExpiredTokenException", 400)),
        ("lambda", "list_functions", ("ExpiredTokenException", 403)),
    ],
)
def test_an_expired_session_is_rejected(over, client, service, operation, refusal):
    assert _refusal(getattr(client(service, **over), operation))[:2] == refusal


def test_a_key_that_was_never_made_is_invalid(client):
    made = client("sts", aws_access_key_id="ASIAXXXXXXXXXXXXXXXX")
    assert _refusal(made.get_caller_identity)[:2] == ("InvalidClientTokenId", 403)


def test_keys_of_a_user_are_of_the_users_account(client):
    iam = client("iam", account=CONSUMER)
    iam.create_user(UserName="ada")
    key = iam.create_access_key(UserName="ada")["AccessKey"]
    keys = {
        "aws_access_key_id": key["AccessKeyId"],
        "aws_secret_access_key": key["SecretAccessKey"],
    }
    identity = client("sts", **keys).get_caller_identity()
    assert identity["Arn"] == f"arn:aws:iam::{CONSUMER}:user/ada"
    info = client("sts").get_access_key_info(AccessKeyId=key["AccessKeyId"])
    assert info["Account"] == CONSUMER


def test_the_account_of_an_unknown_key_is_an_error(client):
    unknown = "ASIAXXXXXXXXXXXXXXXX"
    code, _, message = _refusal(client("sts").get_access_key_info, AccessKeyId=unknown)
    assert code == "AccessDenied"
    assert f"{unknown} is unknown" in message


def test_a_session_token_of_the_account_itself(client):
    keys = keys_of(client("sts", account=CONSUMER).get_session_token()["Credentials"])
    assert client("sts", **keys).get_caller_identity()["Account"] == CONSUMER


def test_an_assumed_role_cannot_get_session_tokens(client, iam):
    role = make_role(iam, trust("111111111111"))
    taken = client("sts").assume_role(RoleArn=role, RoleSessionName="one")["Credentials"]
    code, status, message = _refusal(client("sts", **keys_of(taken)).get_session_token)
    assert (code, status) == ("AccessDenied", 403)
    assert message.endswith("Cannot call GetSessionToken with session credentials")


def test_localstack_client_lands_in_the_account_of_its_key(cloud, client, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.endpoint)
    session = LocalstackSession(
        aws_access_key_id="555555555555", aws_secret_access_key="x", region_name="eu-central-1"
    )
    session.client("sqs").create_queue(QueueName="by-localstack-client")
    queues = client("sqs", account="555555555555").list_queues()["QueueUrls"]
    assert queues[0].endswith("555555555555/by-localstack-client")
    assert "QueueUrls" not in client("sqs", account="666666666666").list_queues()


def test_a_service_takes_a_role_that_trusts_it(cloud, client, iam):
    role = make_role(iam, trust({"Service": "lambda.amazonaws.com"}), allow("sqs:ListQueues"))
    assert may_be_assumed_by_service(role, "lambda.amazonaws.com")
    assert not may_be_assumed_by_service(role, "ec2.amazonaws.com")
    assert may_be_assumed_by_service("arn:aws:iam::777777777777:role/deploy", "any")
    key = credentials_for_role(cloud, role, "fn")
    session = boto3.Session(key.access_key, key.secret_key, key.session_token, "eu-central-1")
    assert session.client("sqs", endpoint_url=cloud.endpoint).list_queues()
    assert find_key(cloud, key.access_key).principal == key.arn
    assert "secret_key" not in repr(key)
