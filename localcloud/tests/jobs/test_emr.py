"""Clusters of EMR: what starts them, what their steps do, and how they end."""

from __future__ import annotations

import gzip
import json
import secrets

import pytest
from botocore.exceptions import ClientError

from localcloud.tests.policy_documents import allow, allow_role, keys_of, make_role, trust
from tests.fixtures.functions import wait_until

_ACCOUNT = "111111111111"
_SECONDS = 300
_ENDED = ("TERMINATED", "TERMINATED_WITH_ERRORS")
_APPLICATIONS = [{"Name": "Spark"}]
_BOOTSTRAP = """#!/bin/sh
set -e
aws s3 cp --only-show-errors "$1" packages.zip
mkdir -p penstock
python3 -m zipfile -e packages.zip penstock/packages
echo "installed in $HOME"
"""
_READS = """
import sys
import boto3
from pyspark.sql import SparkSession
servers = boto3.client("ssm").get_parameter(Name=sys.argv[1])["Parameter"]["Value"]
spark = SparkSession.builder.getOrCreate()
print(servers, spark.range(5).count(), spark.conf.get("spark.sql.shuffle.partitions"))
print(boto3.client("sts").get_caller_identity()["Arn"])
"""


@pytest.fixture(scope="module")
def emr(client):
    return client("emr")


@pytest.fixture(scope="module")
def bucket(client):
    name = f"emr-{secrets.token_hex(4)}"
    place = {"LocationConstraint": "eu-central-1"}
    client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=place)
    return name


@pytest.fixture(scope="module")
def profile(client):
    """An instance profile whose role may use the buckets and the parameters of one path."""
    iam, name = client("iam"), f"emr-{secrets.token_hex(4)}"
    role = make_role(
        iam,
        trust({"Service": "ec2.amazonaws.com"}),
        allow("s3:*"),
        allow("ssm:GetParameter", f"arn:aws:ssm:eu-central-1:{_ACCOUNT}:parameter/sales/*"),
    )
    iam.create_instance_profile(InstanceProfileName=name)
    made = {"InstanceProfileName": name, "RoleName": role.rpartition("/")[2]}
    iam.add_role_to_instance_profile(**made)
    return name


@pytest.fixture(scope="module")
def service_role(client):
    """A service role that may do what EMR needs."""
    iam = client("iam")
    trusted = trust({"Service": "elasticmapreduce.amazonaws.com"})
    return make_role(iam, trusted, allow("ec2:*"), allow("iam:PassRole"))


@pytest.fixture
def run(emr, profile, service_role):
    """Start clusters with one primary and two core nodes; all are ended after the test."""
    made = []

    def start(**given):
        instances = {
            "InstanceGroups": [
                {"InstanceRole": "MASTER", "InstanceType": "m7g.xlarge", "InstanceCount": 1},
                {"InstanceRole": "CORE", "InstanceType": "m7g.xlarge", "InstanceCount": 2},
            ],
            "KeepJobFlowAliveWhenNoSteps": True,
        } | given.pop("Instances", {})
        asked = {
            "Name": "sales",
            "ReleaseLabel": "emr-spark-8.1.0",
            "Applications": _APPLICATIONS,
            "JobFlowRole": profile,
            "ServiceRole": service_role,
            "Instances": instances,
        } | given
        made.append(emr.run_job_flow(**asked)["JobFlowId"])
        return made[-1]

    yield start
    left = [each for each in made if _state(emr, each) not in _ENDED]
    emr.set_termination_protection(JobFlowIds=left or made[-1:], TerminationProtected=False)
    emr.terminate_job_flows(JobFlowIds=left or made[-1:])


def _state(emr, cluster):
    return emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]["State"]


def _wait(emr, cluster, *states):
    def reached():
        status = emr.describe_cluster(ClusterId=cluster)["Cluster"]["Status"]
        return status if status["State"] in states else None

    return wait_until(f"{states} of {cluster}", reached, _SECONDS)


def _submit(name, *words, **given):
    step = {"Jar": "command-runner.jar", "Args": ["spark-submit", *words]}
    return {"Name": name, "HadoopJarStep": step} | given


def _bootstrap(path, *args):
    return {"Name": "packages", "ScriptBootstrapAction": {"Path": path, "Args": list(args)}}


def _wait_step(emr, cluster, step):
    def ended():
        status = emr.describe_step(ClusterId=cluster, StepId=step)["Step"]["Status"]
        return status if status["State"] in {"COMPLETED", "FAILED", "CANCELLED"} else None

    return wait_until(f"the end of {step}", ended, _SECONDS)


def _read(client, bucket, key):
    body = client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return gzip.decompress(body).decode()


@pytest.mark.spark
@pytest.mark.timeout(400)
def test_a_cluster_runs_its_bootstrap_action_and_its_steps(client, boto3_parameters, bucket, run):
    emr = client("emr")
    client("ssm").put_parameter(Name="/sales/kafka_servers", Value="b-1:9098", Type="String")
    put = client("s3").put_object
    put(Bucket=bucket, Key="bootstrap.sh", Body=_BOOTSTRAP)
    put(Bucket=bucket, Key="reads.py", Body=_READS)
    put(Bucket=bucket, Key="fails.py", Body="import sys\nprint('so long')\nsys.exit(3)\n")
    packages = boto3_parameters.split()[1].partition("#")[0]
    exported = {
        "AWS_DEFAULT_REGION": "eu-central-1",
        "PYTHONPATH": "/home/hadoop/penstock/packages",
    }
    cluster = run(
        LogUri=f"s3://{bucket}/logs/",
        BootstrapActions=[
            {
                "Name": "packages",
                "ScriptBootstrapAction": {
                    "Path": f"s3://{bucket}/bootstrap.sh",
                    "Args": [packages],
                },
            }
        ],
        Configurations=[
            {
                "Classification": "spark-env",
                "Configurations": [{"Classification": "export", "Properties": exported}],
            },
            {
                "Classification": "spark-defaults",
                "Properties": {"spark.sql.shuffle.partitions": "3"},
            },
        ],
        Steps=[_submit("fails", f"s3://{bucket}/fails.py", ActionOnFailure="CONTINUE")],
    )
    words = ["--master", "yarn", "--deploy-mode=client", f"s3a://{bucket}/reads.py"]
    step = _submit("reads", *words, "/sales/kafka_servers", ActionOnFailure="CONTINUE")
    reads = emr.add_job_flow_steps(JobFlowId=cluster, Steps=[step])["StepIds"][0]

    ended = _wait_step(emr, cluster, reads)
    logs = [f"logs/{cluster}/steps/{reads}/{name}.gz" for name in ("stdout", "stderr")]
    printed, said = (_read(client, bucket, key) for key in logs)
    assert ended["State"] == "COMPLETED", printed + said
    assert _wait(emr, cluster, "WAITING")["StateChangeReason"]["Message"].startswith("Cluster rea")
    instance = emr.list_instances(ClusterId=cluster, InstanceGroupTypes=["MASTER"])["Instances"][0]
    start = f"logs/{cluster}"
    node = f"{start}/node/{instance['Ec2InstanceId']}/bootstrap-actions/1"
    assert "installed in" in _read(client, bucket, f"{node}/stdout.gz")
    assert "b-1:9098 5 3" in printed
    assert ":assumed-role/role-" in printed

    failed = emr.list_steps(ClusterId=cluster, StepStates=["FAILED"])["Steps"][0]
    log = failed["Status"]["FailureDetails"]["LogFile"]
    assert log == f"s3://{bucket}/{start}/steps/{failed['Id']}/stderr.gz"
    assert "so long" in _read(client, bucket, f"{start}/steps/{failed['Id']}/stdout.gz")
    controller = _read(client, bucket, f"{start}/steps/{failed['Id']}/controller.gz")
    assert "Step failed with exitCode 3" in controller

    emr.terminate_job_flows(JobFlowIds=[cluster])
    ended = _wait(emr, cluster, *_ENDED)
    assert ended["State"] == "TERMINATED"
    assert ended["StateChangeReason"]["Code"] == "USER_REQUEST"
    with pytest.raises(ClientError, match="may not be modified"):
        emr.add_job_flow_steps(JobFlowId=cluster, Steps=[step])


def test_a_cluster_is_shown_and_listed(emr, bucket, run, profile):
    cluster = run(
        Name=f"shown-{bucket}",
        LogUri=f"s3://{bucket}/logs/",
        Tags=[{"Key": "team", "Value": "a"}],
        AutoTerminationPolicy={"IdleTimeout": 600},
    )
    emr.add_tags(ResourceId=cluster, Tags=[{"Key": "stage", "Value": "b"}])
    emr.remove_tags(ResourceId=cluster, TagKeys=["team"])
    _wait(emr, cluster, "WAITING")

    found = emr.describe_cluster(ClusterId=cluster)["Cluster"]
    assert found["LogUri"] == f"s3n://{bucket}/logs/"
    assert found["Ec2InstanceAttributes"]["IamInstanceProfile"] == profile
    assert (found["AutoTerminate"], found["TerminationProtected"]) == (False, False)
    assert found["Tags"] == [{"Key": "stage", "Value": "b"}]
    groups = emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]
    shown = [(each["InstanceGroupType"], each["RunningInstanceCount"]) for each in groups]
    assert shown == [("MASTER", 1), ("CORE", 2)]
    assert len(emr.list_instances(ClusterId=cluster)["Instances"]) == 3
    policy = emr.get_auto_termination_policy(ClusterId=cluster)["AutoTerminationPolicy"]
    assert policy == {"IdleTimeout": 600}
    emr.remove_auto_termination_policy(ClusterId=cluster)
    assert "AutoTerminationPolicy" not in emr.get_auto_termination_policy(ClusterId=cluster)
    listed = emr.list_clusters(ClusterStates=["WAITING"])["Clusters"]
    assert f"shown-{bucket}" in [each["Name"] for each in listed]
    assert emr.list_bootstrap_actions(ClusterId=cluster)["BootstrapActions"] == []


def test_a_protected_cluster_is_not_terminated(emr, run):
    cluster = run(Instances={"TerminationProtected": True})
    with pytest.raises(ClientError, match="since they are termination protected"):
        emr.terminate_job_flows(JobFlowIds=[cluster])
    assert _wait(emr, cluster, "WAITING")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\nsudo yum install jq", "localcloud does not run sudo in a bootstrap action"),
        ("#!/bin/sh\npip3 install boto3", "localcloud does not run pip3 in a bootstrap action"),
        ("#!/bin/sh\nexit 7", ""),
    ],
)
def test_a_bootstrap_action_that_fails_ends_the_cluster(client, bucket, run, script, said):
    emr = client("emr")
    client("s3").put_object(Bucket=bucket, Key="fails.sh", Body=script)
    action = _bootstrap(f"s3://{bucket}/fails.sh")
    cluster = run(LogUri=f"s3://{bucket}/logs", BootstrapActions=[action])

    ended = _wait(emr, cluster, *_ENDED)

    assert ended["State"] == "TERMINATED_WITH_ERRORS"
    assert ended["StateChangeReason"]["Code"] == "BOOTSTRAP_FAILURE"
    message = ended["StateChangeReason"]["Message"]
    assert message.endswith("bootstrap action 1 returned a non-zero return code")
    instance = message.partition("(")[2].partition(")")[0]
    key = f"logs/{cluster}/node/{instance}/bootstrap-actions/1/stderr.gz"
    assert said in _read(client, bucket, key)


def test_a_step_that_fails_ends_the_cluster_unless_it_says_otherwise(emr, bucket, run):
    missing = f"s3://{bucket}/missing.py"
    steps = [_submit("first", missing), _submit("second", missing)]
    cluster = run(Steps=steps, Instances={"KeepJobFlowAliveWhenNoSteps": False})

    ended = _wait(emr, cluster, *_ENDED)

    assert ended["State"] == "TERMINATED_WITH_ERRORS"
    assert ended["StateChangeReason"]["Code"] == "STEP_FAILURE"
    states = {each["Name"]: each["Status"]["State"] for each in _steps(emr, cluster)}
    assert states == {"first": "FAILED", "second": "CANCELLED"}


def test_a_step_that_cancels_the_others_leaves_the_cluster_waiting(emr, bucket, run):
    missing = f"s3://{bucket}/missing.py"
    steps = [_submit("first", missing, ActionOnFailure="CANCEL_AND_WAIT"), _submit("2", missing)]
    cluster = run(Steps=steps)

    assert _wait(emr, cluster, "WAITING")
    assert [each["Status"]["State"] for each in _steps(emr, cluster)] == ["CANCELLED", "FAILED"]


def test_a_cluster_without_more_steps_ends(emr, bucket, run):
    steps = [_submit("first", f"s3://{bucket}/missing.py", ActionOnFailure="CONTINUE")]
    cluster = run(Steps=steps, Instances={"KeepJobFlowAliveWhenNoSteps": False})

    reason = _wait(emr, cluster, *_ENDED)["StateChangeReason"]

    assert reason == {"Code": "ALL_STEPS_COMPLETED", "Message": "Steps completed with errors"}


def _steps(emr, cluster):
    return emr.list_steps(ClusterId=cluster)["Steps"]


def test_a_step_that_waits_is_cancelled(client, emr, bucket, run):
    client("s3").put_object(Bucket=bucket, Key="slow.sh", Body="#!/bin/sh\nsleep 60\n")
    slow = _bootstrap(f"s3://{bucket}/slow.sh")
    cluster = run(Steps=[_submit("waits", f"s3://{bucket}/x.py")], BootstrapActions=[slow])
    (step,) = _steps(emr, cluster)

    asked = {"ClusterId": cluster, "StepIds": [step["Id"], "s-NONE"]}
    answers = emr.cancel_steps(**asked)["CancelStepsInfoList"]

    assert [each["Status"] for each in answers] == ["SUBMITTED", "FAILED"]
    assert _steps(emr, cluster)[0]["Status"]["State"] == "CANCELLED"


_WRONG = [
    ({"ReleaseLabel": "emr-9.9.9"}, "The supplied release label is invalid: emr-9.9.9"),
    ({"Applications": [{"Name": "Flink"}]}, "Flink is not supported in release emr-spark-8.1.0"),
    ({"ServiceRole": ""}, "ServiceRole is required for creating cluster"),
    ({"JobFlowRole": "nobody"}, "Invalid InstanceProfile: nobody"),
    ({"StepConcurrencyLevel": 2}, "localcloud runs one step at a time"),
    ({"CustomAmiId": "ami-1"}, "localcloud does not know CustomAmiId"),
    ({"SecurityConfiguration": "none"}, "Security configuration with name 'none' does not exist"),
    ({"AutoTerminationPolicy": {"IdleTimeout": 59}}, "between 60 seconds and 7 days"),
    ({"Configurations": [{"Classification": "yarn-site"}]}, "not yarn-site"),
    ({"Instances": {"InstanceGroups": []}}, "either instance groups or instance counts"),
    ({"Applications": [], "Steps": [_submit("s", "s3://b/k.py")]}, "needs the application Spark"),
    ({"Steps": [_submit("s", "--deploy-mode", "cluster", "x")]}, "--deploy-mode is cluster"),
    ({"Steps": [_submit("s", "--verbose")]}, "spark-submit has no program"),
    (
        {"Steps": [{"Name": "s", "HadoopJarStep": {"Jar": "s3://b/my.jar"}}]},
        "localcloud runs steps of command-runner.jar with spark-submit",
    ),
]


@pytest.mark.parametrize(("given", "said"), _WRONG)
def test_a_cluster_that_cannot_run_is_refused(run, given, said):
    with pytest.raises(ClientError, match=said) as refused:
        run(**given)
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_an_unknown_cluster_or_step_is_refused(emr, run):
    with pytest.raises(ClientError, match="Cluster id 'j-NONE' is not valid"):
        emr.describe_cluster(ClusterId="j-NONE")
    with pytest.raises(ClientError, match="Specified job flow ID does not exist"):
        emr.terminate_job_flows(JobFlowIds=["j-NONE"])
    with pytest.raises(ClientError, match="Step id 's-NONE' is not valid"):
        emr.describe_step(ClusterId=run(), StepId="s-NONE")


@pytest.fixture
def network(client):
    """A subnet, and security groups for the primary node and for the access of the service."""
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.77.0.0/24")["Subnet"]["SubnetId"]
    groups = [
        ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc)["GroupId"]
        for name in ("nodes", "access")
    ]
    return subnet, *groups


def test_a_private_cluster_needs_the_access_of_the_service(client, emr, run, network):
    subnet, nodes, access = network
    managed = ("EmrManagedMasterSecurityGroup", "EmrManagedSlaveSecurityGroup")
    place = {"Ec2SubnetId": subnet} | dict.fromkeys(managed, nodes)

    def end(**given):
        found = _wait(emr, run(Instances=place | given), "WAITING", *_ENDED)
        return found["State"], found["StateChangeReason"].get("Message", "")

    assert "must also specify a ServiceAccessSecurityGroup" in end()[1]
    state, said = end(ServiceAccessSecurityGroup=access)
    assert (state, said.partition(" from ")[0]) == (
        "TERMINATED_WITH_ERRORS",
        "ServiceAccessSecurityGroup is missing ingress rule",
    )
    pair = {"IpProtocol": "tcp", "FromPort": 9443, "ToPort": 9443}
    rule = pair | {"UserIdGroupPairs": [{"GroupId": nodes}]}
    client("ec2").authorize_security_group_ingress(GroupId=access, IpPermissions=[rule])
    assert end(ServiceAccessSecurityGroup=access)[0] == "WAITING"
    assert "The subnet 'subnet-1' does not exist" in end(Ec2SubnetId="subnet-1")[1]


def test_a_service_role_without_a_permission_ends_the_cluster(client, emr, run):
    iam, trusted = client("iam"), trust({"Service": "elasticmapreduce.amazonaws.com"})
    role = make_role(iam, trusted, allow("ec2:*"))
    reason = _wait(emr, run(ServiceRole=role), *_ENDED)["StateChangeReason"]
    assert reason["Code"] == "VALIDATION_ERROR"
    assert "has insufficient EC2 permissions: iam:PassRole on arn:aws:iam::" in reason["Message"]


def test_starting_a_cluster_passes_two_roles(client, profile, service_role):
    iam, sts = client("iam"), client("sts")
    caller = make_role(iam, trust(_ACCOUNT))
    named = client("iam").get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]
    node_role = named["Roles"][0]["Arn"]
    asked = {
        "Name": "n",
        "ReleaseLabel": "emr-7.9.0",
        "JobFlowRole": profile,
        "ServiceRole": service_role,
        "Instances": {"MasterInstanceType": "m7g.xlarge", "InstanceCount": 1},
    }
    rights = [allow(["elasticmapreduce:RunJobFlow", "iam:CreateServiceLinkedRole"])]
    for role, service in ((service_role, "elasticmapreduce"), (node_role, "ec2")):
        allow_role(caller, iam, *rights)
        keys = keys_of(sts.assume_role(RoleArn=caller, RoleSessionName="run")["Credentials"])
        with pytest.raises(ClientError, match=f"perform: iam:PassRole on resource: {role}"):
            client("emr", **keys).run_job_flow(**asked)
        condition = {"StringEquals": {"iam:PassedToService": f"{service}.amazonaws.com"}}
        rights.append(allow("iam:PassRole", role, Condition=condition))
    allow_role(caller, iam, *rights)
    assert client("emr", **keys).run_job_flow(**asked)["JobFlowId"].startswith("j-")


def test_a_change_of_a_step_is_an_event(client, emr, bucket, run):
    sns, sqs, events = client("sns"), client("sqs"), client("events")
    topic = sns.create_topic(Name=f"emr-{secrets.token_hex(4)}")["TopicArn"]
    publish = allow("sns:Publish", topic, Principal={"Service": "events.amazonaws.com"})
    policy = json.dumps({"Version": "2012-10-17", "Statement": [publish]})
    sns.set_topic_attributes(TopicArn=topic, AttributeName="Policy", AttributeValue=policy)
    queue = sqs.create_queue(QueueName=f"emr-{secrets.token_hex(4)}")["QueueUrl"]
    arn = f"arn:aws:sqs:eu-central-1:{_ACCOUNT}:{queue.rpartition('/')[2]}"
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    rule, pattern = f"emr-{secrets.token_hex(4)}", {"source": ["aws.emr"]}
    pattern["detail"] = {"state": ["FAILED"]}
    events.put_rule(Name=rule, EventPattern=json.dumps(pattern))
    events.put_targets(Rule=rule, Targets=[{"Id": "1", "Arn": topic}])
    cluster = run(Steps=[_submit("gone", f"s3://{bucket}/none.py", ActionOnFailure="CONTINUE")])
    _wait(emr, cluster, "WAITING")

    (message,) = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)["Messages"]

    detail = json.loads(json.loads(message["Body"])["Message"])["detail"]
    assert (detail["clusterId"], detail["name"], detail["state"]) == (cluster, "gone", "FAILED")
