"""A key that is disabled, waits for its deletion, is missing or signs: nothing goes by it."""

from __future__ import annotations

import secrets

import pytest
from botocore.exceptions import ClientError

from tests.account_ids import CONSUMER, PRODUCER

_ITEM = {"id": {"S": "1"}}
_WHERE = {"LocationConstraint": "eu-central-1"}


@pytest.fixture
def made(client, key):
    """A bucket, an object, a secret, a table, a queue and a topic that the key encrypts."""
    name = f"a-{secrets.token_hex(4)}"
    s3 = client("s3")
    s3.create_bucket(Bucket=name, CreateBucketConfiguration=_WHERE)
    rule = {
        "ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    }
    s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    client("secretsmanager").create_secret(Name=name, SecretString="pw", KmsKeyId=key)
    client("dynamodb").create_table(TableName=name, **_table(key))
    settings = {"KmsMasterKeyId": key}
    queue = client("sqs").create_queue(QueueName=name, Attributes=settings)["QueueUrl"]
    topic = client("sns").create_topic(Name=name, Attributes=settings)["TopicArn"]
    client("ssm").put_parameter(Name=name, Value="v", Type="SecureString", KeyId=key)
    return {"name": name, "queue": queue, "topic": topic}


@pytest.fixture
def key(client):
    return client("kms").create_key()["KeyMetadata"]["Arn"]


def _table(key):
    return {
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key},
    }


# service, operation, its parameters, and the codes for a disabled key and for one that is deleted
_USES = [
    ("s3", "get_object", {"Bucket": "name", "Key": "k"}, "KMS.{}", "KMS.{}"),
    ("s3", "put_object", {"Bucket": "name", "Key": "k"}, "KMS.{}", "KMS.{}"),
    ("secretsmanager", "get_secret_value", {"SecretId": "name"}, *["DecryptionFailure"] * 2),
    (
        "secretsmanager",
        "put_secret_value",
        {"SecretId": "name", "SecretString": "other"},
        *["EncryptionFailure"] * 2,
    ),
    ("dynamodb", "put_item", {"TableName": "name", "Item": _ITEM}, *["ValidationException"] * 2),
    ("dynamodb", "get_item", {"TableName": "name", "Key": _ITEM}, *["ValidationException"] * 2),
    (
        "sqs",
        "send_message",
        {"QueueUrl": "queue", "MessageBody": "x"},
        "KMS.DisabledException",
        "KMS.InvalidStateException",
    ),
    (
        "sqs",
        "receive_message",
        {"QueueUrl": "queue"},
        "KMS.DisabledException",
        "KMS.InvalidStateException",
    ),
    ("sns", "publish", {"TopicArn": "topic", "Message": "x"}, "KMSDisabled", "KMSInvalidState"),
    ("ssm", "get_parameter", {"Name": "name", "WithDecryption": True}, *["InvalidKeyId"] * 2),
    ("kms", "encrypt", {"KeyId": "key", "Plaintext": b"x"}, "{}", "{}"),
    ("kms", "generate_data_key", {"KeyId": "key", "KeySpec": "AES_256"}, "{}", "{}"),
]


@pytest.mark.parametrize("use", _USES, ids=lambda use: f"{use[0]}-{use[1]}")
def test_a_key_that_does_not_work_encrypts_and_decrypts_nothing(client, made, key, use):
    service, operation, asked, disabled, deleted = use
    named = made | {"key": key}
    asked = {name: named.get(str(value), value) for name, value in asked.items()}
    call = getattr(client(service), operation)
    call(**asked)
    client("kms").disable_key(KeyId=key.rpartition("/")[2])
    with pytest.raises(ClientError, match=f"{key} is disabled") as refused:
        call(**asked)
    assert _code(refused) == disabled.format("DisabledException")
    client("kms").schedule_key_deletion(KeyId=key.rpartition("/")[2])
    with pytest.raises(ClientError, match=f"{key} is pending deletion") as refused:
        call(**asked)
    assert _code(refused) == deleted.format("KMSInvalidStateException")
    client("kms").cancel_key_deletion(KeyId=key.rpartition("/")[2])
    client("kms").enable_key(KeyId=key.rpartition("/")[2])
    call(**asked)


_NO_KEY = f"arn:aws:kms:eu-central-1:{PRODUCER}:key/00000000-0000-4000-8000-000000000000"


def test_a_key_that_does_not_exist_encrypts_nothing(client, made):
    name, sealed = made["name"], {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": _NO_KEY}
    calls = {
        "KMS.NotFoundException": lambda: client("s3").put_object(Bucket=name, Key="a", **sealed),
        "EncryptionFailure": lambda: client("secretsmanager").create_secret(
            Name=f"{name}-2", SecretString="pw", KmsKeyId=_NO_KEY
        ),
        "ValidationException": lambda: client("dynamodb").create_table(
            TableName=f"{name}-2", **_table(_NO_KEY)
        ),
    }
    for code, call in calls.items():
        with pytest.raises(ClientError, match=f"Key '{_NO_KEY}' does not exist") as refused:
            call()
        assert _code(refused) == code


def test_a_key_that_signs_encrypts_nothing(client, made):
    signs = client("kms").create_key(KeyUsage="SIGN_VERIFY", KeySpec="ECC_NIST_P256")
    arn = signs["KeyMetadata"]["Arn"]
    with pytest.raises(ClientError, match="SIGN_VERIFY which is not valid for GenerateDataKey"):
        client("s3").put_object(
            Bucket=made["name"], Key="a", ServerSideEncryption="aws:kms", SSEKMSKeyId=arn
        )
    client("kms").sign(KeyId=arn, Message=b"x", SigningAlgorithm="ECDSA_SHA_256")


def test_a_caller_without_the_permission_is_not_told_of_the_key(client, made, acting, key):
    client("kms").disable_key(KeyId=key.rpartition("/")[2])
    with pytest.raises(ClientError, match="AccessDenied"):
        acting("s3").get_object(Bucket=made["name"], Key="k")


def test_the_keys_metadata_and_the_rest_of_the_data_stay_readable(client, made, key):
    client("kms").disable_key(KeyId=key.rpartition("/")[2])
    assert client("kms").describe_key(KeyId=key)["KeyMetadata"]["KeyState"] == "Disabled"
    assert client("secretsmanager").describe_secret(SecretId=made["name"])["KmsKeyId"] == key
    client("s3").delete_object(Bucket=made["name"], Key="k")
    client("s3", account=CONSUMER).list_buckets()


def _code(refused):
    return refused.value.response["Error"]["Code"]
