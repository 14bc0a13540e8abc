"""Endpoint services of the producer: who is connected, who may be, and when they go."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from tests.account_ids import CONSUMER, PRODUCER, STRANGER
from tests.refusals import code_of

ZONE = "services.abc123.c1.kafka.eu-central-1.amazonaws.com"


def test_the_owner_sees_the_connected_accounts(accounts, broker):
    found = accounts.ec2[PRODUCER].describe_vpc_endpoint_connections(
        Filters=[
            {"Name": "service-id", "Values": [broker.service]},
            {"Name": "vpc-endpoint-state", "Values": ["available"]},
        ]
    )["VpcEndpointConnections"]

    assert [(it["VpcEndpointId"], it["VpcEndpointOwner"]) for it in found] == [
        (broker.endpoint, CONSUMER)
    ]
    assert found[0]["NetworkLoadBalancerArns"] == [broker.balancer]
    others = accounts.ec2[PRODUCER].describe_vpc_endpoint_connections(
        Filters=[{"Name": "vpc-endpoint-owner", "Values": [STRANGER]}]
    )
    assert others["VpcEndpointConnections"] == []


def test_an_unknown_filter_is_refused(accounts):
    with pytest.raises(ClientError, match="The filter 'colour' is invalid"):
        accounts.ec2[PRODUCER].describe_vpc_endpoint_connections(
            Filters=[{"Name": "colour", "Values": ["red"]}]
        )


def test_an_added_principal_has_the_same_id_ever_after(accounts, broker):
    principal = f"arn:aws:iam::{STRANGER}:role/reader"

    added = accounts.let_consumer(broker, AddAllowedPrincipals=[principal])["AddedPrincipals"]

    assert [(it["Principal"], it["PrincipalType"]) for it in added] == [(principal, "Role")]
    listed = accounts.ec2[PRODUCER].describe_vpc_endpoint_service_permissions(
        ServiceId=broker.service
    )["AllowedPrincipals"]
    ids = {it["Principal"]: it["ServicePermissionId"] for it in listed}
    assert ids[principal] == added[0]["ServicePermissionId"]
    assert len(set(ids.values())) == 2
    accounts.let_consumer(broker, RemoveAllowedPrincipals=[principal])
    listed = accounts.ec2[PRODUCER].describe_vpc_endpoint_service_permissions(
        ServiceId=broker.service
    )["AllowedPrincipals"]
    assert [it["Principal"] for it in listed] == [f"arn:aws:iam::{CONSUMER}:root"]


def test_a_principal_must_be_one(accounts, broker):
    with pytest.raises(ClientError, match="Invalid Principal: somebody") as refused:
        accounts.let_consumer(broker, AddAllowedPrincipals=["somebody"])

    assert code_of(refused) == "InvalidPrincipal"


@pytest.mark.parametrize("verb", ["modify", "describe"])
def test_an_unknown_service_has_no_permissions(accounts, verb):
    call = getattr(accounts.ec2[PRODUCER], f"{verb}_vpc_endpoint_service_permissions")

    with pytest.raises(ClientError) as refused:
        call(ServiceId="vpce-svc-0")

    assert code_of(refused) == "InvalidVpcEndpointServiceId.NotFound"


def test_a_service_in_use_is_not_deleted(accounts, broker):
    call = accounts.ec2[PRODUCER].delete_vpc_endpoint_service_configurations

    failed = call(ServiceIds=[broker.service])["Unsuccessful"]

    assert failed[0]["Error"]["Code"] == "ExistingVpcEndpointConnections"
    assert call(ServiceIds=["vpce-svc-0"])["Unsuccessful"][0]["ResourceId"] == "vpce-svc-0"


def test_a_service_out_of_use_is_deleted(accounts, broker):
    ec2 = accounts.ec2[PRODUCER]
    made = ec2.create_vpc_endpoint_service_configuration(
        NetworkLoadBalancerArns=[broker.balancer], AcceptanceRequired=False
    )["ServiceConfiguration"]["ServiceId"]

    assert ec2.delete_vpc_endpoint_service_configurations(ServiceIds=[made])["Unsuccessful"] == []

    with pytest.raises(ClientError):
        ec2.describe_vpc_endpoint_service_configurations(ServiceIds=[made])


@pytest.fixture
def topic(client):
    """A topic that endpoint services of the producer may publish to."""
    return NoticeTopic(lambda service: client(service, PRODUCER))


class NoticeTopic:
    """An encrypted topic with a queue that gets its messages."""

    def __init__(self, made):
        self._made = made
        key = made("kms").create_key(Policy=self._policy("kms:*", "vpce.amazonaws.com"))
        self._key = key["KeyMetadata"]["KeyId"]
        attributes = {
            "KmsMasterKeyId": self._key,
            "Policy": self._policy(
                "sns:Publish",
                "vpce.amazonaws.com",
                ArnLike={"aws:SourceArn": f"arn:aws:ec2:*:{PRODUCER}:vpc-endpoint-service/*"},
                StringEquals={"aws:SourceAccount": PRODUCER},
            ),
        }
        self.arn = made("sns").create_topic(Name=f"endpoints-{self._key}", Attributes=attributes)[
            "TopicArn"
        ]
        self._queue = made("sqs").create_queue(QueueName=self._key)["QueueUrl"]
        queue = f"arn:aws:sqs:eu-central-1:{PRODUCER}:{self._key}"
        made("sns").subscribe(TopicArn=self.arn, Protocol="sqs", Endpoint=queue)

    def _policy(self, action, service, **condition):
        own = {"Principal": {"AWS": f"arn:aws:iam::{PRODUCER}:root"}}
        other = {"Principal": {"Service": service}, "Condition": condition}
        common = {"Effect": "Allow", "Action": action, "Resource": "*"}
        return json.dumps({"Version": "2012-10-17", "Statement": [common | own, common | other]})

    def let_use_key(self, service):
        policy = self._policy("kms:*", service)
        self._made("kms").put_key_policy(KeyId=self._key, PolicyName="default", Policy=policy)

    def events(self):
        got = self._made("sqs").receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10)
        bodies = [json.loads(each["Body"])["Message"] for each in got.get("Messages", [])]
        return [(told["event"], told["vpcEndpointId"]) for told in map(json.loads, bodies)]


def test_a_rejected_endpoint_is_published(accounts, broker, topic):
    ec2, asked = accounts.ec2[PRODUCER], {"ServiceId": broker.service}
    made = ec2.create_vpc_endpoint_connection_notification(
        **asked, ConnectionNotificationArn=topic.arn, ConnectionEvents=["Reject"]
    )["ConnectionNotification"]
    endpoint = {"VpcEndpointIds": [broker.endpoint]}

    ec2.reject_vpc_endpoint_connections(**asked, **endpoint)
    ec2.accept_vpc_endpoint_connections(**asked, **endpoint)

    assert topic.events() == [("Reject", broker.endpoint)]
    one = {"ConnectionNotificationId": made["ConnectionNotificationId"]}
    ec2.modify_vpc_endpoint_connection_notification(**one, ConnectionEvents=["Accept"])
    shown = ec2.describe_vpc_endpoint_connection_notifications(**one)["ConnectionNotificationSet"]
    assert [each["ConnectionEvents"] for each in shown] == [["Accept"]]
    ec2.delete_vpc_endpoint_connection_notifications(ConnectionNotificationIds=[*one.values()])
    with pytest.raises(ClientError, match="does not exist"):
        ec2.describe_vpc_endpoint_connection_notifications(**one)


def test_a_notification_needs_a_topic_whose_key_lets_the_service_in(accounts, broker, topic):
    topic.let_use_key("cloudwatch.amazonaws.com")
    with pytest.raises(ClientError, match=r"key/.* does not allow vpce\.amazonaws\.com kms:Gen"):
        accounts.ec2[PRODUCER].create_vpc_endpoint_connection_notification(
            ServiceId=broker.service,
            ConnectionNotificationArn=topic.arn,
            ConnectionEvents=["Reject"],
        )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ServiceId": "vpce-svc-0"}, "'vpce-svc-0' does not exist"),
        ({"VpcEndpointId": "vpce-0"}, "localcloud has notifications of services only"),
        ({"ConnectionEvents": ["Delete"]}, "the events Accept, Connect, Reject, not Delete"),
    ],
    ids=["unknown service", "an endpoint's", "unknown event"],
)
def test_a_notification_that_would_never_come_is_refused(accounts, broker, topic, asked, said):
    given = {"ServiceId": broker.service, "ConnectionEvents": ["Reject"]} | asked
    if "VpcEndpointId" in asked:
        del given["ServiceId"]
    with pytest.raises(ClientError, match=said):
        accounts.ec2[PRODUCER].create_vpc_endpoint_connection_notification(
            ConnectionNotificationArn=topic.arn, **given
        )
