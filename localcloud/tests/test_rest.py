"""What moto answers, with the gaps closed that Terraform's provider trips on."""

from __future__ import annotations

import json
import urllib.request
import uuid

import pytest
from botocore.exceptions import ClientError

from localcloud.services.secretsmanager.secrets import NextPasswords


def test_a_work_group_without_tags_has_an_empty_list(client):
    athena = client("athena")
    name = f"group-{uuid.uuid4().hex[:8]}"
    athena.create_work_group(Name=name)
    arn = f"arn:aws:athena:eu-central-1:111111111111:workgroup/{name}"
    assert athena.list_tags_for_resource(ResourceARN=arn)["Tags"] == []
    athena.tag_resource(ResourceARN=arn, Tags=[{"Key": "a", "Value": "b"}])
    assert athena.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    with pytest.raises(ClientError, match=f"Athena Resource, {arn}-2 Does Not Exist") as refused:
        athena.list_tags_for_resource(ResourceARN=f"{arn}-2")
    assert refused.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_a_bucket_with_markers_can_be_emptied_once_versions_are_off(client):
    s3 = client("s3")
    bucket = f"bucket-{uuid.uuid4().hex[:8]}"
    s3.create_bucket(
        Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    s3.put_object(Bucket=bucket, Key="k", Body=b"put before versions were kept")
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    s3.delete_object(Bucket=bucket, Key="k")
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Suspended"})
    deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "k"}]})
    assert [entry["Key"] for entry in deleted["Deleted"]] == ["k"]
    s3.delete_bucket(Bucket=bucket)
    with pytest.raises(ClientError, match="404"):
        s3.head_bucket(Bucket=bucket)


def test_policies_of_aws_are_there(client):
    iam = client("iam")
    name = f"role-{uuid.uuid4().hex[:8]}"
    iam.create_role(RoleName=name, AssumeRolePolicyDocument='{"Version": "2012-10-17"}')
    arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaVPCAccessExecutionRole"
    iam.attach_role_policy(RoleName=name, PolicyArn=arn)
    attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    assert [policy["PolicyArn"] for policy in attached] == [arn]
    with pytest.raises(ClientError, match="NoSuchEntity"):
        iam.attach_role_policy(RoleName=name, PolicyArn=arn + "2")


def test_cloudwatch_speaks_the_query_protocol_of_older_clients(cloud, client):
    scope = "Credential=111111111111/20260101/eu-central-1/monitoring/aws4_request"
    body = (
        b"Action=PutMetricAlarm&Version=2010-08-01&AlarmName=by-query&MetricName=m&Namespace=n"
        b"&Period=60&EvaluationPeriods=1&Threshold=1&Statistic=Sum"
        b"&ComparisonOperator=GreaterThanThreshold"
    )
    request = urllib.request.Request(cloud.endpoint, data=body)
    request.add_header("Authorization", f"AWS4-HMAC-SHA256 {scope}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert b"<PutMetricAlarmResponse" in answer.read()
    alarms = client("cloudwatch").describe_alarms(AlarmNames=["by-query"])["MetricAlarms"]
    assert alarms[0]["Threshold"] == 1


@pytest.fixture
def passwords(cloud):
    """What GetRandomPassword answers, random again afterwards."""
    kept = cloud.state(NextPasswords)
    yield kept
    kept.password = None


def test_a_random_password_may_be_set(cloud, client, passwords):
    def set_to(password):
        body = json.dumps({"password": password}).encode()
        url = f"{cloud.endpoint}/_localcloud/set-random-password"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    secrets = client("secretsmanager")
    assert set_to("known-in-advance") == {"random": False}
    assert secrets.get_random_password()["RandomPassword"] == "known-in-advance"
    assert set_to(None) == {"random": True}
    random = secrets.get_random_password(PasswordLength=40)["RandomPassword"]
    assert len(random) == 40
    with pytest.raises(ClientError, match="InvalidParameterException"):
        secrets.get_random_password(PasswordLength=3)
