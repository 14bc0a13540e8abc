"""Data under AWS's own keys: open to its account by the service alone, and to nobody else."""

from __future__ import annotations

import json
import secrets

import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, document, keys_of, make_role, trust
from tests.account_ids import CONSUMER, PRODUCER

_OWN = f"arn:aws:kms:eu-central-1:{PRODUCER}:alias/aws/"


@pytest.fixture
def both(client, iam, role, acting):
    """Clients of a role of the owner and of one of another account, which both may do all but KMS.

    As two functions, by the service.
    """
    everything = allow(["s3:*", "secretsmanager:*", "sns:*", "sqs:*"])
    allow_role(role, iam, everything)
    own = make_role(client("iam"), trust(PRODUCER), everything)
    taken = client("sts").assume_role(RoleArn=own, RoleSessionName="run")["Credentials"]
    return (lambda service: client(service, **keys_of(taken))), acting


def _refuses(service):
    return pytest.raises(ClientError, match=f"perform: kms:.* on resource: {_OWN}{service}")


def _make_bucket(s3, **default):
    name = f"b-{secrets.token_hex(4)}"
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    if default:
        rule = {"ApplyServerSideEncryptionByDefault": default}
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
    share = allow("s3:*", [f"arn:aws:s3:::{name}/*", f"arn:aws:s3:::{name}"], Principal="*")
    s3.put_bucket_policy(Bucket=name, Policy=document(share))
    return name


@pytest.mark.parametrize("key", [{}, {"KMSMasterKeyID": "alias/aws/s3"}], ids=["no key", "alias"])
def test_a_bucket_with_s3s_own_key_is_closed_to_other_accounts(client, both, key):
    own, other = both
    bucket = _make_bucket(client("s3"), SSEAlgorithm="aws:kms", **key)
    own("s3").put_object(Bucket=bucket, Key="k", Body=b"x")
    assert own("s3").get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"
    with _refuses("s3"):
        other("s3").get_object(Bucket=bucket, Key="k")
    with _refuses("s3"):
        other("s3").put_object(Bucket=bucket, Key="k", Body=b"x")
    mine = _make_bucket(client("s3", account=CONSUMER))
    with _refuses("s3"):
        other("s3").copy_object(Bucket=mine, Key="k", CopySource=f"{bucket}/k")


def test_an_object_is_encrypted_as_it_was_written(client, both):
    own, other = both
    bucket = _make_bucket(client("s3"))
    own("s3").put_object(Bucket=bucket, Key="kms", Body=b"x", ServerSideEncryption="aws:kms")
    own("s3").put_object(Bucket=bucket, Key="plain", Body=b"x")
    with _refuses("s3"):
        other("s3").get_object(Bucket=bucket, Key="kms")
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
    client("s3").put_bucket_encryption(
        Bucket=bucket, ServerSideEncryptionConfiguration={"Rules": [rule]}
    )
    assert other("s3").get_object(Bucket=bucket, Key="plain")["Body"].read() == b"x"
    other("s3").put_object(Bucket=bucket, Key="aes", Body=b"x", ServerSideEncryption="AES256")


def test_an_object_under_a_key_is_not_public(client, both):
    bucket = _make_bucket(client("s3"))
    anybody = client("s3", config=Config(signature_version=UNSIGNED))
    client("s3").put_object(Bucket=bucket, Key="k", Body=b"x", ServerSideEncryption="aws:kms")
    with pytest.raises(ClientError, match="403"):
        anybody.get_object(Bucket=bucket, Key="k")


@pytest.mark.parametrize("key", [{}, {"KmsKeyId": "alias/aws/secretsmanager"}])
def test_a_secret_without_a_key_of_its_own_is_closed_to_other_accounts(client, both, key):
    own, other = both
    made = client("secretsmanager").create_secret(
        Name=secrets.token_hex(4), SecretString="pw", **key
    )["ARN"]
    share = allow("secretsmanager:*", Principal={"AWS": CONSUMER})
    client("secretsmanager").put_resource_policy(SecretId=made, ResourcePolicy=document(share))
    assert own("secretsmanager").get_secret_value(SecretId=made)["SecretString"] == "pw"
    with _refuses("secretsmanager"):
        other("secretsmanager").get_secret_value(SecretId=made)
    with _refuses("secretsmanager"):
        other("secretsmanager").put_secret_value(SecretId=made, SecretString="other")


def _share_queue_and_topic(client, **settings):
    name, sqs, sns = secrets.token_hex(4), client("sqs"), client("sns")
    keys = {"KmsMasterKeyId": settings["sqs"]} if settings else {}
    share = document(allow("sqs:*", Principal="*"))
    url = sqs.create_queue(QueueName=name, Attributes=keys | {"Policy": share})["QueueUrl"]
    keys = {"KmsMasterKeyId": settings["sns"]} if settings else {}
    share = document(allow("sns:Publish", Principal="*"))
    topic = sns.create_topic(Name=name, Attributes=keys | {"Policy": share})["TopicArn"]
    return url, topic


@pytest.mark.parametrize("start", ["", f"arn:aws:kms:eu-central-1:{PRODUCER}:"])
def test_a_queue_and_a_topic_under_an_alias_of_aws_are_closed_to_other_accounts(
    client, both, start
):
    own, other = both
    keys = {service: f"{start}alias/aws/{service}" for service in ("sqs", "sns")}
    url, topic = _share_queue_and_topic(client, **keys)
    own("sqs").send_message(QueueUrl=url, MessageBody="x")
    own("sns").publish(TopicArn=topic, Message="x")
    with _refuses("sqs"):
        other("sqs").send_message(QueueUrl=url, MessageBody="x")
    with _refuses("sqs"):
        other("sqs").receive_message(QueueUrl=url)
    with _refuses("sns"):
        other("sns").publish(TopicArn=topic, Message="x")


def test_a_queue_and_a_topic_without_a_key_stay_open(client, both):
    _, other = both
    url, topic = _share_queue_and_topic(client)
    other("sqs").send_message(QueueUrl=url, MessageBody="x")
    other("sns").publish(TopicArn=topic, Message="x")


def test_a_deny_counts_for_aws_s_own_keys_too(client):
    iam = client("iam")
    deny = {"Effect": "Deny", "Action": "kms:*", "Resource": "*"}
    role = make_role(iam, trust(PRODUCER), allow("sns:*"), deny)
    taken = client("sts").assume_role(RoleArn=role, RoleSessionName="run")["Credentials"]
    topic = client("sns").create_topic(
        Name=secrets.token_hex(4), Attributes={"KmsMasterKeyId": "alias/aws/sns"}
    )["TopicArn"]
    with pytest.raises(ClientError, match="explicit deny"):
        client("sns", **keys_of(taken)).publish(TopicArn=topic, Message="x")


def test_a_buckets_notices_do_not_go_to_queues_under_an_alias_of_aws(client):
    bucket = _make_bucket(client("s3"))
    keys = {"sqs": "alias/aws/sqs", "sns": "alias/aws/sns"}
    _, topic = _share_queue_and_topic(client, **keys)
    queue = topic.replace(":sns:", ":sqs:")
    for kind, target in (("Queue", {"QueueArn": queue}), ("Topic", {"TopicArn": topic})):
        asked = {f"{kind}Configurations": [{**target, "Events": ["s3:ObjectCreated:*"]}]}
        with pytest.raises(ClientError, match=f"the policy of {_OWN}.* does not allow s3.amaz"):
            client("s3").put_bucket_notification_configuration(
                Bucket=bucket, NotificationConfiguration=asked
            )


def test_a_condition_may_name_the_account_that_calls(client, iam, role, acting):
    name = f"a-{secrets.token_hex(4)}"
    mine = {"StringEquals": {"kms:CallerAccount": CONSUMER}}
    policy = document(allow("kms:*", Principal="*", Condition=mine))
    key = client("kms").create_key(Policy=policy, BypassPolicyLockoutSafetyCheck=True)
    queue = client("sqs").create_queue(
        QueueName=name,
        Attributes={
            "KmsMasterKeyId": key["KeyMetadata"]["Arn"],
            "Policy": document(allow("sqs:*", Principal="*")),
        },
    )["QueueUrl"]
    allow_role(role, iam, allow(["sqs:*", "kms:*"]))
    acting("sqs").send_message(QueueUrl=queue, MessageBody=json.dumps({}))
    with pytest.raises(ClientError, match="no resource-based policy allows the kms:"):
        client("sqs").send_message(QueueUrl=queue, MessageBody="x")
