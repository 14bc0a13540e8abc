"""What another account may use: both sides have to say so, each in a policy of its own."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, document, keys_of, make_role, trust
from tests.account_ids import CONSUMER, PRODUCER


@pytest.fixture
def shared(client):
    """What the producer has, one of each kind that can be shared: ARN or name, and how to."""
    kms, secrets = client("kms"), client("secretsmanager")
    key = kms.create_key()["KeyMetadata"]["Arn"]
    secret = secrets.create_secret(Name="AmazonMSK_shared", SecretString="pw", KmsKeyId=key)
    yield {"key": key, "secret": secret["ARN"]}
    secrets.delete_secret(SecretId=secret["ARN"], ForceDeleteWithoutRecovery=True)


def _share(client, shared, principal):
    statement = {"Effect": "Allow", "Principal": {"AWS": principal}, "Resource": "*"}
    own = {
        "Effect": "Allow",
        "Principal": {"AWS": PRODUCER},
        "Action": "kms:*",
        "Resource": "*",
    }
    client("secretsmanager").put_resource_policy(
        SecretId=shared["secret"],
        ResourcePolicy=document({**statement, "Action": "secretsmanager:GetSecretValue"}),
    )
    client("kms").put_key_policy(
        KeyId=shared["key"],
        PolicyName="default",
        Policy=document(own, {**statement, "Action": "kms:Decrypt"}),
    )


def test_a_secret_of_another_account_needs_all_four_permissions(client, iam, role, acting, shared):
    read = acting("secretsmanager").get_secret_value
    use_secret = allow("secretsmanager:GetSecretValue", shared["secret"])
    with pytest.raises(ClientError, match="no identity-based policy allows the secretsman"):
        read(SecretId=shared["secret"])
    allow_role(role, iam, use_secret)
    with pytest.raises(ClientError, match="no resource-based policy allows the secretsman"):
        read(SecretId=shared["secret"])
    _share(client, shared, CONSUMER)
    with pytest.raises(ClientError, match="no identity-based policy allows the kms:Decrypt"):
        read(SecretId=shared["secret"])
    allow_role(role, iam, use_secret, allow("kms:Decrypt", shared["key"]))
    assert read(SecretId=shared["secret"])["SecretString"] == "pw"
    client("kms").put_key_policy(
        KeyId=shared["key"],
        PolicyName="default",
        Policy=document(allow("kms:*", Principal={"AWS": PRODUCER})),
    )
    with pytest.raises(ClientError, match="no resource-based policy allows the kms:Decrypt"):
        read(SecretId=shared["secret"])


def test_an_account_without_a_role_needs_the_resources_policy_too(client, shared):
    read = client("secretsmanager", account=CONSUMER).get_secret_value
    with pytest.raises(ClientError, match="no resource-based policy allows the secretsmanager:G"):
        read(SecretId=shared["secret"])
    _share(client, shared, CONSUMER)
    assert read(SecretId=shared["secret"])["SecretString"] == "pw"


def test_a_key_policy_decides_inside_its_account_too(client):
    iam, kms = client("iam"), client("kms")
    role = make_role(iam, trust(PRODUCER), allow("kms:*"))
    keys = keys_of(client("sts").assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])
    key = kms.create_key()["KeyMetadata"]["Arn"]
    sealed = client("kms", **keys).encrypt(KeyId=key, Plaintext=b"x")["CiphertextBlob"]
    assert client("kms", **keys).decrypt(CiphertextBlob=sealed)["Plaintext"] == b"x"
    other = allow("kms:*", Principal={"AWS": make_role(iam, trust(PRODUCER))})
    kms.put_key_policy(KeyId=key, PolicyName="default", Policy=document(other))
    with pytest.raises(ClientError, match="no resource-based policy allows the kms:Decrypt"):
        client("kms", **keys).decrypt(CiphertextBlob=sealed)


def test_a_queue_and_a_topic_are_shared_by_their_policies(client, iam, role, acting):
    allow_role(role, iam, allow("sqs:*"), allow("sns:*"))
    sqs, sns = client("sqs"), client("sns")
    url = sqs.create_queue(QueueName="shared")["QueueUrl"]
    topic = sns.create_topic(Name="shared")["TopicArn"]
    send, publish = acting("sqs").send_message, acting("sns").publish
    with pytest.raises(ClientError, match="no resource-based policy allows the sqs:SendMessage"):
        send(QueueUrl=url, MessageBody="x")
    with pytest.raises(ClientError, match="no resource-based policy allows the sns:Publish"):
        publish(TopicArn=topic, Message="x")
    by = {"Principal": {"AWS": role}}
    sqs.set_queue_attributes(
        QueueUrl=url, Attributes={"Policy": document(allow("sqs:SendMessage", **by))}
    )
    sns.set_topic_attributes(
        TopicArn=topic,
        AttributeName="Policy",
        AttributeValue=document(allow("sns:Publish", **by)),
    )
    send(QueueUrl=url, MessageBody="hello")
    assert publish(TopicArn=topic, Message="x")["MessageId"]
    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "hello"


def _make_encrypted_bucket(s3, bucket, key):
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    s3.put_bucket_encryption(
        Bucket=bucket,
        ServerSideEncryptionConfiguration={
            "Rules": [
                {
                    "ApplyServerSideEncryptionByDefault": {
                        "SSEAlgorithm": "aws:kms",
                        "KMSMasterKeyID": key,
                    }
                }
            ]
        },
    )


def test_a_key_by_name_needs_its_permission(client, iam, role, acting):
    allow_role(role, iam, allow("s3:*"))
    own_bucket = "with-a-key-by-name"
    client("s3", account=CONSUMER).create_bucket(
        Bucket=own_bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    with pytest.raises(ClientError, match="not authorized to perform: kms:GenerateDataKey"):
        acting("s3").put_object(
            Bucket=own_bucket, Key="k", ServerSideEncryption="aws:kms", SSEKMSKeyId="some-key"
        )


def test_a_bucket_is_shared_by_its_policy_and_its_key(client, iam, role, acting):
    s3, key = client("s3"), client("kms").create_key()["KeyMetadata"]["Arn"]
    bucket = "shared-by-its-policy"
    _make_encrypted_bucket(s3, bucket, key)
    s3.put_object(Bucket=bucket, Key="k", Body=b"hello")
    allow_role(role, iam, allow("s3:*"))
    read = acting("s3").get_object
    with pytest.raises(ClientError, match="no resource-based policy allows the s3:GetObject"):
        read(Bucket=bucket, Key="k")
    policy = json.loads(document(allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*")))
    policy["Statement"][0]["Principal"] = {"AWS": CONSUMER}
    s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps(policy))
    with pytest.raises(ClientError, match="no identity-based policy allows the kms:Decrypt"):
        read(Bucket=bucket, Key="k")
    allow_role(role, iam, allow("s3:*"), allow("kms:Decrypt", key))
    with pytest.raises(ClientError, match="no resource-based policy allows the kms:Decrypt"):
        read(Bucket=bucket, Key="k")
    client("kms").put_key_policy(
        KeyId=key,
        PolicyName="default",
        Policy=document(allow("kms:Decrypt", Principal={"AWS": CONSUMER})),
    )
    assert read(Bucket=bucket, Key="k")["Body"].read() == b"hello"
