"""The API of mappings: what is answered, what is refused; no broker is needed for it."""

from __future__ import annotations

import pytest
import requests
from botocore.exceptions import ClientError

from tests.fixtures.functions import deploy, invoke, is_running, make_role, wait_until

_NOWHERE = ["127.0.0.1:9"]


@pytest.fixture(scope="module")
def function(client):
    """A function for mappings that never get to a broker."""
    return deploy(client)


@pytest.fixture
def create(client, function):
    """Create a mapping that is disabled unless told otherwise; all are deleted in the end."""
    lambda_, made = client("lambda"), []

    def make(**changes):
        servers = changes.pop("servers", [f"127.0.0.1:{len(made) + 10}"])
        values = {
            "FunctionName": function,
            "Topics": ["orders"],
            "StartingPosition": "LATEST",
            "Enabled": False,
            "SelfManagedEventSource": {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": servers}},
        }
        view = lambda_.create_event_source_mapping(**(values | changes))
        made.append(view["UUID"])
        return view

    yield make
    for identity in made:
        if identity in {
            m["UUID"] for m in lambda_.list_event_source_mappings()["EventSourceMappings"]
        }:
            settle(client, identity)
            lambda_.delete_event_source_mapping(UUID=identity)
            wait_gone(client, identity)


def settle(client, identity):
    """Wait until a mapping is in a state that lasts, and show it."""
    get = client("lambda").get_event_source_mapping
    wait_until("a lasting state", lambda: get(UUID=identity)["State"] in {"Enabled", "Disabled"})
    return get(UUID=identity)


def wait_gone(client, identity):
    """Wait until a mapping is not found."""

    def gone():
        try:
            client("lambda").get_event_source_mapping(UUID=identity)
        except ClientError as error:
            return error.response["Error"]["Code"] == "ResourceNotFoundException"
        return False

    wait_until("the mapping is gone", gone)


def refusal(call, **params):
    """What a call is answered, as code and message."""
    with pytest.raises(ClientError) as caught:
        call(**params)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def test_what_is_created_is_shown(client, create, function):
    created = create(SelfManagedKafkaEventSourceConfig={"ConsumerGroupId": "readers"})
    arn = f"arn:aws:lambda:eu-central-1:111111111111:event-source-mapping:{created['UUID']}"
    assert created["ResponseMetadata"]["HTTPStatusCode"] == 202
    assert created["State"] == "Creating"
    shown = settle(client, created["UUID"])
    assert shown["State"] == "Disabled"
    assert shown["EventSourceMappingArn"] == arn
    assert shown["FunctionArn"].endswith(f":function:{function}")
    assert shown["Topics"] == ["orders"]
    assert shown["BatchSize"] == 100
    assert shown["MaximumBatchingWindowInSeconds"] == 0
    assert shown["StartingPosition"] == "LATEST"
    assert shown["SelfManagedKafkaEventSourceConfig"] == {"ConsumerGroupId": "readers"}
    assert shown["LastProcessingResult"] == "No records processed"
    assert shown["StateTransitionReason"] == "USER_INITIATED"


def test_the_group_is_named_like_the_mapping_unless_told(create):
    created = create()
    group = created["SelfManagedKafkaEventSourceConfig"]["ConsumerGroupId"]
    assert group == created["UUID"]


def test_a_timestamp_is_given_back(client, create):
    created = create(StartingPosition="AT_TIMESTAMP", StartingPositionTimestamp=1_700_000_000)
    shown = settle(client, created["UUID"])
    assert shown["StartingPositionTimestamp"].timestamp() == 1_700_000_000


def test_mappings_are_listed_by_function(client, create):
    one, other = create()["UUID"], create(FunctionName=deploy(client))
    listed = client("lambda").list_event_source_mappings(FunctionName=other["FunctionArn"])
    assert [view["UUID"] for view in listed["EventSourceMappings"]] == [other["UUID"]]
    everything = client("lambda").list_event_source_mappings()["EventSourceMappings"]
    assert {one, other["UUID"]} <= {view["UUID"] for view in everything}
    elsewhere = client("lambda", account="222222222222").list_event_source_mappings()
    assert elsewhere["EventSourceMappings"] == []
    code, _ = refusal(client("lambda").list_event_source_mappings, FunctionName="absent")
    assert code == "ResourceNotFoundException"


def test_the_mappings_of_other_sources_are_motos(client, function):
    queue = client("sqs").create_queue(QueueName="feeds-a-function")["QueueUrl"]
    attributes = client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    arn, lambda_ = attributes["Attributes"]["QueueArn"], client("lambda")
    made = lambda_.create_event_source_mapping(FunctionName=function, EventSourceArn=arn)["UUID"]
    assert lambda_.get_event_source_mapping(UUID=made)["EventSourceArn"] == arn
    listed = lambda_.list_event_source_mappings(EventSourceArn=arn)["EventSourceMappings"]
    assert [view["UUID"] for view in listed] == [made]
    updated = lambda_.update_event_source_mapping(UUID=made, BatchSize=5)
    assert updated["BatchSize"] == 5
    lambda_.delete_event_source_mapping(UUID=made)
    assert refusal(lambda_.get_event_source_mapping, UUID=made)[0] == "ResourceNotFoundException"


def test_an_update_changes_only_what_is_given(client, create):
    identity = create(BatchSize=10)["UUID"]
    settle(client, identity)
    updated = client("lambda").update_event_source_mapping(UUID=identity, BatchSize=20)
    assert (updated["State"], updated["BatchSize"]) == ("Updating", 20)
    shown = settle(client, identity)
    assert (shown["State"], shown["BatchSize"], shown["Topics"]) == ("Disabled", 20, ["orders"])


def test_an_update_may_change_the_function(client, create):
    identity, other = create()["UUID"], deploy(client)
    settle(client, identity)
    client("lambda").update_event_source_mapping(UUID=identity, FunctionName=other)
    assert settle(client, identity)["FunctionArn"].endswith(other)


def test_a_change_while_another_one_is_not_done_is_refused(client, create):
    identity = create(Enabled=True)["UUID"]
    code, message = refusal(
        client("lambda").update_event_source_mapping, UUID=identity, BatchSize=7
    )
    assert code == "ResourceInUseException"
    assert message == "Cannot change the event source mapping because it is creating"
    assert refusal(client("lambda").delete_event_source_mapping, UUID=identity)[0] == code


def test_a_way_that_leads_nowhere_is_told(client, create):
    identity = create(Enabled=True, servers=_NOWHERE)["UUID"]
    shown = settle(client, identity)
    assert shown["State"] == "Enabled"
    assert shown["LastProcessingResult"].startswith("PROBLEM: 127.0.0.1:9 ")
    assert "Connection refused" in shown["LastProcessingResult"]


def test_a_name_that_does_not_resolve_is_told(client, create):
    servers = ["b-1.nowhere.abc.c1.kafka.eu-central-1.amazonaws.com:9096"]
    shown = settle(client, create(Enabled=True, servers=servers)["UUID"])
    assert servers[0] in shown["LastProcessingResult"]
    assert shown["LastProcessingResult"].endswith(" does not resolve")


def test_a_subnet_that_does_not_exist_is_told(client, create):
    access = [{"Type": "VPC_SUBNET", "URI": "subnet:subnet-0123"}]
    shown = settle(client, create(Enabled=True, SourceAccessConfigurations=access)["UUID"])
    assert "there is no subnet subnet-0123 in any account" in shown["LastProcessingResult"]


def test_a_secret_that_cannot_be_read_is_told(client, create):
    arn = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:nobody-abcdef"
    access = [{"Type": "SASL_SCRAM_512_AUTH", "URI": arn}]
    shown = settle(client, create(Enabled=True, SourceAccessConfigurations=access)["UUID"])
    assert shown["LastProcessingResult"].startswith(f"PROBLEM: the secret {arn} cannot be read: ")
    assert "AccessDenied" in shown["LastProcessingResult"]  # the role has no right to it


def test_tags_are_kept(client, create):
    created, lambda_ = create(Tags={"team": "a"}), client("lambda")
    arn = created["EventSourceMappingArn"]
    lambda_.tag_resource(Resource=arn, Tags={"stage": "test"})
    assert lambda_.list_tags(Resource=arn)["Tags"] == {"team": "a", "stage": "test"}
    lambda_.untag_resource(Resource=arn, TagKeys=["team"])
    assert lambda_.list_tags(Resource=arn)["Tags"] == {"stage": "test"}


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


def test_tags_of_functions_stay_motos(client, function):
    arn, lambda_ = client("lambda").get_function(FunctionName=function), client("lambda")
    arn = arn["Configuration"]["FunctionArn"]
    lambda_.tag_resource(Resource=arn, Tags={"a": "b"})
    assert lambda_.list_tags(Resource=arn)["Tags"] == {"a": "b"}
    lambda_.untag_resource(Resource=arn, TagKeys=["a"])
    assert lambda_.list_tags(Resource=arn)["Tags"] == {}


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


_PATTERN = {"Filters": [{"Pattern": '{"value": {"a": [{"like": 1}]}}'}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"SelfManagedEventSource": {}},
            "SelfManagedEventSource names no KAFKA_BOOTSTRAP_SERVERS",
        ),
        ({"Topics": ["a", "b"]}, "Topics is ['a', 'b'], expected the name of one topic"),
        ({"BatchSize": 10_001}, "BatchSize is 10001, expected 1 to 10000"),
        (
            {"MaximumBatchingWindowInSeconds": 301},
            "MaximumBatchingWindowInSeconds is 301, expected 0 to 300",
        ),
        (
            {"StartingPosition": "AT_TIMESTAMP"},
            "StartingPositionTimestamp goes with StartingPosition AT_TIMESTAMP only",
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
            {"FilterCriteria": _PATTERN},
            'Invalid filter pattern definition: $.value.a has {"like": 1}, expected one of '
            "anything-but, equals-ignore-case, exists, numeric, prefix, suffix",
        ),
        (
            {"DestinationConfig": {"OnFailure": {"Destination": "kafka://errors"}}},
            "the on-failure destination is 'kafka://errors', expected the ARN of an SQS queue, "
            "an SNS topic or an S3 bucket (Kafka topics are not imitated)",
        ),
        (
            {"SourceAccessConfigurations": [{"Type": "CLIENT_CERTIFICATE_TLS_AUTH", "URI": "x"}]},
            "SourceAccessConfigurations has CLIENT_CERTIFICATE_TLS_AUTH, expected some of "
            "BASIC_AUTH, SASL_SCRAM_256_AUTH, SASL_SCRAM_512_AUTH, SERVER_ROOT_CA_CERTIFICATE, "
            "VPC_SECURITY_GROUP, VPC_SUBNET (what else AWS knows for Kafka is not imitated)",
        ),
        (
            {
                "SourceAccessConfigurations": [
                    {"Type": "BASIC_AUTH", "URI": "x"},
                    {"Type": "SASL_SCRAM_512_AUTH", "URI": "y"},
                ]
            },
            "SourceAccessConfigurations has more than one way to log in",
        ),
    ],
)
def test_what_aws_refuses_is_refused(create, changes, message):
    assert refusal(create, **changes) == ("InvalidParameterValueException", message)


def test_a_position_is_needed(client, function):
    source = {"Endpoints": {"KAFKA_BOOTSTRAP_SERVERS": _NOWHERE}}
    assert refusal(
        client("lambda").create_event_source_mapping,
        FunctionName=function,
        Topics=["t"],
        SelfManagedEventSource=source,
    ) == (
        "InvalidParameterValueException",
        "StartingPosition is None, expected one of TRIM_HORIZON, LATEST, AT_TIMESTAMP",
    )


def test_an_update_is_held_to_the_same_rules(client, create):
    identity = create()["UUID"]
    settle(client, identity)
    code, _ = refusal(
        client("lambda").update_event_source_mapping, UUID=identity, MaximumRetryAttempts=1
    )
    assert code == "InvalidParameterValueException"
    assert "MaximumRetryAttempts" not in settle(client, identity)


def test_a_mapping_of_an_msk_cluster_is_not_imitated(client, function):
    arn = "arn:aws:kafka:eu-central-1:111111111111:cluster/c/abc"
    code, message = refusal(
        client("lambda").create_event_source_mapping, FunctionName=function, EventSourceArn=arn
    )
    assert (code, message) == (
        "InvalidParameterValueException",
        "mappings of MSK clusters are not imitated, use SelfManagedEventSource",
    )


def test_the_provisioned_settings_are_given_back(client, create):
    given = {
        "ProvisionedPollerConfig": {"MinimumPollers": 1, "MaximumPollers": 2},
        "MaximumRetryAttempts": 2,
        "MaximumRecordAgeInSeconds": 60,
        "BisectBatchOnFunctionError": True,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }
    shown = settle(client, create(**given)["UUID"])
    assert {name: shown[name] for name in given} == given


def test_status_tells_mappings_and_functions(client, cloud, create, function):
    invoke(client, function)
    identity = create(Enabled=True, servers=_NOWHERE)["UUID"]
    settle(client, identity)
    status = requests.get(f"{cloud.endpoint}/_localcloud/status", timeout=10).json()
    (mapping,) = [one for one in status["mappings"] if one["uuid"] == identity]
    assert (mapping["function"], mapping["topics"]) == (function, ["orders"])
    assert mapping["result"].startswith("PROBLEM: ")
    _check_process(mapping)
    (told,) = [one for one in status["functions"] if one["name"] == function]
    assert (told["account"], told["region"]) == ("111111111111", "eu-central-1")
    (environment,) = told["environments"]
    assert environment["state"] == "idle"
    _check_process(environment)


def test_status_of_a_mapping_without_a_poller_tells_of_no_process(client, cloud, create):
    identity = create()["UUID"]
    settle(client, identity)
    status = requests.get(f"{cloud.endpoint}/_localcloud/status", timeout=10).json()
    (mapping,) = [one for one in status["mappings"] if one["uuid"] == identity]
    assert (mapping["state"], mapping.get("pid")) == ("Disabled", None)


def _check_process(told):
    """See that what `status` tells of a process is so: no Python is smaller or as quick."""
    assert is_running(told["pid"])
    assert 0.01 <= told["start_seconds"] < 60
    assert 5 <= told["memory_mb"] < 1000


def test_a_role_is_needed_for_a_function(client):
    made = make_role(client)
    assert made.startswith("arn:aws:iam::111111111111:role/")
    with pytest.raises(ClientError, match="cannot be assumed by Lambda"):
        deploy(client, Role="arn:aws:iam::111111111111:role/nobody")
