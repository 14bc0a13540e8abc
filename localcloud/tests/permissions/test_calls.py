"""Which permission each call needs, and in which words each service refuses without it."""

from __future__ import annotations

import re

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, keys_of, trust
from tests.account_ids import CONSUMER
from tests.permissions.calls import ALARM, CALLS, CODES, ELB, GLUE, IAM, JSON, KEY, PREFIXES, TABLE


def _code(error):
    answer = error.value.response
    return answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]}-{call[1]}")
def test_a_call_needs_its_permission(iam, role, acting, call):
    service, operation, params, name, resource = call
    action = f"{PREFIXES.get(service, service)}:{name}"
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
        assert _code(refused) == CODES.get(service, JSON)
    # With the permission it gets further: to an answer, or to an error of the service itself.
    allow_role(role, iam, allow(action))
    try:
        do(**params)
    except ClientError as error:
        assert f"not authorized to perform: {action} " not in f"{error} "


def test_every_table_of_a_batch_needs_the_permission(iam, role, acting):
    allow_role(role, iam, allow("dynamodb:*", TABLE + "mine"))
    batch = {table: {"Keys": [KEY]} for table in ("mine", "others")}
    with pytest.raises(ClientError, match=r"dynamodb:BatchGetItem on resource: .*table/others"):
        acting("dynamodb").batch_get_item(RequestItems=batch)


def test_a_role_is_judged_with_its_path(iam, role, acting):
    iam.create_role(RoleName="apart", Path="/team/", AssumeRolePolicyDocument=trust(CONSUMER))
    allow_role(role, iam, allow("iam:GetRole", f"{IAM}role/apart"))

    with pytest.raises(ClientError, match=f"iam:GetRole on resource: {IAM}role/team/apart "):
        acting("iam").get_role(RoleName="apart")

    allow_role(role, iam, allow("iam:GetRole", f"{IAM}role/team/*"))
    assert acting("iam").get_role(RoleName="apart")["Role"]["Path"] == "/team/"


_TAGS = [{"Key": "k", "Value": "v"}]


@pytest.mark.parametrize(
    ("service", "operation", "params", "action", "needed"),
    [
        ("elbv2", "create_target_group", {"Name": "g", "Tags": _TAGS},
         "elasticloadbalancing:CreateTargetGroup", "elasticloadbalancing:AddTags"),
        ("elbv2", "create_listener",
         {"LoadBalancerArn": ELB + "loadbalancer/net/l/1", "DefaultActions": [], "Tags": _TAGS},
         "elasticloadbalancing:CreateListener",
         f"elasticloadbalancing:AddTags on resource: {ELB}listener/net/l/1/*"),
        ("events", "put_rule", {"Name": "r", "EventPattern": "{}", "Tags": _TAGS},
         "events:PutRule", "events:TagResource"),
        ("cloudwatch", "put_metric_alarm",
         {"AlarmName": "a", "EvaluationPeriods": 1, "ComparisonOperator": "LessThanThreshold",
          "Tags": _TAGS},
         "cloudwatch:PutMetricAlarm", f"cloudwatch:TagResource on resource: {ALARM}a"),
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
    allow_role(role, iam, allow("glue:GetSchema", GLUE + "registry/r"))
    schema = {"RegistryName": "r", "SchemaName": "s"}
    with pytest.raises(ClientError, match=r"glue:GetSchema on resource: .*:schema/r/s because"):
        acting("glue").get_schema(SchemaId=schema)
