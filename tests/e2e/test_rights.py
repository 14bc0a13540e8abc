"""Functions and jobs may do what they did in these accounts, and nothing besides it."""

from __future__ import annotations

import json

import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from demo.accounts import REGION
from localcloud.identity.credentials import credentials_for_role
from penstock.errors import TopicForbiddenError
from tests.e2e.accounts import CONSUMER, PRODUCER
from tests.e2e.rights import find_unused
from tests.e2e.sales import SERVERLESS
from tests.e2e.staging import JOB

pytestmark = [pytest.mark.terraform, pytest.mark.kafka, pytest.mark.e2e, pytest.mark.timeout(1800)]

_PRODUCER_ROLE = f"arn:aws:iam::{PRODUCER}:role/penstock-producer"
_CONSUMER_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-consumer"
_JOB_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-job-consume"
_REPLAY_ROLE, _MAINTAIN_ROLE = f"{_JOB_ROLE}-replay", f"{_JOB_ROLE}-maintain"
_SALES_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-job-{SERVERLESS}"
_CLUSTER_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-job-emr_cluster"
_SHOP_ROLE = f"arn:aws:iam::{PRODUCER}:role/penstock-job-emr_cluster"
_STAGE_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-job-{JOB}"
_RETRY_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-retry-{JOB}"
_SCHEDULE_ROLE = f"{_RETRY_ROLE}-schedule"
_STATUS_ROLE = f"arn:aws:iam::{PRODUCER}:role/penstock-status"
_COUNT_ROLE = f"arn:aws:iam::{CONSUMER}:role/penstock-analytics-status"
_READER_ROLE = f"arn:aws:iam::{PRODUCER}:role/penstock-analytics-reader"

_ERRORS, _READINGS = "penstock-analytics-errors", "penstock-analytics-readings"
_ORDERS = "penstock-analytics-orders"  # of a route, which the function does not know
_STAGED = "penstock-analytics-events"
_WAITING, _UNJOINED = f"penstock-analytics-{JOB}_waiting", f"penstock-analytics-{JOB}-errors"
_SECRET = "AmazonMSK_penstock_analytics_functions_a"
_ID = "00000000-0000-4000-8000-000000000000"

# What Lambda itself does with a function's role, which localcloud's Lambda does by other means.
_DONE_BY_LAMBDA = {
    ("SendTraces", "xray:PutTelemetryRecords"),
    ("SendTraces", "xray:PutTraceSegments"),
}
# EMR looks for streams of its own, and Spark gives up an upload that fails half-way.
_DONE_BY_EMR = {
    ("WriteItsLog", "logs:DescribeLogStreams"),
    ("WriteTheLake", "s3:AbortMultipartUpload"),
}
# S3A's committers list uploads to abort; these jobs have no committer.
_LIST_UPLOADS = ("SeeTheLakesObjects", "s3:ListBucketMultipartUploads")
# By it S3 says that a file is missing, and not that it may not be read; none is missing here.
_SEE_ARTIFACTS = ("SeeItsArtifacts", "s3:ListBucket")
# Spark deletes files of a checkpoint after 100 batches, and Iceberg those of a commit that failed.
_DONE_LATER = _DONE_BY_EMR | {("WriteTheLake", "s3:DeleteObject"), _LIST_UPLOADS}
_ASKED_BY_BROKERS = {
    f"kafka-cluster:{name}"
    for name in (
        *("AlterTopic", "AlterTopicDynamicConfiguration", "CreateTopic", "DeleteTopic"),
        *("DescribeTopicDynamicConfiguration", "WriteData"),
    )
}
_DISK_KEY = ("Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey*", "ReEncrypt*")
# localcloud has no disks.
_UNUSED_ON_CLUSTERS = {("UnlockDisks", f"kms:{name}") for name in _DISK_KEY}
# By day no step maintains or replays payments. Statements of long policies have names of jobs.
_BY_NIGHT = ("OfPaymentsMaintain", "OfPaymentsReplay")
_NOT_USED_BY_NIGHT = {
    *(
        (f"{sid}{job}", action)
        for job in _BY_NIGHT
        for sid, action in (
            _LIST_UPLOADS,
            ("WriteTheLake", "s3:AbortMultipartUpload"),
            ("WriteTheLake", "s3:DeleteObject"),
        )
    ),
    ("ReadSchemasOfTheProducerOfPaymentsReplay", "sts:AssumeRole"),
    ("ReplayWhatNoRowHoldsOfPaymentsReplay", "s3:GetObject"),
    ("SeeWhatNoRowHoldsOfPaymentsReplay", "s3:ListBucket"),
    ("ParkRecordsAndTellOfThemOfPaymentsReplay", "s3:PutObject"),
}
_NOT_USED_HERE = {
    _PRODUCER_ROLE: _DONE_BY_LAMBDA
    | {
        # Terraform has had the topic made; test_logins.py makes one by that right.
        ("MakeAndWriteItsTopic", "kafka-cluster:CreateTopic"),
        # Of two that contradict each other one marks its version: test_at_once.py has them.
        ("RegisterSchemas", "glue:PutSchemaVersionMetadata"),
    },
    _CONSUMER_ROLE: _DONE_BY_LAMBDA,
    # Payments have another registry than Glue.
    f"{_CONSUMER_ROLE}-payments": _DONE_BY_LAMBDA
    | {("ReadSchemasOfTheProducer", "sts:AssumeRole")},
    _JOB_ROLE: _DONE_LATER | {_SEE_ARTIFACTS},
    _REPLAY_ROLE: _DONE_LATER
    | {
        _SEE_ARTIFACTS,
        # Nothing fails a third time (tests/spark), and no parked bytes are gone (tests/unit).
        ("ParkRecordsAndTellOfThem", "s3:PutObject"),
        ("SeeWhatNoRowHolds", "s3:ListBucket"),
    },
    # No snapshot is old enough to go.
    _MAINTAIN_ROLE: _DONE_LATER | {_SEE_ARTIFACTS},
    # A summary of a topic reads no table, and its one file is written at once.
    _SALES_ROLE: {
        _LIST_UPLOADS,
        ("WriteItsLog", "logs:DescribeLogStreams"),
        _SEE_ARTIFACTS,
        ("KeepItsFiles", "s3:AbortMultipartUpload"),
        ("KeepItsFiles", "s3:DeleteObject"),
    },
    # Payments have another registry than Glue.
    _CLUSTER_ROLE: {
        ("SeeTheLakesObjectsOfPayments", "s3:ListBucketMultipartUploads"),
        ("WriteTheLakeOfPayments", "s3:AbortMultipartUpload"),
        ("WriteTheLakeOfPayments", "s3:DeleteObject"),
        ("SeeTheLakesObjectsOfFigures", "s3:ListBucketMultipartUploads"),
        ("KeepItsFilesOfFigures", "s3:AbortMultipartUpload"),
        ("ReadSchemasOfTheProducerOfPayments", "sts:AssumeRole"),
        ("SeeArtifactsAndLogs", "s3:ListBucket"),
        *_UNUSED_ON_CLUSTERS,
    },
    # Spark's guide asks for the groups of its consumers, which it assigns partitions itself.
    _SHOP_ROLE: {
        ("JoinItsGroups", "kafka-cluster:AlterGroup"),
        ("JoinItsGroups", "kafka-cluster:DescribeGroup"),
        ("KeepItsFiles", "s3:AbortMultipartUpload"),
        *_UNUSED_ON_CLUSTERS,
    },
    _STAGE_ROLE: _DONE_LATER | {_SEE_ARTIFACTS},
    _RETRY_ROLE: _DONE_BY_LAMBDA
    | {
        # No record that waits is too large for a row.
        ("ReplayWhatNoRowHolds", "s3:GetObject"),
        ("SeeWhatNoRowHolds", "s3:ListBucket"),
    },
    _SCHEDULE_ROLE: set(),
    _STATUS_ROLE: set(),
    _COUNT_ROLE: set(),
}


_OWN = {"RegistryName": "penstock", "SchemaName": "sensor"}
_OTHER = {"RegistryName": "other", "SchemaName": "sensor"}
_NOT_WRITTEN = {"RegistryName": "penstock", "SchemaName": "orders"}
_REJECTED = f"penstock-rejected-{PRODUCER}-{REGION}"
_PARKED = f"penstock-analytics-parked-{CONSUMER}-{REGION}"
_ARTIFACTS = f"penstock-analytics-artifacts-{CONSUMER}-{REGION}"
_CODE = f"penstock-artifacts-{PRODUCER}-{REGION}"
_LAKE = "penstock_analytics_lake"
_TABLES = f"penstock-analytics-lake-{CONSUMER}-{REGION}"
_TABLE = {"Name": "t"}
_KEY = {"deviceId": {"S": "d"}, "readingId": {"S": "r"}}
_ROW = {"PutRequest": {"Item": _KEY}}
_HAND_OVER = f"arn:aws:iam::{PRODUCER}:role/penstock-analytics-hand-over"
_OF_BILLING = f"arn:aws:iam::{PRODUCER}:role/penstock-billing-reader"
_NEIGHBOURS = [
    (_PRODUCER_ROLE, "glue:RegisterSchemaVersion", {"SchemaId": _OTHER, "SchemaDefinition": "{}"}),
    (_PRODUCER_ROLE, "glue:DeleteSchema", {"SchemaId": _OWN}),
    (_PRODUCER_ROLE, "glue:UpdateSchema", {"SchemaId": _OWN, "Compatibility": "NONE"}),
    (_PRODUCER_ROLE, "s3:PutObject", {"Bucket": f"other-{PRODUCER}", "Key": "k"}),
    (_PRODUCER_ROLE, "s3:GetObject", {"Bucket": _REJECTED, "Key": "k"}),
    (_PRODUCER_ROLE, "s3:PutObject", {"Bucket": _REJECTED, "Key": "other/k"}),
    (_PRODUCER_ROLE, "dynamodb:PutItem", {"TableName": "penstock-locks", "Item": _KEY}),
    (_PRODUCER_ROLE, "secretsmanager:GetSecretValue", {"SecretId": _SECRET}),
    (_PRODUCER_ROLE, "sts:AssumeRole", {"RoleArn": _READER_ROLE}),
    (_CONSUMER_ROLE, "dynamodb:BatchWriteItem", {"RequestItems": {"other": [_ROW]}}),
    (_CONSUMER_ROLE, "dynamodb:BatchWriteItem", {"RequestItems": {_ERRORS: [_ROW]}}),
    (_CONSUMER_ROLE, "dynamodb:BatchWriteItem", {"RequestItems": {_ORDERS: [_ROW]}}),
    (_CONSUMER_ROLE, "dynamodb:PutItem", {"TableName": _READINGS, "Item": _KEY}),
    (_CONSUMER_ROLE, "dynamodb:Scan", {"TableName": _READINGS}),
    (_CONSUMER_ROLE, "s3:PutObject", {"Bucket": _PARKED, "Key": "elsewhere/k"}),
    (_CONSUMER_ROLE, "s3:PutObject", {"Bucket": f"other-{CONSUMER}", "Key": "errors/k"}),
    (_CONSUMER_ROLE, "s3:GetObject", {"Bucket": _PARKED, "Key": "errors/k"}),
    (_CONSUMER_ROLE, "secretsmanager:GetSecretValue", {"SecretId": "other"}),
    (_CONSUMER_ROLE, "glue:GetSchemaVersion", {"SchemaVersionId": _ID}),
    (_CONSUMER_ROLE, "sts:AssumeRole", {"RoleArn": _HAND_OVER}),
    (_CONSUMER_ROLE, "sts:AssumeRole", {"RoleArn": _OF_BILLING}),
    (_CONSUMER_ROLE, "sts:AssumeRole", {"RoleArn": _READER_ROLE, "ExternalId": "wrong"}),
    (_CONSUMER_ROLE, "sts:AssumeRole", {"RoleArn": _READER_ROLE}),
    (_JOB_ROLE, "dynamodb:BatchWriteItem", {"RequestItems": {"other": [_ROW]}}),
    (_JOB_ROLE, "dynamodb:PutItem", {"TableName": _READINGS, "Item": _KEY}),
    (_JOB_ROLE, "dynamodb:Scan", {"TableName": _READINGS}),
    (_JOB_ROLE, "glue:CreateTable", {"DatabaseName": "other", "TableInput": _TABLE}),
    (_JOB_ROLE, "glue:CreateTable", {"DatabaseName": _LAKE, "TableInput": _TABLE}),
    (_JOB_ROLE, "glue:GetTable", {"DatabaseName": _LAKE, "Name": "parked_records"}),
    (_JOB_ROLE, "glue:DeleteTable", {"DatabaseName": _LAKE, "Name": "readings"}),
    (_JOB_ROLE, "glue:GetSchemaVersion", {"SchemaVersionId": _ID}),
    (_JOB_ROLE, "glue:GetTable", {"DatabaseName": "other", "Name": "t"}),
    (_JOB_ROLE, "logs:CreateLogStream", {"logGroupName": "/other", "logStreamName": "s"}),
    (_JOB_ROLE, "s3:GetObject", {"Bucket": _PARKED, "Key": "records/k"}),
    (_JOB_ROLE, "s3:PutObject", {"Bucket": _ARTIFACTS, "Key": "jobs/consume.py"}),
    (_JOB_ROLE, "s3:PutObject", {"Bucket": _PARKED, "Key": "elsewhere/k"}),
    (_JOB_ROLE, "secretsmanager:GetSecretValue", {"SecretId": "other"}),
    (_JOB_ROLE, "sts:AssumeRole", {"RoleArn": _HAND_OVER}),
    (_JOB_ROLE, "sts:AssumeRole", {"RoleArn": _OF_BILLING}),
    (_JOB_ROLE, "sts:AssumeRole", {"RoleArn": _READER_ROLE}),
    (_JOB_ROLE, "dynamodb:Query", {"TableName": _ERRORS}),
    (_JOB_ROLE, "s3:GetObject", {"Bucket": _TABLES, "Key": "tables/other/k"}),
    (_JOB_ROLE, "s3:PutObject", {"Bucket": _TABLES, "Key": "checkpoints/other/k"}),
    (_MAINTAIN_ROLE, "dynamodb:BatchWriteItem", {"RequestItems": {_READINGS: [_ROW]}}),
    (_MAINTAIN_ROLE, "s3:PutObject", {"Bucket": _TABLES, "Key": "checkpoints/consume/k"}),
    (_MAINTAIN_ROLE, "secretsmanager:GetSecretValue", {"SecretId": "other"}),
    (_MAINTAIN_ROLE, "sts:AssumeRole", {"RoleArn": _READER_ROLE}),
    (_REPLAY_ROLE, "s3:PutObject", {"Bucket": _TABLES, "Key": "checkpoints/consume/k"}),
    (_REPLAY_ROLE, "secretsmanager:GetSecretValue", {"SecretId": "other"}),
    (_SALES_ROLE, "ssm:GetParametersByPath", {"Path": "/penstock-analytics/figures"}),
    (_SALES_ROLE, "s3:PutObject", {"Bucket": _TABLES, "Key": "checkpoints/consume/k"}),
    (_CLUSTER_ROLE, "ssm:GetParametersByPath", {"Path": "/other"}),
    (_CLUSTER_ROLE, "s3:GetObject", {"Bucket": _TABLES, "Key": "tables/readings/k"}),
    (_SHOP_ROLE, "ssm:GetParametersByPath", {"Path": "/penstock-analytics"}),
    (_SHOP_ROLE, "s3:PutObject", {"Bucket": _CODE, "Key": "jobs/sales.py"}),
    (_SHOP_ROLE, "s3:GetObject", {"Bucket": _CODE, "Key": "sales/other/k"}),
    (_STAGE_ROLE, "dynamodb:PutItem", {"TableName": _READINGS, "Item": _KEY}),
    (_STAGE_ROLE, "dynamodb:Scan", {"TableName": _STAGED}),
    (_STAGE_ROLE, "dynamodb:Query", {"TableName": _UNJOINED}),
    (_STAGE_ROLE, "glue:GetTable", {"DatabaseName": _LAKE, "Name": "readings"}),
    (_RETRY_ROLE, "dynamodb:PutItem", {"TableName": _STAGED, "Item": _KEY}),
    (_RETRY_ROLE, "dynamodb:PutItem", {"TableName": _UNJOINED, "Item": _KEY}),
    (_RETRY_ROLE, "dynamodb:Query", {"TableName": _WAITING}),
    (_RETRY_ROLE, "s3:PutObject", {"Bucket": _PARKED, "Key": "errors/k"}),
    (_STATUS_ROLE, "glue:ListSchemaVersions", {"SchemaId": _OTHER}),
    (_STATUS_ROLE, "s3:GetObject", {"Bucket": _REJECTED, "Key": "k"}),
    (_COUNT_ROLE, "dynamodb:Query", {"TableName": _ERRORS}),
    (_COUNT_ROLE, "dynamodb:Scan", {"TableName": _ERRORS}),
    (_READER_ROLE, "glue:ListSchemaVersions", {"SchemaId": _OTHER}),
    (
        _READER_ROLE,
        "glue:GetSchemaByDefinition",
        {"SchemaId": _NOT_WRITTEN, "SchemaDefinition": "{}"},
    ),
    (_READER_ROLE, "glue:RegisterSchemaVersion", {"SchemaId": _OWN, "SchemaDefinition": "{}"}),
    (_READER_ROLE, "dynamodb:Scan", {"TableName": "penstock-locks"}),
]


@pytest.mark.parametrize("role", list(_NOT_USED_HERE))
def test_a_role_uses_all_that_it_is_granted_and_is_refused_nothing(exercised, role):
    unused = _find_unused(exercised.accounts, role)
    assert {each for each in unused if not each[0].endswith(_BY_NIGHT)} == _NOT_USED_HERE[role]


@pytest.mark.nightly
@pytest.mark.usefixtures("mended")
def test_a_cluster_uses_all_that_it_is_granted_for_maintenance_and_replay(exercised):
    """Nothing fails a third time."""
    unused = _find_unused(exercised.accounts, _CLUSTER_ROLE)
    assert unused == _NOT_USED_HERE[_CLUSTER_ROLE] | _NOT_USED_BY_NIGHT


@pytest.mark.parametrize(("role", "action", "parameters"), _NEIGHBOURS)
def test_a_role_is_denied_neighbouring_resources(exercised, role, action, parameters):
    service, _, operation = action.partition(":")
    if operation == "AssumeRole":
        parameters = {"RoleSessionName": "probe"} | parameters
    accounts = exercised.accounts
    client = accounts.client(service, **_keys(accounts, role))
    with pytest.raises(ClientError, match=f"is not authorized to perform: {action}"):
        getattr(client, xform_name(operation))(**parameters)


def test_another_topic_is_refused_by_the_brokers(accounts):
    with pytest.raises(TopicForbiddenError):
        accounts.write("other", b"x", role=_PRODUCER_ROLE)


def test_policies_that_aws_completes_are_as_they_should_be(accounts):
    """Their resources are known once they are applied: no plan shows these documents."""
    clients = {name: accounts.client(name, PRODUCER) for name in ("ec2", "iam", "kafka")}
    secrets = accounts.client("secretsmanager", PRODUCER)
    shown = secrets.get_resource_policy(SecretId=_SECRET)
    assert json.loads(shown["ResourcePolicy"]) == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "AWSKafkaResourcePolicy",
                "Effect": "Allow",
                "Principal": {"Service": "kafka.amazonaws.com"},
                "Action": "secretsmanager:getSecretValue",
                "Resource": shown["ARN"],
            }
        ],
    }
    services = clients["ec2"].describe_vpc_endpoint_service_configurations()
    ids = sorted(service["ServiceId"] for service in services["ServiceConfigurations"])
    assert len(ids) == 2
    place = f"arn:aws:ec2:{REGION}:{PRODUCER}:vpc-endpoint-service"
    connections = _read_policies(clients["iam"], _HAND_OVER)["connections"]["Statement"]
    connections[0]["Resource"] = sorted(connections[0]["Resource"])
    assert connections == [
        {
            "Sid": "OwnConnections",
            "Effect": "Allow",
            "Action": ["ec2:AcceptVpcEndpointConnections", "ec2:RejectVpcEndpointConnections"],
            "Resource": [f"{place}/{one}" for one in ids],
        },
        {
            "Sid": "SeeConnections",
            "Effect": "Allow",
            "Action": "ec2:DescribeVpcEndpointConnections",
            "Resource": "*",
        },
    ]
    for one in ids:
        allowed = clients["ec2"].describe_vpc_endpoint_service_permissions(ServiceId=one)
        principals = [each["Principal"] for each in allowed["AllowedPrincipals"]]
        assert principals == [f"arn:aws:iam::{CONSUMER}:root"]
    # By PrivateLink nobody connects by the cluster's own policy.
    (cluster,) = clients["kafka"].list_clusters_v2()["ClusterInfoList"]
    with pytest.raises(clients["kafka"].exceptions.NotFoundException):
        clients["kafka"].get_cluster_policy(ClusterArn=cluster["ClusterArn"])


def _find_unused(accounts, role):
    """Return what a role has not used of its policies, once it was refused nothing."""
    decisions = accounts.producer.local.ask("list-decisions", role=role)
    assert [each for each in decisions if not (each["allowed"] or _is_a_question(each))] == []
    policies = _read_policies(accounts.client("iam", role.split(":")[4]), role)
    return find_unused(policies.values(), decisions)


def _is_a_question(decision):
    """Brokers that describe a topic for Spark's admin client say which operations it may do."""
    return decision["role"] == _SHOP_ROLE and decision["action"] in _ASKED_BY_BROKERS


def _keys(accounts, role):
    """Keys such as Lambda gives to the code of a function with this role."""
    key = credentials_for_role(accounts.cloud, role, "probe")
    return {
        "aws_access_key_id": key.access_key,
        "aws_secret_access_key": key.secret_key,
        "aws_session_token": key.session_token,
    }


def _read_policies(iam, role):
    """The policies of a role: inline, or managed ones of its own if they are long."""
    name = role.partition("/")[2]
    attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    arns = {policy["PolicyName"]: policy["PolicyArn"] for policy in attached}
    assert all(policy.startswith(f"{name}-") for policy in arns)
    return {
        policy: iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
        for policy, arn in arns.items()
    } | {
        policy: iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
        for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]
    }
