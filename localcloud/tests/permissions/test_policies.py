"""What decides beside an allow: denies, boundaries, sessions, conditions and the role's end."""

from __future__ import annotations

import uuid

import pytest
from botocore.exceptions import ClientError

from localcloud.errors import UndecidablePolicyError
from localcloud.identity.permissions import may
from localcloud.testing.policies import allow, allow_role, document, keys_of
from tests.account_ids import CONSUMER


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


def test_managed_policies_limit_a_session(client, iam, role):
    allow_role(role, iam, allow("*"))
    arns = [
        {
            "arn": iam.create_policy(PolicyName=name, PolicyDocument=document(statement))["Policy"][
                "Arn"
            ]
        }
        for name, statement in ((uuid.uuid4().hex, allow(each)) for each in ("sns:*", "kms:*"))
    ]
    keys = client("sts", account=CONSUMER).assume_role(
        RoleArn=role, RoleSessionName="run", PolicyArns=arns
    )["Credentials"]
    assert client("sns", **keys_of(keys)).list_topics()
    assert client("kms", **keys_of(keys)).list_keys()
    with pytest.raises(ClientError, match="not authorized to perform: sqs:ListQueues"):
        client("sqs", **keys_of(keys)).list_queues()


def _queue_for(client, principal):
    """A queue whose policy lets a principal send."""
    sqs = client("sqs", account=CONSUMER)
    url = sqs.create_queue(QueueName=uuid.uuid4().hex)["QueueUrl"]
    policy = document(allow("sqs:SendMessage", Principal={"AWS": principal}))
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    return url


@pytest.mark.parametrize("limit", ["boundary", "session"])
def test_a_resource_policy_that_names_the_role_does_not_lift_its_limits(client, iam, role, limit):
    name, more = role.rpartition("/")[2], {}
    url = _queue_for(client, role)
    if limit == "session":
        more["Policy"] = document(allow("sns:*"))
    else:
        only = iam.create_policy(PolicyName=name, PolicyDocument=document(allow("sns:*")))["Policy"]
        iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=only["Arn"])
    keys = client("sts", account=CONSUMER).assume_role(RoleArn=role, RoleSessionName="run", **more)[
        "Credentials"
    ]
    sqs = client("sqs", **keys_of(keys))
    with pytest.raises(ClientError, match="not authorized to perform: sqs:SendMessage"):
        sqs.send_message(QueueUrl=url, MessageBody="x")
    session = f"arn:aws:sts::{CONSUMER}:assumed-role/{name}/run"
    assert sqs.send_message(QueueUrl=_queue_for(client, session), MessageBody="x")


def test_a_resource_policy_that_names_the_role_is_enough_without_limits(client, acting, role):
    assert acting("sqs").send_message(QueueUrl=_queue_for(client, role), MessageBody="x")


def test_a_role_that_was_deleted_may_nothing(iam, acting, role):
    allow_role(role, iam, allow("*"))
    sqs = acting("sqs")
    iam.delete_role_policy(RoleName=role.rpartition("/")[2], PolicyName="inline")
    iam.delete_role(RoleName=role.rpartition("/")[2])
    with pytest.raises(ClientError, match="not authorized to perform: sqs:ListQueues"):
        sqs.list_queues()


def test_an_undecidable_condition_denies_and_is_named(iam, acting, role):
    strange = {"StringEquals": {"aws:PrincipalAccount": "${aws:username}"}}
    allow_role(role, iam, allow("sqs:*", Condition=strange))
    with pytest.raises(ClientError, match=r"know the policy variable \${aws:username}: sqs:Lis"):
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
