"""A deploy role that exists is held to its policies, also for what services do in its name."""

from __future__ import annotations

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from localcloud.testing import ECHO, make_zip
from localcloud.testing.policies import allow, allow_role, keys_of, make_role, trust
from tests.vpcs import make_vpc

ACCOUNT = "888888888888"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/deploy"
LINKED = "AWSServiceRoleForElasticLoadBalancing"


@pytest.fixture
def iam(client):
    return client("iam", account=ACCOUNT)


@pytest.fixture
def deploy(iam):
    """The deploy role, created, without any permission."""
    iam.create_role(RoleName="deploy", AssumeRolePolicyDocument=trust(ACCOUNT))
    yield ROLE
    for name in iam.list_role_policies(RoleName="deploy")["PolicyNames"]:
        iam.delete_role_policy(RoleName="deploy", PolicyName=name)
    iam.delete_role(RoleName="deploy")


@pytest.fixture
def acting(client):
    sts = client("sts", account=ACCOUNT)

    def act(service, **options):
        taken = sts.assume_role(RoleArn=ROLE, RoleSessionName="terraform")
        return client(service, **keys_of(taken["Credentials"]), **options)

    return act


def test_a_deploy_role_may_do_everything_until_it_is_created(acting, request):
    acting("sqs").create_queue(QueueName="before")
    deploy = request.getfixturevalue("deploy")

    with pytest.raises(ClientError, match=r"assumed-role/deploy/terraform is not authorized"):
        acting("sqs").create_queue(QueueName="after")

    iam = request.getfixturevalue("iam")
    allow_role(deploy, iam, allow("sqs:CreateQueue"))
    acting("sqs").create_queue(QueueName="after")


def test_a_role_is_passed_with_permission_to_the_service_it_is_for(acting, deploy, iam):
    passed = make_role(iam, trust({"Service": "lambda.amazonaws.com"}))
    function = {
        "FunctionName": "f",
        "Role": passed,
        "Handler": "handler.lambda_handler",
        "Runtime": "python3.13",
        "Code": {"ZipFile": make_zip({"handler.py": ECHO})},
    }
    to_emr = {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}}
    to_lambda = {"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}
    refused = rf"is not authorized to perform: iam:PassRole on resource: {passed}"

    allow_role(deploy, iam, allow("lambda:*"), allow("iam:PassRole", passed, Condition=to_emr))
    with pytest.raises(ClientError, match=refused):
        acting("lambda").create_function(**function)

    allow_role(deploy, iam, allow("lambda:*"), allow("iam:PassRole", passed, Condition=to_lambda))
    acting("lambda").create_function(**function)
    acting("lambda").delete_function(FunctionName="f")


def test_a_service_linked_role_is_created_once_with_the_callers_permission(acting, deploy, iam):
    elb, ec2 = acting("elbv2"), acting("ec2")
    allow_role(deploy, iam, allow("ec2:*"), allow("elasticloadbalancing:*"))
    vpc = make_vpc(ec2, "10.9.0.0/16")
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    balancer = {"Type": "network", "Scheme": "internal", "Subnets": [subnet]}

    with pytest.raises(ClientError, match=rf"iam:CreateServiceLinkedRole on resource: .*{LINKED}"):
        elb.create_load_balancer(Name="one", **balancer)
    names = [role["RoleName"] for role in iam.list_roles()["Roles"]]
    assert LINKED not in names

    named = {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}}
    creating = allow("iam:CreateServiceLinkedRole", Condition=named)
    allow_role(deploy, iam, allow("ec2:*"), allow("elasticloadbalancing:*"), creating)
    elb.create_load_balancer(Name="one", **balancer)
    assert iam.get_role(RoleName=LINKED)["Role"]["Path"].startswith("/aws-service-role/")

    # The next call finds the role.
    allow_role(deploy, iam, allow("elasticloadbalancing:*"))
    elb.create_load_balancer(Name="two", **balancer)


def test_a_vpc_connection_needs_the_linked_role_of_msk_in_its_own_account(acting, deploy, iam):
    allow_role(deploy, iam, allow("kafka:*"))
    place = {"VpcId": "vpc-1", "ClientSubnets": ["subnet-1"], "SecurityGroups": ["sg-1"]}
    cluster = "arn:aws:kafka:eu-central-1:777777777777:cluster/other/11111111-1111"
    linked = r"role/aws-service-role/kafka\.amazonaws\.com/AWSServiceRoleForKafka"

    with pytest.raises(ClientError, match=rf"iam:CreateServiceLinkedRole on resource: .*{linked}"):
        acting("kafka").create_vpc_connection(
            TargetClusterArn=cluster, Authentication="SASL_IAM", **place
        )


@pytest.mark.parametrize("action", ["DeleteAlarms", "DescribeAlarms", "PutMetricAlarm"])
def test_a_scalable_target_needs_the_callers_permission_on_alarms(acting, deploy, iam, action):
    target = {
        "ServiceNamespace": "kafka",
        "ResourceId": f"arn:aws:kafka:eu-central-1:{ACCOUNT}:cluster/c/11111111-1111",
        "ScalableDimension": "kafka:broker-storage:VolumeSize",
    }
    services = allow("application-autoscaling:*"), allow("iam:CreateServiceLinkedRole")
    others = {"DeleteAlarms", "DescribeAlarms", "PutMetricAlarm"} - {action}
    allowed = [*services, *(allow(f"cloudwatch:{each}") for each in others)]
    own = "arn:aws:cloudwatch:*:*:alarm:penstock-*"
    through = {"StringEquals": {"aws:CalledViaLast": "application-autoscaling.amazonaws.com"}}

    allow_role(deploy, iam, *allowed, allow(f"cloudwatch:{action}", own))
    with pytest.raises(ClientError, match=rf"cloudwatch:{action} on resource: .*:alarm:\*? "):
        acting("application-autoscaling").register_scalable_target(**target)

    allow_role(deploy, iam, *allowed, allow(f"cloudwatch:{action}", Condition=through))
    acting("application-autoscaling").register_scalable_target(**target)
    acting("application-autoscaling").deregister_scalable_target(**target)


def test_terraform_may_look_at_the_changes_of_zones_that_it_waits_for(acting, deploy, iam):
    agent = "APN/1.0 HashiCorp/1.0 Terraform/1.11.4 terraform-provider-aws/5.100.0"
    terraform = Config(user_agent=agent)
    zone = {"Name": "waits.example.com", "CallerReference": "once"}
    looks = allow("route53:GetChange", "arn:aws:route53:::change/*")

    allow_role(deploy, iam, allow("route53:CreateHostedZone"))
    with pytest.raises(ClientError, match=r"perform: route53:GetChange on resource: .*:::change/"):
        acting("route53", config=terraform).create_hosted_zone(**zone)

    allow_role(deploy, iam, allow("route53:CreateHostedZone"), looks)
    acting("route53", config=terraform).create_hosted_zone(**zone)


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("get_bucket_encryption", "s3:GetEncryptionConfiguration"),
        ("delete_bucket_lifecycle", "s3:PutLifecycleConfiguration"),
        ("get_public_access_block", "s3:GetBucketPublicAccessBlock"),
        ("get_bucket_notification_configuration", "s3:GetBucketNotification"),
        ("delete_bucket_ownership_controls", "s3:PutBucketOwnershipControls"),
    ],
)
def test_settings_of_buckets_have_iams_own_names(acting, deploy, operation, action):
    with pytest.raises(ClientError, match=f"is not authorized to perform: {action} on resource"):
        getattr(acting("s3"), operation)(Bucket="any")


def test_a_table_with_a_key_needs_a_grant_in_the_callers_name(acting, deploy, iam, client):
    key = client("kms", account=ACCOUNT).create_key()["KeyMetadata"]["Arn"]
    table = {
        "TableName": "encrypted",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key},
    }
    own = allow("dynamodb:*"), allow("kms:DescribeKey", key)
    grants = allow("kms:CreateGrant", key)
    for_services = {"Condition": {"Bool": {"kms:GrantIsForAWSResource": "true"}}}

    allow_role(deploy, iam, allow("dynamodb:*"), grants)
    with pytest.raises(ClientError, match=f"to perform: kms:DescribeKey on resource: {key}"):
        acting("dynamodb").create_table(**table)
    allow_role(deploy, iam, *own)
    with pytest.raises(ClientError, match=f"to perform: kms:CreateGrant on resource: {key}"):
        acting("dynamodb").create_table(**table)
    allow_role(deploy, iam, *own, grants | for_services)
    acting("dynamodb").create_table(**table)
    acting("dynamodb").delete_table(TableName="encrypted")
