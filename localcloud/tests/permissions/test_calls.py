"""Which permission each call needs, and in which words each service refuses without it."""

from __future__ import annotations

import re

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, keys_of, trust
from tests.account_ids import CONSUMER


def _code(error):
    answer = error.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


_KEY = {"id": {"S": "1"}}
_REGION = "arn:aws:{}:eu-central-1:222222222222:"
_TABLE = _REGION.format("dynamodb") + "table/"
_GLUE = _REGION.format("glue")
_ALARM = _REGION.format("cloudwatch") + "alarm:"
_ELB = _REGION.format("elasticloadbalancing")
_IAM = "arn:aws:iam::222222222222:"

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
        "s3",
        "delete_objects",
        {"Bucket": "b", "Delete": {"Objects": [{"Key": "k", "VersionId": "v"}]}},
        "DeleteObjectVersion",
        "arn:aws:s3:::b/k",
    ),
    (
        "s3",
        "delete_object",
        {"Bucket": "b", "Key": "k", "VersionId": "v"},
        "DeleteObjectVersion",
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
    ("cloudwatch", "list_metrics", {}, "ListMetrics", "*"),
    ("cloudwatch", "delete_alarms", {"AlarmNames": ["a", "b"]}, "DeleteAlarms", _ALARM + "a"),
    ("cloudwatch", "describe_alarms", {}, "DescribeAlarms", _ALARM + "*"),
    (
        "cloudwatch",
        "get_dashboard",
        {"DashboardName": "d"},
        "GetDashboard",
        "arn:aws:cloudwatch::222222222222:dashboard/d",
    ),
    ("events", "list_rules", {}, "ListRules", "*"),
    ("events", "describe_rule", {"Name": "r"}, "DescribeRule", _REGION.format("events") + "rule/r"),
    (
        "events",
        "list_targets_by_rule",
        {"Rule": "r", "EventBusName": "b"},
        "ListTargetsByRule",
        _REGION.format("events") + "rule/b/r",
    ),
    (
        "events",
        "put_events",
        {"Entries": [{"Source": "s", "DetailType": "d", "Detail": "{}"}]},
        "PutEvents",
        _REGION.format("events") + "event-bus/default",
    ),
    ("iam", "list_roles", {}, "ListRoles", "*"),
    ("iam", "get_role", {"RoleName": "r"}, "GetRole", _IAM + "role/r"),
    (
        "iam",
        "add_role_to_instance_profile",
        {"InstanceProfileName": "p", "RoleName": "r"},
        "AddRoleToInstanceProfile",
        _IAM + "instance-profile/p",
    ),
    (
        "iam",
        "create_role",
        {"RoleName": "r", "Path": "/a/", "AssumeRolePolicyDocument": "{}"},
        "CreateRole",
        _IAM + "role/a/r",
    ),
    (
        "iam",
        "create_policy",
        {"PolicyName": "p", "PolicyDocument": "{}"},
        "CreatePolicy",
        _IAM + "policy/p",
    ),
    ("iam", "create_user", {"UserName": "u"}, "CreateUser", _IAM + "user/u"),
    ("iam", "create_group", {"GroupName": "g"}, "CreateGroup", _IAM + "group/g"),
    ("iam", "get_policy", {"PolicyArn": _IAM + "policy/p"}, "GetPolicy", _IAM + "policy/p"),
    (
        "iam",
        "create_service_linked_role",
        {"AWSServiceName": "kafka.amazonaws.com"},
        "CreateServiceLinkedRole",
        _IAM + "role/aws-service-role/kafka.amazonaws.com/*",
    ),
    ("elbv2", "describe_load_balancers", {}, "DescribeLoadBalancers", "*"),
    (
        "elbv2",
        "create_target_group",
        {"Name": "g"},
        "CreateTargetGroup",
        _ELB + "targetgroup/g/*",
    ),
    (
        "elbv2",
        "create_load_balancer",
        {"Name": "l", "Type": "network", "Subnets": ["subnet-1"]},
        "CreateLoadBalancer",
        _ELB + "loadbalancer/net/l/*",
    ),
    (
        "elbv2",
        "add_tags",
        {"ResourceArns": [_ELB + "targetgroup/g/1"], "Tags": [{"Key": "k"}]},
        "AddTags",
        _ELB + "targetgroup/g/1",
    ),
    (
        "elbv2",
        "modify_listener",
        {"ListenerArn": _ELB + "listener/net/l/1/2"},
        "ModifyListener",
        _ELB + "listener/net/l/1/2",
    ),
    (
        "application-autoscaling",
        "describe_scalable_targets",
        {"ServiceNamespace": "kafka"},
        "DescribeScalableTargets",
        "*",
    ),
    (
        "application-autoscaling",
        "deregister_scalable_target",
        {
            "ServiceNamespace": "kafka",
            "ResourceId": "c",
            "ScalableDimension": "kafka:broker-storage:VolumeSize",
        },
        "DeregisterScalableTarget",
        _REGION.format("application-autoscaling") + "scalable-target/*",
    ),
    ("ec2", "describe_vpcs", {}, "DescribeVpcs", "*"),
    (
        "ec2",
        "delete_security_group",
        {"GroupId": "sg-1"},
        "DeleteSecurityGroup",
        _REGION.format("ec2") + "security-group/sg-1",
    ),
    (
        "ec2",
        "accept_vpc_endpoint_connections",
        {"ServiceId": "vpce-svc-1", "VpcEndpointIds": ["vpce-1"]},
        "AcceptVpcEndpointConnections",
        _REGION.format("ec2") + "vpc-endpoint-service/vpce-svc-1",
    ),
    (
        "s3",
        "get_bucket_encryption",
        {"Bucket": "b"},
        "GetEncryptionConfiguration",
        "arn:aws:s3:::b",
    ),
    (
        "s3",
        "delete_bucket_lifecycle",
        {"Bucket": "b"},
        "PutLifecycleConfiguration",
        "arn:aws:s3:::b",
    ),
    (
        "kafka",
        "describe_cluster",
        {"ClusterArn": _REGION.format("kafka") + "cluster/c/1"},
        "DescribeCluster",
        _REGION.format("kafka") + "cluster/c/1",
    ),
    (
        "emr-serverless",
        "start_job_run",
        {"applicationId": "1", "executionRoleArn": "arn:aws:iam::222222222222:role/r"},
        "StartJobRun",
        _REGION.format("emr-serverless") + "/applications/1",
    ),
    (
        "emr-serverless",
        "get_job_run",
        {"applicationId": "1", "jobRunId": "2"},
        "GetJobRun",
        _REGION.format("emr-serverless") + "/applications/1/jobruns/2",
    ),
    (
        "athena",
        "start_query_execution",
        {"QueryString": "SELECT 1"},
        "StartQueryExecution",
        _REGION.format("athena") + "workgroup/primary",
    ),
    (
        "athena",
        "get_query_execution",
        {"QueryExecutionId": "1"},
        "GetQueryExecution",
        "*",
    ),
    (
        "ssm",
        "get_parameter",
        {"Name": "/a/b:2"},
        "GetParameter",
        _REGION.format("ssm") + "parameter/a/b",
    ),
    (
        "ssm",
        "get_parameters",
        {"Names": ["plain"]},
        "GetParameters",
        _REGION.format("ssm") + "parameter/plain",
    ),
    (
        "ssm",
        "get_parameters_by_path",
        {"Path": "/a"},
        "GetParametersByPath",
        _REGION.format("ssm") + "parameter/a",
    ),
    ("ssm", "describe_parameters", {}, "DescribeParameters", None),
    (
        "lambda",
        "delete_event_source_mapping",
        {"UUID": "0" * 36},
        "DeleteEventSourceMapping",
        _REGION.format("lambda") + "event-source-mapping:" + "0" * 36,
    ),
    (
        "lambda",
        "create_event_source_mapping",
        {"FunctionName": "f"},
        "CreateEventSourceMapping",
        "*",
    ),
]
_XML, _JSON = ("AccessDenied", 403), ("AccessDeniedException", 400)
_PREFIXES = {
    "dynamodbstreams": "dynamodb",
    "elbv2": "elasticloadbalancing",
    "resourcegroupstaggingapi": "tag",
    "stepfunctions": "states",
}
_CODES = {
    "elbv2": _XML,
    "iam": _XML,
    "s3": _XML,
    "sqs": _XML,
    "ec2": _XML,
    "sns": ("AuthorizationError", 403),
    "lambda": ("AccessDeniedException", 403),
    "kafka": ("AccessDeniedException", 403),
    "emr-serverless": ("AccessDeniedException", 403),
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
        assert f"not authorized to perform: {action} " not in f"{error} "


def test_every_table_of_a_batch_needs_the_permission(iam, role, acting):
    allow_role(role, iam, allow("dynamodb:*", _TABLE + "mine"))
    batch = {table: {"Keys": [_KEY]} for table in ("mine", "others")}
    with pytest.raises(ClientError, match=r"dynamodb:BatchGetItem on resource: .*table/others"):
        acting("dynamodb").batch_get_item(RequestItems=batch)


def test_a_role_is_judged_with_its_path(iam, role, acting):
    iam.create_role(RoleName="apart", Path="/team/", AssumeRolePolicyDocument=trust(CONSUMER))
    allow_role(role, iam, allow("iam:GetRole", f"{_IAM}role/apart"))

    with pytest.raises(ClientError, match=f"iam:GetRole on resource: {_IAM}role/team/apart "):
        acting("iam").get_role(RoleName="apart")

    allow_role(role, iam, allow("iam:GetRole", f"{_IAM}role/team/*"))
    assert acting("iam").get_role(RoleName="apart")["Role"]["Path"] == "/team/"


_TAGS = [{"Key": "k", "Value": "v"}]


@pytest.mark.parametrize(
    ("service", "operation", "params", "action", "needed"),
    [
        ("elbv2", "create_target_group", {"Name": "g", "Tags": _TAGS},
         "elasticloadbalancing:CreateTargetGroup", "elasticloadbalancing:AddTags"),
        ("elbv2", "create_listener",
         {"LoadBalancerArn": _ELB + "loadbalancer/net/l/1", "DefaultActions": [], "Tags": _TAGS},
         "elasticloadbalancing:CreateListener",
         f"elasticloadbalancing:AddTags on resource: {_ELB}listener/net/l/1/*"),
        ("events", "put_rule", {"Name": "r", "EventPattern": "{}", "Tags": _TAGS},
         "events:PutRule", "events:TagResource"),
        ("cloudwatch", "put_metric_alarm",
         {"AlarmName": "a", "EvaluationPeriods": 1, "ComparisonOperator": "LessThanThreshold",
          "Tags": _TAGS},
         "cloudwatch:PutMetricAlarm", f"cloudwatch:TagResource on resource: {_ALARM}a"),
    ],
)  # fmt: skip
def test_what_is_made_with_tags_needs_the_permission_to_tag(  # noqa: PLR0913, PLR0917 - a table
    iam, role, acting, service, operation, params, action, needed
):
    allow_role(role, iam, allow(action))
    with pytest.raises(ClientError, match=re.escape(f"not authorized to perform: {needed}")):
        getattr(acting(service), operation)(**params)


def test_a_copy_reads_its_source(iam, role, acting):
    allow_role(role, iam, allow("s3:PutObject"))
    with pytest.raises(ClientError, match="s3:GetObject on resource: arn:aws:s3:::from/key"):
        acting("s3").copy_object(Bucket="to", Key="key", CopySource="from/key")


@pytest.mark.parametrize("read", ["get_object", "head_object"])
def test_who_may_not_list_a_bucket_is_not_told_that_an_object_is_missing(iam, role, client, read):
    s3, bucket = client("s3", account=CONSUMER), read.replace("_", "-")
    region = {"LocationConstraint": "eu-central-1"}
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=region)
    s3.put_object(Bucket=bucket, Key="logs/there", Body=b"1")
    sts = client("sts", account=CONSUMER)
    acting = client(
        "s3", **keys_of(sts.assume_role(RoleArn=role, RoleSessionName="run")["Credentials"])
    )
    reads = allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*")
    lists = allow(
        "s3:ListBucket",
        f"arn:aws:s3:::{bucket}",
        Condition={"StringLike": {"s3:prefix": "logs/*"}},
    )

    def status(key):
        try:
            return getattr(acting, read)(Bucket=bucket, Key=key)["ResponseMetadata"]
        except ClientError as error:
            return error.response["ResponseMetadata"]

    allow_role(role, iam, reads)
    answers = [status(key)["HTTPStatusCode"] for key in ("logs/there", "logs/missing")]
    assert answers == [200, 403]

    allow_role(role, iam, reads, lists)
    answers = [status(key)["HTTPStatusCode"] for key in ("logs/missing", "others/missing")]
    assert answers == [404, 403]


def test_a_schema_needs_its_registry_and_itself(iam, role, acting):
    allow_role(role, iam, allow("glue:GetSchema", _GLUE + "registry/r"))
    schema = {"RegistryName": "r", "SchemaName": "s"}
    with pytest.raises(ClientError, match=r"glue:GetSchema on resource: .*:schema/r/s because"):
        acting("glue").get_schema(SchemaId=schema)
