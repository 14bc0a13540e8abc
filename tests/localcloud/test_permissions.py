"""What a role may: allowed by its policies, refused in the words of each service without them."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from localcloud.errors import UndecidablePolicyError
from localcloud.identity.permissions import may
from tests.localcloud.policy_documents import allow, allow_role, document, keys_of, make_role, trust

PRODUCER, CONSUMER = "111111111111", "222222222222"


@pytest.fixture
def iam(client):
    return client("iam", account=CONSUMER)


@pytest.fixture
def role(iam):
    """A role of the consumer that may do nothing yet."""
    return make_role(iam, trust(CONSUMER))


@pytest.fixture
def acting(client, role):
    """Make clients that act as the role."""
    sts = client("sts", account=CONSUMER)
    keys = keys_of(sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])
    return lambda service: client(service, **keys)


def _code(error):
    answer = error.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


_KEY = {"id": {"S": "1"}}
_REGION = "arn:aws:{}:eu-central-1:222222222222:"
_TABLE = _REGION.format("dynamodb") + "table/"
_GLUE = _REGION.format("glue")

# service, operation, its parameters, the action and the resource that IAM judges
_CALLS = [
    ("dynamodb", "get_item", {"TableName": "t", "Key": _KEY}, "GetItem", _TABLE + "t"),
    (
        "dynamodb",
        "query",
        {"TableName": "t", "IndexName": "by-id", "KeyConditionExpression": "id = :i"},
        "Query",
        _TABLE + "t/index/by-id",
    ),
    (
        "dynamodb",
        "batch_write_item",
        {"RequestItems": {"b": [{"DeleteRequest": {"Key": _KEY}}]}},
        "BatchWriteItem",
        _TABLE + "b",
    ),
    (
        "dynamodb",
        "transact_write_items",
        {"TransactItems": [{"Delete": {"TableName": "d", "Key": _KEY}}]},
        "DeleteItem",
        _TABLE + "d",
    ),
    ("glue", "get_schema_version", {"SchemaVersionId": "0" * 36}, "GetSchemaVersion", "*"),
    (
        "glue",
        "get_schema_by_definition",
        {"SchemaId": {"RegistryName": "r", "SchemaName": "s"}, "SchemaDefinition": "{}"},
        "GetSchemaByDefinition",
        _GLUE + "registry/r",
    ),
    ("glue", "get_table", {"DatabaseName": "d", "Name": "t"}, "GetTable", _GLUE + "catalog"),
    ("glue", "get_database", {"Name": "d"}, "GetDatabase", _GLUE + "catalog"),
    (
        "glue",
        "list_schemas",
        {"RegistryId": {"RegistryArn": _GLUE + "registry/r"}},
        "ListSchemas",
        _GLUE + "registry/r",
    ),
    (
        "glue",
        "get_schema",
        {"SchemaId": {"SchemaArn": _GLUE + "schema/r/s"}},
        "GetSchema",
        _GLUE + "registry/r",
    ),
    ("s3", "get_object", {"Bucket": "b", "Key": "k"}, "GetObject", "arn:aws:s3:::b/k"),
    (
        "s3",
        "get_object",
        {"Bucket": "b", "Key": "k", "VersionId": "v"},
        "GetObjectVersion",
        "arn:aws:s3:::b/k",
    ),
    ("s3", "put_object", {"Bucket": "b", "Key": "k"}, "PutObject", "arn:aws:s3:::b/k"),
    (
        "dynamodbstreams",
        "describe_stream",
        {"StreamArn": _TABLE + "t/stream/2026-11-21T00:00:00.000"},
        "DescribeStream",
        _TABLE + "t/stream/2026-11-21T00:00:00.000",
    ),
    ("stepfunctions", "list_state_machines", {}, "ListStateMachines", None),
    ("resourcegroupstaggingapi", "get_tag_keys", {}, "GetTagKeys", None),
    ("s3", "head_bucket", {"Bucket": "b"}, "ListBucket", "arn:aws:s3:::b"),
    ("s3", "list_objects_v2", {"Bucket": "b"}, "ListBucket", "arn:aws:s3:::b"),
    ("s3", "list_buckets", {}, "ListAllMyBuckets", "*"),
    (
        "s3",
        "delete_objects",
        {"Bucket": "b", "Delete": {"Objects": [{"Key": "k"}]}},
        "DeleteObject",
        "arn:aws:s3:::b/k",
    ),
    (
        "secretsmanager",
        "get_secret_value",
        {"SecretId": "s"},
        "GetSecretValue",
        _REGION.format("secretsmanager") + "secret:s-??????",
    ),
    ("secretsmanager", "list_secrets", {}, "ListSecrets", None),
    (
        "kms",
        "encrypt",
        {"KeyId": "k", "Plaintext": b"x"},
        "Encrypt",
        _REGION.format("kms") + "key/k",
    ),
    ("kms", "decrypt", {"CiphertextBlob": b"nonsense"}, "Decrypt", None),
    ("sqs", "create_queue", {"QueueName": "q"}, "CreateQueue", _REGION.format("sqs") + "q"),
    (
        "sqs",
        "send_message_batch",
        {
            "QueueUrl": "http://localhost/222222222222/q",
            "Entries": [{"Id": "1", "MessageBody": "x"}],
        },
        "SendMessage",
        _REGION.format("sqs") + "q",
    ),
    (
        "sns",
        "publish",
        {"TopicArn": _REGION.format("sns") + "t", "Message": "x"},
        "Publish",
        _REGION.format("sns") + "t",
    ),
    (
        "lambda",
        "invoke",
        {"FunctionName": "f"},
        "InvokeFunction",
        _REGION.format("lambda") + "function:f",
    ),
    (
        "logs",
        "create_log_stream",
        {"logGroupName": "g", "logStreamName": "s"},
        "CreateLogStream",
        _REGION.format("logs") + "log-group:g:log-stream:s",
    ),
    ("cloudwatch", "list_metrics", {}, "ListMetrics", None),
    ("ec2", "describe_vpcs", {}, "DescribeVpcs", None),
]
_XML, _JSON = ("AccessDenied", 403), ("AccessDeniedException", 400)
_PREFIXES = {
    "dynamodbstreams": "dynamodb",
    "resourcegroupstaggingapi": "tag",
    "stepfunctions": "states",
}
_CODES = {
    "s3": _XML,
    "sqs": _XML,
    "ec2": _XML,
    "sns": ("AuthorizationError", 403),
    "lambda": ("AccessDeniedException", 403),
}


@pytest.mark.parametrize("call", _CALLS, ids=lambda call: f"{call[0]}-{call[1]}")
def test_a_call_needs_its_permission(iam, role, acting, call):
    service, operation, params, name, resource = call
    action = f"{_PREFIXES.get(service, service)}:{name}"
    do = getattr(acting(service), operation)
    if operation.startswith("head"):
        with pytest.raises(ClientError, match="403"):
            do(**params)
    else:
        on = f" on resource: {resource}" if resource else ""
        with pytest.raises(ClientError) as refused:
            do(**params)
        who = f"arn:aws:sts::222222222222:assumed-role/{role.rpartition('/')[2]}/run"
        assert refused.value.response["Error"]["Message"] == (
            f"User: {who} is not authorized to "
            f"perform: {action}{on} because no identity-based policy allows the {action} action"
        )
        assert _code(refused) == _CODES.get(service, _JSON)
    # With the permission it gets further: to an answer, or to an error of the service itself.
    allow_role(role, iam, allow(action))
    try:
        do(**params)
    except ClientError as error:
        assert "not authorized" not in str(error)


def test_every_table_of_a_batch_needs_the_permission(iam, role, acting):
    allow_role(role, iam, allow("dynamodb:*", _TABLE + "mine"))
    batch = {table: {"Keys": [_KEY]} for table in ("mine", "others")}
    with pytest.raises(ClientError, match=r"dynamodb:BatchGetItem on resource: .*table/others"):
        acting("dynamodb").batch_get_item(RequestItems=batch)


def test_a_copy_reads_its_source(iam, role, acting):
    allow_role(role, iam, allow("s3:PutObject"))
    with pytest.raises(ClientError, match="s3:GetObject on resource: arn:aws:s3:::from/key"):
        acting("s3").copy_object(Bucket="to", Key="key", CopySource="from/key")


def test_a_schema_needs_its_registry_and_itself(iam, role, acting):
    allow_role(role, iam, allow("glue:GetSchema", _GLUE + "registry/r"))
    schema = {"RegistryName": "r", "SchemaName": "s"}
    with pytest.raises(ClientError, match=r"glue:GetSchema on resource: .*:schema/r/s because"):
        acting("glue").get_schema(SchemaId=schema)


def test_an_explicit_deny_is_named(iam, role, acting):
    deny = {"Effect": "Deny", "Action": "sqs:*", "Resource": "*"}
    allow_role(role, iam, allow("*"), deny)
    with pytest.raises(ClientError, match="with an explicit deny in an identity-based policy"):
        acting("sqs").list_queues()


def test_managed_policies_count_and_a_boundary_limits(client, iam, acting, role):
    name = role.rpartition("/")[2]
    sqs = iam.create_policy(PolicyName=name, PolicyDocument=document(allow("sqs:*")))["Policy"]
    iam.attach_role_policy(RoleName=name, PolicyArn=sqs["Arn"])
    assert acting("sqs").list_queues()
    only_sns = iam.create_policy(PolicyName=f"{name}-2", PolicyDocument=document(allow("sns:*")))
    iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=only_sns["Policy"]["Arn"])
    with pytest.raises(ClientError, match="not authorized to perform: sqs:ListQueues"):
        acting("sqs").list_queues()


def test_a_session_policy_limits(client, iam, role):
    allow_role(role, iam, allow("*"))
    keys = client("sts", account=CONSUMER).assume_role(
        RoleArn=role, RoleSessionName="run", Policy=document(allow("sns:*"))
    )["Credentials"]
    assert client("sns", **keys_of(keys)).list_topics()
    with pytest.raises(ClientError, match="not authorized to perform: sqs:ListQueues"):
        client("sqs", **keys_of(keys)).list_queues()


def test_a_role_that_was_deleted_may_nothing(iam, acting, role):
    allow_role(role, iam, allow("*"))
    sqs = acting("sqs")
    iam.delete_role_policy(RoleName=role.rpartition("/")[2], PolicyName="inline")
    iam.delete_role(RoleName=role.rpartition("/")[2])
    with pytest.raises(ClientError, match="not authorized to perform: sqs:ListQueues"):
        sqs.list_queues()


def test_an_operator_that_nobody_knows_refuses_and_says_so(iam, acting, role):
    strange = {"BinaryEquals": {"aws:PrincipalAccount": "eA=="}}
    allow_role(role, iam, allow("sqs:*", Condition=strange))
    with pytest.raises(ClientError, match="not know the condition operator BinaryEquals: sqs:Lis"):
        acting("sqs").list_queues()
    with pytest.raises(UndecidablePolicyError):
        may(role, "sqs:ListQueues", "*")


def test_conditions_see_the_call(iam, acting, role):
    mine = {"StringEquals": {"cloudwatch:namespace": "mine"}}
    allow_role(role, iam, allow("cloudwatch:PutMetricData", Condition=mine))
    metric = [{"MetricName": "m", "Value": 1}]
    acting("cloudwatch").put_metric_data(Namespace="mine", MetricData=metric)
    with pytest.raises(ClientError, match="cloudwatch:PutMetricData"):
        acting("cloudwatch").put_metric_data(Namespace="other", MetricData=metric)


def test_may_decides_for_the_brokers(iam, role):
    topic = "arn:aws:kafka:eu-central-1:111111111111:topic/c/1/readings"
    allow_role(role, iam, allow("kafka-cluster:ReadData", topic))
    assert may(role, "kafka-cluster:ReadData", topic)
    assert not may(role, "kafka-cluster:WriteData", topic)
    assert not may(role, "kafka-cluster:ReadData", topic + "-2")
    assert may("arn:aws:iam::111111111111:role/deploy", "kafka-cluster:WriteData", topic)


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
    other = allow("kms:*", Principal={"AWS": "arn:aws:iam::111111111111:role/other"})
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


def test_a_bucket_is_shared_by_its_policy_and_its_key(client, iam, role, acting):
    s3, key = client("s3"), client("kms").create_key()["KeyMetadata"]["Arn"]
    bucket = "shared-by-its-policy"
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
    s3.put_object(Bucket=bucket, Key="k", Body=b"hello")
    allow_role(role, iam, allow("s3:*"))
    own_bucket = "with-a-key-by-name"
    client("s3", account=CONSUMER).create_bucket(
        Bucket=own_bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    with pytest.raises(ClientError, match="not authorized to perform: kms:GenerateDataKey"):
        acting("s3").put_object(
            Bucket=own_bucket, Key="k", ServerSideEncryption="aws:kms", SSEKMSKeyId="some-key"
        )
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
