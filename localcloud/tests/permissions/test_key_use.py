"""Policies that say what a key is for, and a bucket's policy: judged once, with the conditions."""

from __future__ import annotations

import json
import secrets

import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, document
from tests.account_ids import CONSUMER


@pytest.fixture
def key(client):
    return client("kms", account=CONSUMER).create_key()["KeyMetadata"]["Arn"]


@pytest.fixture
def make_bucket(client, key):
    """Make buckets that encrypt with the key, with a key of their own below it or without."""
    s3 = client("s3", account=CONSUMER)

    def make(*, bucket_key):
        name = f"b-{secrets.token_hex(4)}"
        place = {"LocationConstraint": "eu-central-1"}
        s3.create_bucket(Bucket=name, CreateBucketConfiguration=place)
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        rule = {"ApplyServerSideEncryptionByDefault": default, "BucketKeyEnabled": bucket_key}
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": [rule]})
        return name

    return make


def _use(action, name, value):
    condition = {"StringEquals": {f"kms:EncryptionContext:{name}": value}}
    return allow(action, f"arn:aws:kms:eu-central-1:{CONSUMER}:key/*", Condition=condition)


@pytest.mark.parametrize("end", ["", "/k"])
def test_a_key_may_be_allowed_for_one_bucket(iam, role, acting, make_bucket, end):
    bucket, other = (make_bucket(bucket_key=not end) for _ in range(2))
    use = _use("kms:GenerateDataKey", "aws:s3:arn", f"arn:aws:s3:::{bucket}{end}")
    allow_role(role, iam, allow("s3:PutObject"), use)
    acting("s3").put_object(Bucket=bucket, Key="k", Body=b"x")
    with pytest.raises(ClientError, match="not authorized to perform: kms:GenerateDataKey"):
        acting("s3").put_object(Bucket=other, Key="k", Body=b"x")


def test_a_key_may_be_allowed_for_one_secret(client, iam, role, acting, key):
    manager = client("secretsmanager", account=CONSUMER)
    made = [
        manager.create_secret(Name=secrets.token_hex(4), SecretString="pw", KmsKeyId=key)["ARN"]
        for _ in range(2)
    ]
    use = _use("kms:Decrypt", "SecretARN", made[0])
    allow_role(role, iam, allow("secretsmanager:GetSecretValue"), use)
    read = acting("secretsmanager").get_secret_value
    assert read(SecretId=made[0])["SecretString"] == "pw"
    with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
        read(SecretId=made[1])


def test_a_key_may_be_allowed_for_one_table(client, iam, role, acting, key):
    dynamodb, names = client("dynamodb", account=CONSUMER), []
    for _ in range(2):
        names.append(secrets.token_hex(4))
        dynamodb.create_table(
            TableName=names[-1],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
            SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key},
        )
    use = _use("kms:Decrypt", "aws:dynamodb:tableName", names[0])
    use["Condition"]["StringEquals"]["kms:ViaService"] = "dynamodb.eu-central-1.amazonaws.com"
    allow_role(role, iam, allow("dynamodb:*"), use)
    item = {"id": {"S": "1"}}
    acting("dynamodb").put_item(TableName=names[0], Item=item)
    assert acting("dynamodb").get_item(TableName=names[0], Key=item)["Item"] == item
    with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
        acting("dynamodb").put_item(TableName=names[1], Item=item)
    both = {name: [{"PutRequest": {"Item": item}}] for name in names}
    with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
        acting("dynamodb").batch_write_item(RequestItems=both)


def test_a_key_may_be_allowed_for_one_queue_and_one_topic(client, iam, role, acting, key):
    sqs, sns = client("sqs", account=CONSUMER), client("sns", account=CONSUMER)
    name, settings = secrets.token_hex(4), {"KmsMasterKeyId": key}
    url = sqs.create_queue(QueueName=name, Attributes=settings)["QueueUrl"]
    topic = sns.create_topic(Name=name, Attributes=settings)["TopicArn"]
    queue = f"arn:aws:sqs:eu-central-1:{CONSUMER}:{name}"
    messages = allow(["sqs:*", "sns:*"])

    generate = _use("kms:GenerateDataKey", "aws:sqs:arn", queue)
    allow_role(role, iam, messages, generate)
    with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
        acting("sqs").send_message(QueueUrl=url, MessageBody="x")
    allow_role(role, iam, messages, generate, _use("kms:Decrypt", "aws:sqs:arn", queue))
    acting("sqs").send_message(QueueUrl=url, MessageBody="x")
    assert acting("sqs").receive_message(QueueUrl=url)["Messages"][0]["Body"] == "x"

    with pytest.raises(ClientError, match="not authorized to perform: kms:GenerateDataKey"):
        acting("sns").publish(TopicArn=topic, Message="x")
    publish = _use(["kms:GenerateDataKey", "kms:Decrypt"], "aws:sns:topicArn", topic)
    allow_role(role, iam, messages, publish)
    acting("sns").publish(TopicArn=topic, Message="x")


def test_a_multipart_upload_decrypts_its_parts(iam, role, acting, make_bucket):
    bucket = make_bucket(bucket_key=True)
    generate = allow("kms:GenerateDataKey")
    allow_role(role, iam, allow("s3:PutObject"), generate)
    begin = acting("s3").create_multipart_upload
    with pytest.raises(ClientError, match="not authorized to perform: kms:Decrypt"):
        begin(Bucket=bucket, Key="k")
    allow_role(role, iam, allow("s3:PutObject"), generate, allow("kms:Decrypt"))
    assert begin(Bucket=bucket, Key="k")["UploadId"]


def test_a_bucket_that_refuses_plain_http_lets_its_users_in(client, make_bucket):
    bucket, s3 = make_bucket(bucket_key=True), client("s3", account=CONSUMER)
    over_http = {"Bool": {"aws:SecureTransport": "false"}}
    statement = {**allow("s3:*", Principal="*", Condition=over_http), "Effect": "Deny"}
    s3.put_bucket_policy(Bucket=bucket, Policy=document(statement))
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"
    gone = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "k"}]})
    assert [entry["Key"] for entry in gone["Deleted"]] == ["k"]


def test_a_bucket_may_be_public(client, make_bucket):
    bucket, s3 = make_bucket(bucket_key=True), client("s3", account=CONSUMER)
    s3.delete_bucket_encryption(Bucket=bucket)
    anybody = client("s3", config=Config(signature_version=UNSIGNED))
    s3.put_object(Bucket=bucket, Key="k", Body=b"x")
    with pytest.raises(ClientError, match="403"):
        anybody.get_object(Bucket=bucket, Key="k")
    everybody = allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*", Principal="*")
    s3.put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Statement": [everybody]}))
    assert anybody.get_object(Bucket=bucket, Key="k")["Body"].read() == b"x"


_WRITES = {
    "create_secret": ["kms:GenerateDataKey", "kms:Decrypt"],
    "put_secret_value": ["kms:GenerateDataKey"],
    "update_secret": ["kms:GenerateDataKey", "kms:Encrypt", "kms:Decrypt"],
}


def test_writing_a_secret_uses_its_key(client, iam, role, acting, key):
    there = {"Name": secrets.token_hex(4), "SecretString": "pw", "KmsKeyId": key}
    client("secretsmanager", account=CONSUMER).create_secret(**there)
    other = there | {"Name": secrets.token_hex(4)}

    for operation, actions in _WRITES.items():
        write = getattr(acting("secretsmanager"), operation)
        creates = operation == "create_secret"
        request = other if creates else {"SecretId": there["Name"], "SecretString": "pw"}
        for number, action in enumerate(actions):
            uses = allow(["kms:DescribeKey", *actions[:number]], key)
            allow_role(role, iam, allow("secretsmanager:*"), uses)
            with pytest.raises(ClientError, match=f"{action} on resource: {key}"):
                write(**request)
        allow_role(role, iam, allow("secretsmanager:*"), allow(actions, key))
        write(**request)
