"""What the API shows of a mapping that was made, listed, changed or tagged."""

from __future__ import annotations

from localcloud.testing import deploy
from tests.mappings.unconnected import create, function, settle
from tests.refusals import refusal

__all__ = ["create", "function"]


def test_a_created_mapping_is_described(client, create, function):
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


def test_the_group_is_named_after_the_mapping_by_default(create):
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


def test_tags_are_kept(client, create):
    created, lambda_ = create(Tags={"team": "a"}), client("lambda")
    arn = created["EventSourceMappingArn"]
    lambda_.tag_resource(Resource=arn, Tags={"stage": "test"})
    assert lambda_.list_tags(Resource=arn)["Tags"] == {"team": "a", "stage": "test"}
    lambda_.untag_resource(Resource=arn, TagKeys=["team"])
    assert lambda_.list_tags(Resource=arn)["Tags"] == {"stage": "test"}


def test_tags_of_functions_stay_motos(client, function):
    arn, lambda_ = client("lambda").get_function(FunctionName=function), client("lambda")
    arn = arn["Configuration"]["FunctionArn"]
    lambda_.tag_resource(Resource=arn, Tags={"a": "b"})
    assert lambda_.list_tags(Resource=arn)["Tags"] == {"a": "b"}
    lambda_.untag_resource(Resource=arn, TagKeys=["a"])
    assert lambda_.list_tags(Resource=arn)["Tags"] == {}


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
