"""A policy that names a role or a user that does not exist is not stored."""

from __future__ import annotations

import secrets

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, document, make_role, trust
from tests.account_ids import CONSUMER, PRODUCER, STRANGER

_NOBODY = f"arn:aws:iam::{CONSUMER}:role/nobody"


@pytest.fixture
def kept(client):
    """The functions that set a policy, by the kind of thing that has it."""
    name = f"a-{secrets.token_hex(4)}"
    iam, s3, kms, manager = (client(each) for each in ("iam", "s3", "kms", "secretsmanager"))
    role = make_role(iam, trust(PRODUCER)).rpartition("/")[2]
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    manager.create_secret(Name=name, SecretString="pw")
    queue = client("sqs").create_queue(QueueName=name)["QueueUrl"]
    topic = client("sns").create_topic(Name=name)["TopicArn"]
    return {
        "role": lambda policy: iam.update_assume_role_policy(RoleName=role, PolicyDocument=policy),
        "new role": lambda policy: iam.create_role(
            RoleName=secrets.token_hex(4), AssumeRolePolicyDocument=policy
        ),
        "bucket": lambda policy: s3.put_bucket_policy(Bucket=name, Policy=policy),
        "key": lambda policy: kms.put_key_policy(KeyId=key, PolicyName="default", Policy=policy),
        "new key": lambda policy: kms.create_key(Policy=policy),
        "secret": lambda policy: manager.put_resource_policy(SecretId=name, ResourcePolicy=policy),
        "queue": lambda policy: client("sqs").set_queue_attributes(
            QueueUrl=queue, Attributes={"Policy": policy}
        ),
        "new queue": lambda policy: client("sqs").create_queue(
            QueueName=secrets.token_hex(4), Attributes={"Policy": policy}
        ),
        "topic": lambda policy: client("sns").set_topic_attributes(
            TopicArn=topic, AttributeName="Policy", AttributeValue=policy
        ),
        "new topic": lambda policy: client("sns").create_topic(
            Name=secrets.token_hex(4), Attributes={"Policy": policy}
        ),
    }


_REFUSALS = {
    "role": ("MalformedPolicyDocument", f'Invalid principal in policy: "AWS":"{_NOBODY}"'),
    "bucket": ("MalformedPolicy", "Invalid principal in policy"),
    "key": (
        "MalformedPolicyDocumentException",
        "Policy contains a statement with one or more invalid principals.",
    ),
    "secret": (
        "MalformedPolicyDocumentException",
        "This resource policy contains an unsupported principal.",
    ),
    "queue": ("InvalidAttributeValue", "Invalid value for the parameter Policy."),
    "topic": ("InvalidParameter", "Invalid parameter: Policy Error: PrincipalNotFound"),
}
_KINDS = [*_REFUSALS, "new role", "new key", "new queue", "new topic"]
_ACTIONS = {"bucket": "s3:*", "key": "kms:*", "secret": "secretsmanager:*", "queue": "sqs:*"}


def _policy(kind, principal):
    if kind.endswith("role"):
        return trust(principal)
    named = {"AWS": principal} if isinstance(principal, str | list) else principal
    own = allow("kms:*", Principal={"AWS": f"arn:aws:iam::{PRODUCER}:root"})
    action = _ACTIONS.get(kind.removeprefix("new "), "sns:Publish")
    return document(allow(action, Principal=named), *([own] if kind.endswith("key") else []))


@pytest.mark.parametrize("kind", _KINDS)
def test_a_role_that_does_not_exist_is_refused(kept, kind):
    with pytest.raises(ClientError) as refused:
        kept[kind](_policy(kind, _NOBODY))
    error = refused.value.response["Error"]
    assert (error["Code"], error["Message"]) == _REFUSALS[kind.removeprefix("new ")]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_role_that_exists_may_be_named_until_it_is_deleted(kept, client, kind):
    iam = client("iam", account=CONSUMER)
    role = make_role(iam, trust(CONSUMER))
    kept[kind](_policy(kind, [role, CONSUMER, f"arn:aws:iam::{CONSUMER}:root"]))
    iam.delete_role(RoleName=role.rpartition("/")[2])
    with pytest.raises(ClientError):
        kept[kind](_policy(kind, role))


def test_a_role_is_named_with_its_path(kept, client):
    name = secrets.token_hex(4)
    client("iam").create_role(
        RoleName=name, Path="/team/", AssumeRolePolicyDocument=trust(PRODUCER)
    )
    kept["queue"](_policy("queue", f"arn:aws:iam::{PRODUCER}:role/team/{name}"))
    with pytest.raises(ClientError, match="Invalid value for the parameter Policy"):
        kept["queue"](_policy("queue", f"arn:aws:iam::{PRODUCER}:role/{name}"))


def test_a_user_must_exist_too(kept, client):
    name = secrets.token_hex(4)
    arn = f"arn:aws:iam::{PRODUCER}:user/{name}"
    with pytest.raises(ClientError, match="MalformedPolicy"):
        kept["bucket"](_policy("bucket", arn))
    client("iam").create_user(UserName=name)
    kept["bucket"](_policy("bucket", arn))


@pytest.mark.parametrize("name", [f"arn:aws:iam::{PRODUCER}:role/*", "arn:aws:iam::{}:role/deploy"])
def test_a_wildcard_names_no_role_and_the_first_deploy_role_is_there(kept, name):
    if "*" in name:
        with pytest.raises(ClientError, match="unsupported principal"):
            kept["secret"](_policy("secret", name))
    else:
        kept["secret"](_policy("secret", name.format(STRANGER)))


@pytest.mark.parametrize(
    "principal",
    [
        "*",
        {"Service": "sns.amazonaws.com"},
        f"arn:aws:sts::{CONSUMER}:assumed-role/nobody/run",
        "arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity E1",
    ],
)
def test_whoever_is_no_role_and_no_user_is_not_looked_for(kept, principal):
    kept["queue"](_policy("queue", principal))


def test_a_principal_that_is_excluded_must_exist(kept):
    statement = allow("sqs:*") | {"Effect": "Deny", "NotPrincipal": {"AWS": [_NOBODY]}}
    with pytest.raises(ClientError, match="InvalidAttributeValue"):
        kept["queue"](document(statement))


def test_other_attributes_and_broken_policies_are_left_to_the_service(kept, client):
    topic = client("sns").create_topic(Name=secrets.token_hex(4))["TopicArn"]
    for name, value in (("DisplayName", "300"), ("DisplayName", "[]"), ("DisplayName", "a")):
        client("sns").set_topic_attributes(TopicArn=topic, AttributeName=name, AttributeValue=value)
    with pytest.raises(ClientError, match="MalformedPolicy"):
        kept["role"]("no JSON")
