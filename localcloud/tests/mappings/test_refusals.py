"""What the API of mappings refuses, in the words of AWS."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from localcloud.testing import deploy, make_role
from tests.mappings.unconnected import NOWHERE, create, function, settle
from tests.refusals import refusal

__all__ = ["create", "function"]


def test_a_change_while_another_one_is_not_done_is_refused(client, create):
    identity = create(Enabled=True)["UUID"]
    code, message = refusal(
        client("lambda").update_event_source_mapping, UUID=identity, BatchSize=7
    )
    assert code == "ResourceInUseException"
    assert message == "Cannot change the event source mapping because it is creating"
    assert refusal(client("lambda").delete_event_source_mapping, UUID=identity)[0] == code


@pytest.mark.parametrize(
    ("operation", "more"),
    [
        ("list_tags", {}),
        ("tag_resource", {"Tags": {"a": "b"}}),
        ("untag_resource", {"TagKeys": ["a"]}),
    ],
)
def test_tags_of_no_mapping_are_refused(client, operation, more):
    arn = "arn:aws:lambda:eu-central-1:111111111111:event-source-mapping:none"
    assert refusal(getattr(client("lambda"), operation), Resource=arn, **more) == (
        "ResourceNotFoundException",
        f"The resource {arn} does not exist",
    )


@pytest.mark.parametrize("operation", ["get", "update", "delete"])
def test_a_mapping_that_does_not_exist_is_refused(client, operation):
    call = getattr(client("lambda"), f"{operation}_event_source_mapping")
    assert (
        refusal(call, UUID="11111111-2222-3333-4444-555555555555")[0] == "ResourceNotFoundException"
    )


def test_the_same_mapping_twice_is_refused(create):
    first = create(servers=["127.0.0.1:7"])
    code, message = refusal(create, servers=["127.0.0.1:7"])
    assert code == "ResourceConflictException"
    assert message.endswith(f"already exists: {first['UUID']}")


def test_a_function_that_does_not_exist_is_refused(create):
    code, message = refusal(create, FunctionName="nobody")
    assert code == "ResourceNotFoundException"
    assert message.endswith(":function:nobody")


_PROVISIONED = {"ProvisionedPollerConfig": {"MinimumPollers": 1}}
_PATTERN = {"Filters": [{"Pattern": '{"value": {"a": [{"like": 1}]}}'}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"SelfManagedEventSource": {}},
            "SelfManagedEventSource names no KAFKA_BOOTSTRAP_SERVERS",
        ),
        (
            {"StartingPosition": "AT_TIMESTAMP"},
            "StartingPositionTimestamp requires StartingPosition AT_TIMESTAMP",
        ),
        (
            {"MaximumRetryAttempts": 3, "BisectBatchOnFunctionError": True},
            "BisectBatchOnFunctionError, MaximumRetryAttempts of a Kafka event source needs "
            "ProvisionedPollerConfig",
        ),
        (
            {"FunctionResponseTypes": ["ReportBatchItemFailures"]},
            "FunctionResponseTypes of a Kafka event source needs ProvisionedPollerConfig",
        ),
        (
            {"MaximumRecordAgeInSeconds": 60},
            "MaximumRecordAgeInSeconds of a Kafka event source needs ProvisionedPollerConfig",
        ),
        (
            {"MaximumRetryAttempts": 0},
            "MaximumRetryAttempts of a Kafka event source needs ProvisionedPollerConfig",
        ),
        (
            {**_PROVISIONED, "MaximumRecordAgeInSeconds": 0},
            "MaximumRecordAgeInSeconds is 0, expected -1 or 60 to 604800",
        ),
        (
            {**_PROVISIONED, "MaximumRecordAgeInSeconds": 59},
            "MaximumRecordAgeInSeconds is 59, expected -1 or 60 to 604800",
        ),
        (
            {"ProvisionedPollerConfig": {"MaximumPollers": 2_001}},
            "MaximumPollers is 2001, expected 1 to 2000",
        ),
        (
            {"FilterCriteria": _PATTERN},
            'Invalid filter pattern definition: $.value.a has {"like": 1}, expected one of '
            "anything-but, equals-ignore-case, exists, numeric, prefix, suffix",
        ),
        (
            {"DestinationConfig": {"OnFailure": {"Destination": "kafka://errors"}}},
            "the on-failure destination is 'kafka://errors', expected the ARN of an SQS queue, "
            "an SNS topic or an S3 bucket (Kafka topics are not supported)",
        ),
        (
            {"SourceAccessConfigurations": [{"Type": "CLIENT_CERTIFICATE_TLS_AUTH", "URI": "x"}]},
            "SourceAccessConfigurations has CLIENT_CERTIFICATE_TLS_AUTH, expected some of "
            "BASIC_AUTH, SASL_SCRAM_256_AUTH, SASL_SCRAM_512_AUTH, SERVER_ROOT_CA_CERTIFICATE, "
            "VPC_SECURITY_GROUP, VPC_SUBNET (AWS's other types for Kafka are not supported)",
        ),
        (
            {
                "SourceAccessConfigurations": [
                    {"Type": "BASIC_AUTH", "URI": "x"},
                    {"Type": "SASL_SCRAM_512_AUTH", "URI": "y"},
                ]
            },
            "SourceAccessConfigurations has more than one login",
        ),
    ],
)
def test_settings_that_aws_rejects_are_rejected(create, changes, message):
    assert refusal(create, **changes) == ("InvalidParameterValueException", message)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"Topics": ["orders", "sales"]}, "'topics'"),
        ({"BatchSize": 10_001}, "'batchSize'"),
        ({"MaximumBatchingWindowInSeconds": 301}, "'maximumBatchingWindowInSeconds'"),
        ({"ProvisionedPollerConfig": {"MinimumPollers": 201}}, "'provisionedPollerConfig.min"),
        ({**_PROVISIONED, "MaximumRetryAttempts": 10_001}, "'maximumRetryAttempts'"),
    ],
)
def test_settings_out_of_the_range_of_the_api_are_refused(client, create, changes, where):
    identity = create()["UUID"]
    settle(client, identity)
    update = client("lambda").update_event_source_mapping

    calls = [lambda: refusal(create, **changes)]
    if "Topics" not in changes:  # which an update does not have
        calls.append(lambda: refusal(update, UUID=identity, **changes))
    for call in calls:
        code, said = call()
        assert code == "ValidationException"
        assert where in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"StartingPosition": "LATEST"}, "Topics is [], expected the name of one topic"),
        (
            {"Topics": ["orders"]},
            "StartingPosition is None, expected one of TRIM_HORIZON, LATEST, AT_TIMESTAMP",
        ),
    ],
)
def test_a_topic_and_a_position_are_needed(client, function, given, said):
    source = {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": NOWHERE}}
    assert refusal(
        client("lambda").create_event_source_mapping,
        FunctionName=function,
        SelfManagedEventSource=source,
        **given,
    ) == ("InvalidParameterValueException", said)


def test_an_update_is_held_to_the_same_rules(client, create):
    identity = create()["UUID"]
    settle(client, identity)
    code, _ = refusal(
        client("lambda").update_event_source_mapping, UUID=identity, MaximumRetryAttempts=1
    )
    assert code == "InvalidParameterValueException"
    assert "MaximumRetryAttempts" not in settle(client, identity)


def test_a_mapping_of_an_msk_cluster_is_not_supported(client, function):
    arn = "arn:aws:kafka:eu-central-1:111111111111:cluster/c/abc"
    code, message = refusal(
        client("lambda").create_event_source_mapping, FunctionName=function, EventSourceArn=arn
    )
    assert (code, message) == (
        "InvalidParameterValueException",
        "mappings of MSK clusters are not supported, use SelfManagedEventSource",
    )


def test_a_role_is_needed_for_a_function(client):
    made = make_role(client)
    assert made.startswith("arn:aws:iam::111111111111:role/")
    with pytest.raises(ClientError, match="cannot be assumed by Lambda"):
        deploy(client, Role="arn:aws:iam::111111111111:role/nobody")
