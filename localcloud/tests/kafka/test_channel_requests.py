"""What CreateChannel refuses, before any broker is asked."""

from __future__ import annotations

import copy

import pytest

from localcloud.testing.policies import allow, keys_of, make_role, trust
from tests.refusals import refusal

_ACCOUNT = "111111111111"
_ROLE = f"arn:aws:iam::{_ACCOUNT}:role/channel"
_QUEUE = {"BucketArn": "arn:aws:s3:::dead"}
_STORAGE = {
    "BucketArn": "arn:aws:s3:::records",
    "CompressionType": "GZIP",
    "StorageClass": "STANDARD",
}
_HOURS = {"PartitionStrategy": "TIME_HOUR", "SourceList": [{"SourceName": "at"}]}
_TABLE = {"DestinationDatabaseName": "d", "DestinationTableName": "t", "PartitionSpec": _HOURS}
_ICEBERG = {
    "AppendOnly": True,
    "Catalog": {
        "CatalogArn": f"arn:aws:glue:eu-central-1:{_ACCOUNT}:catalog/s3tablescatalog/lake",
        "WarehouseLocation": f"arn:aws:s3tables:eu-central-1:{_ACCOUNT}:bucket/lake",
    },
    "DeadLetterQueueS3": _QUEUE,
    "DestinationTableList": [_TABLE],
    "SchemaEvolution": {"EnableSchemaEvolution": False},
    "ServiceExecutionRoleArn": _ROLE,
    "TableCreation": {"EnableTableCreation": True},
}
_S3 = {"DeadLetterQueueS3": _QUEUE, "ServiceExecutionRoleArn": _ROLE, "Storage": _STORAGE}
_TO = {"ICEBERG": "IcebergDestinationConfiguration", "S3": "S3DestinationConfiguration"}


@pytest.fixture
def express(make_cluster, subnets):
    """A cluster with Express brokers, which are pretended: its ARN."""
    group = {"InstanceType": "express.m7g.large", "ClientSubnets": subnets[:2]}
    return make_cluster(BrokerNodeGroupInfo=group)["ClusterArn"]


def _asked(cluster, converter, **destination):
    schema = {"RecordSchema": {"GsrArn": "arn:aws:glue:eu-central-1:111111111111:schema/r/s"}}
    return copy.deepcopy(
        {
            "ChannelName": "orders",
            "ClusterArn": cluster,
            "TopicConfigurationList": [
                {
                    "TopicArn": cluster.replace(":cluster/", ":topic/") + "/orders",
                    "RecordConverter": {"ValueConverter": converter},
                    **(schema if _TO["ICEBERG"] in destination else {}),
                }
            ],
            **destination,
        }
    )


def _change(asked, path, value):
    *way, last = path
    for name in way:
        asked = asked[name]
    asked[last] = value


_OF_TABLES = [
    (("AppendOnly",), False, "appendOnly"),
    (("SchemaEvolution", "EnableSchemaEvolution"), True, "schema evolution is not supported"),
    (("SchemaEvolution",), {}, "schema evolution is not supported"),
    (("TableCreation",), {}, "enableTableCreation"),
    (("DestinationTableList",), [], "destinationTableList"),
    (("DestinationTableList",), [_TABLE] * 2, "destinationTableList"),
    (("DestinationTableList", 0, "DestinationTableName"), "", "a database and a table"),
    (("DestinationTableList", 0, "PartitionSpec", "SourceList"), [], "sourceList"),
    (("Catalog",), {}, "warehouseLocation"),
    (("Catalog", "CatalogArn"), "arn:aws:glue:eu-central-1:1:catalog/x", "catalogArn"),
    (("DataFreshnessInSeconds",), 299, "300 to 900"),
    (("DataFreshnessInSeconds",), 901, "300 to 900"),
]
_OF_CHANNELS = [
    (("ChannelName",), "two words", "channelName"),
    (("TopicConfigurationList",), [], "exactly one topic"),
    (("TopicConfigurationList", 0, "TopicArn"), "arn:aws:kafka:eu-central-1:1:topic/x", "topicArn"),
    (
        ("TopicConfigurationList", 0, "RecordConverter", "ValueConverter"),
        "STRING",
        "one of JSON, JSON_SCHEMA_GSR",
    ),
    (
        ("TopicConfigurationList", 0, "RecordConverter", "ValueConverter"),
        "JSON_SCHEMA_GSR",
        "recordSchema",
    ),
    ((_TO["S3"],), _S3, "Specify either"),
    (("EncryptionConfiguration",), {"KmsKeyArn": "arn:aws:kms:x:1:key/k"}, "by no key of yours"),
    (("LoggingInfo",), {"S3": {"Enabled": True, "Bucket": "b"}}, "to no S3"),
    (
        ("LoggingInfo",),
        {"CloudWatchLogs": {"Enabled": True, "LogGroup": "/none"}},
        "log group /none doesn't exist",
    ),
]
# AWS's own examples of templates that are not valid, and more.
_TEMPLATES = {
    "!{yyyy}/!{MM}/": "a / at its end",
    "!{channel-id}/!{topic-name}": "not exactly one of",
    "!{sequence-number}-!{kafka-offset}": "not exactly one of",
    "!{kafka-offset}": "without !{partition-id}",
    "!{sequence-number}/literal-tail": "no such variable behind its last /",
    "!{badvar}/!{sequence-number}": "an unknown variable",
    "foo bar/!{sequence-number}": "a character that is not allowed",
    "../!{sequence-number}": "a path that leaves its folder",
    "x" * 1010 + "!{sequence-number}": "longer than 1024 characters",
}


def test_what_is_refused(kafka, express):
    cluster = express
    whole = _asked(cluster, "JSON", **{_TO["ICEBERG"]: _ICEBERG})
    cases = [((_TO["ICEBERG"], *path), value, said) for path, value, said in _OF_TABLES]
    for path, value, said in [*_OF_CHANNELS, *cases]:
        asked = copy.deepcopy(whole)
        _change(asked, path, value)
        code, message = refusal(kafka.create_channel, **asked)
        assert (code, said in message) == ("BadRequestException", True), (path, message)


def test_a_template_keeps_the_rules(kafka, express):
    cluster = express
    for template, said in _TEMPLATES.items():
        storage = _STORAGE | {"OutputKeyTemplate": template}
        asked = _asked(cluster, "STRING", **{_TO["S3"]: _S3 | {"Storage": storage}})
        code, message = refusal(kafka.create_channel, **asked)
        assert (code, said in message) == ("BadRequestException", True), (template, message)


def test_standard_brokers_have_no_channels(kafka, make_cluster):
    asked = _asked(make_cluster()["ClusterArn"], "STRING", **{_TO["S3"]: _S3})

    code, message = refusal(kafka.create_channel, **asked)

    assert (code, message) == (
        "BadRequestException",
        "Channels need a provisioned cluster with Express brokers",
    )


def test_who_creates_a_channel_must_pass_its_role(client, express):
    cluster = express
    role = make_role(client("iam"), trust(_ACCOUNT), allow("kafka:*"))
    taken = client("sts").assume_role(RoleArn=role, RoleSessionName="test")["Credentials"]
    asked = _asked(cluster, "STRING", **{_TO["S3"]: _S3})

    code, message = refusal(client("kafka", **keys_of(taken)).create_channel, **asked)

    assert "iam:PassRole" in message
    assert code == "AccessDeniedException"
