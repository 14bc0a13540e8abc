"""Clusters of EMR: what starts them, what their steps do, and how they end."""

from __future__ import annotations

import json
import secrets

import pytest
from botocore.exceptions import ClientError

from localcloud.testing.policies import allow, allow_role, keys_of, make_role, trust
from tests.jobs.clusters import (
    ENDED,
    METRIC,
    bootstrap,
    find_metrics,
    list_steps,
    read_log,
    submit,
    wait_cluster,
    wait_step,
)

_ACCOUNT = "111111111111"
_BOOTSTRAP = """#!/bin/sh
set -e
aws s3 cp --only-show-errors "$1" packages.zip
mkdir -p penstock
python3 -m zipfile -e packages.zip penstock/packages
echo "installed in $HOME"
"""
_MEETS = """
import pathlib, sys, time

home, own, other = map(pathlib.Path, sys.argv[1:])
(home / own).touch()
until = time.monotonic() + 120
while not (home / other).exists():
    if time.monotonic() > until:
        sys.exit("nobody came")
    time.sleep(0.1)
"""
_READS = """
import os, sys
import boto3
from pyspark.sql import SparkSession

def look(folder):
    for does in (lambda: __import__("boto3"), lambda: os.listdir(folder)):
        try:
            yield does() and "found"
        except (ImportError, PermissionError) as error:
            yield type(error).__name__

servers = boto3.client("ssm").get_parameter(Name=sys.argv[1])["Parameter"]["Value"]
spark = SparkSession.builder.getOrCreate()
print(servers, spark.range(5).count(), spark.conf.get("spark.sql.shuffle.partitions"))
print(boto3.client("sts").get_caller_identity()["Arn"])
print(sys.argv[3])
folder = sys.argv[2]
print(*look(folder), os.listdir(folder))
seen = spark.sparkContext.parallelize([1], 1).mapPartitions(lambda _: look(folder)).collect()
print("executor", *seen)
"""


def _start_cluster(client, boto3_parameters, bucket, run):
    """Start a cluster that installs packages, with settings of Spark and a step that fails."""
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
    return run(
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
        Steps=[submit("fails", f"s3://{bucket}/fails.py", ActionOnFailure="CONTINUE")],
    )


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_a_cluster_runs_its_bootstrap_action_and_its_steps(client, boto3_parameters, bucket, run):
    emr = client("emr")
    cluster = _start_cluster(client, boto3_parameters, bucket, run)
    metric = METRIC.format(service="step")
    words = ["--master", "yarn", "--deploy-mode=client", f"s3a://{bucket}/reads.py"]
    step = submit("reads", *words, "/sales/kafka_servers", "/home/hadoop/penstock", metric)
    step |= {"ActionOnFailure": "CONTINUE"}
    reads = emr.add_job_flow_steps(JobFlowId=cluster, Steps=[step])["StepIds"][0]

    ended = wait_step(emr, cluster, reads)
    logs = [f"logs/{cluster}/steps/{reads}/{name}.gz" for name in ("stdout", "stderr")]
    printed, said = (read_log(client, bucket, key) for key in logs)
    assert ended["State"] == "COMPLETED", printed + said
    waiting = wait_cluster(emr, cluster, "WAITING")["StateChangeReason"]
    assert waiting["Message"] == "Cluster ready to run steps."
    instance = emr.list_instances(ClusterId=cluster, InstanceGroupTypes=["MASTER"])["Instances"][0]
    start = f"logs/{cluster}"
    node = f"{start}/node/{instance['Ec2InstanceId']}/bootstrap-actions/1"
    assert "installed in" in read_log(client, bucket, f"{node}/stdout.gz")
    assert "b-1:9098 5 3" in printed
    assert ":assumed-role/role-" in printed
    # Its log goes to S3 alone, so CloudWatch sees no metric in it.
    assert metric in printed
    assert find_metrics(client, "step") == []
    # Containers of YARN run as another user, whose packages are those that the job ships.
    assert "executor ModuleNotFoundError PermissionError" in printed
    assert "found ['packages']" in printed

    _check_failed_step(client, emr, bucket, cluster)
    emr.terminate_job_flows(JobFlowIds=[cluster])
    ended = wait_cluster(emr, cluster, *ENDED)
    assert ended["State"] == "TERMINATED"
    assert ended["StateChangeReason"]["Code"] == "USER_REQUEST"
    with pytest.raises(ClientError, match="may not be modified"):
        emr.add_job_flow_steps(JobFlowId=cluster, Steps=[step])


def _check_failed_step(client, emr, bucket, cluster):
    """Check that the step that failed says where its log is, and how it ended."""
    failed = emr.list_steps(ClusterId=cluster, StepStates=["FAILED"])["Steps"][0]
    logs = f"logs/{cluster}/steps/{failed['Id']}"
    assert failed["Status"]["FailureDetails"]["LogFile"] == f"s3://{bucket}/{logs}/stderr.gz"
    assert "so long" in read_log(client, bucket, f"{logs}/stdout.gz")
    assert "Step failed with exitCode 3" in read_log(client, bucket, f"{logs}/controller.gz")


def test_a_cluster_is_shown_and_listed(emr, bucket, run, profile):
    emr.create_security_configuration(Name=bucket, SecurityConfiguration="{}")
    cluster = run(
        Name=f"shown-{bucket}",
        LogUri=f"s3://{bucket}/logs/",
        SecurityConfiguration=bucket,
        Tags=[{"Key": "team", "Value": "a"}],
        AutoTerminationPolicy={"IdleTimeout": 600},
    )
    emr.add_tags(ResourceId=cluster, Tags=[{"Key": "stage", "Value": "b"}])
    emr.remove_tags(ResourceId=cluster, TagKeys=["team"])
    wait_cluster(emr, cluster, "WAITING")

    found = emr.describe_cluster(ClusterId=cluster)["Cluster"]
    assert found["LogUri"] == f"s3n://{bucket}/logs/"
    assert found["Ec2InstanceAttributes"]["IamInstanceProfile"] == profile
    assert (found["AutoTerminate"], found["TerminationProtected"]) == (False, False)
    assert found["Tags"] == [{"Key": "stage", "Value": "b"}]
    groups = emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]
    shown = [(each["InstanceGroupType"], each["RunningInstanceCount"]) for each in groups]
    assert shown == [("MASTER", 1), ("CORE", 2)]
    assert len(emr.list_instances(ClusterId=cluster)["Instances"]) == 3
    with pytest.raises(ClientError, match="fleets and instance groups are mutually exclusive"):
        emr.list_instance_fleets(ClusterId=cluster)
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
    assert wait_cluster(emr, cluster, "WAITING")


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
    action = bootstrap(f"s3://{bucket}/fails.sh")
    cluster = run(LogUri=f"s3://{bucket}/logs", BootstrapActions=[action])

    ended = wait_cluster(emr, cluster, *ENDED)

    assert ended["State"] == "TERMINATED_WITH_ERRORS"
    assert ended["StateChangeReason"]["Code"] == "BOOTSTRAP_FAILURE"
    message = ended["StateChangeReason"]["Message"]
    assert message.endswith("bootstrap action 1 returned a non-zero return code")
    instance = message.partition("(")[2].partition(")")[0]
    key = f"logs/{cluster}/node/{instance}/bootstrap-actions/1/stderr.gz"
    assert said in read_log(client, bucket, key)


def test_a_step_that_fails_ends_the_cluster_unless_it_says_otherwise(emr, bucket, run):
    missing = f"s3://{bucket}/missing.py"
    steps = [submit("first", missing), submit("second", missing)]
    cluster = run(Steps=steps, Instances={"KeepJobFlowAliveWhenNoSteps": False})

    ended = wait_cluster(emr, cluster, *ENDED)

    assert ended["State"] == "TERMINATED_WITH_ERRORS"
    assert ended["StateChangeReason"]["Code"] == "STEP_FAILURE"
    states = {each["Name"]: each["Status"]["State"] for each in list_steps(emr, cluster)}
    assert states == {"first": "FAILED", "second": "CANCELLED"}


def test_a_step_that_cancels_the_others_leaves_the_cluster_waiting(emr, bucket, run):
    missing = f"s3://{bucket}/missing.py"
    steps = [submit("first", missing, ActionOnFailure="CANCEL_AND_WAIT"), submit("2", missing)]
    cluster = run(Steps=steps)

    assert wait_cluster(emr, cluster, "WAITING")
    assert [each["Status"]["State"] for each in list_steps(emr, cluster)] == ["CANCELLED", "FAILED"]


def test_a_cluster_without_more_steps_ends(emr, bucket, run):
    steps = [submit("first", f"s3://{bucket}/missing.py", ActionOnFailure="CONTINUE")]
    cluster = run(Steps=steps, Instances={"KeepJobFlowAliveWhenNoSteps": False})

    reason = wait_cluster(emr, cluster, *ENDED)["StateChangeReason"]

    assert reason == {"Code": "ALL_STEPS_COMPLETED", "Message": "Steps completed with errors"}


@pytest.mark.spark
def test_steps_that_wait_for_each_other_end_once_two_may_run_at_once(client, emr, bucket, run):
    client("s3").put_object(Bucket=bucket, Key="meets.py", Body=_MEETS)
    meets = [f"s3://{bucket}/meets.py", "/home/hadoop"]
    pairs = {"first": "second", "second": "first"}
    steps = [submit(own, *meets, own, pairs[own], ActionOnFailure="CONTINUE") for own in pairs]
    cluster = run(Steps=steps)
    wait_cluster(emr, cluster, "RUNNING")
    states = {each["Name"]: each["Status"]["State"] for each in list_steps(emr, cluster)}
    assert states == {"first": "RUNNING", "second": "PENDING"}

    answer = emr.modify_cluster(ClusterId=cluster, StepConcurrencyLevel=2)

    assert answer["StepConcurrencyLevel"] == 2
    assert emr.describe_cluster(ClusterId=cluster)["Cluster"]["StepConcurrencyLevel"] == 2
    ends = [wait_step(emr, cluster, each["Id"])["State"] for each in list_steps(emr, cluster)]
    assert ends == ["COMPLETED", "COMPLETED"]
    assert wait_cluster(emr, cluster, "WAITING")


def test_a_step_that_fails_stops_no_other_where_several_may_run(emr, bucket, run):
    steps = [submit(name, f"s3://{bucket}/missing.py") for name in ("1", "2", "3")]
    cluster = run(Steps=steps, StepConcurrencyLevel=2)

    assert wait_cluster(emr, cluster, "WAITING")
    assert [each["Status"]["State"] for each in list_steps(emr, cluster)] == ["FAILED"] * 3


def test_the_number_of_steps_at_once_is_checked(emr, run):
    cluster = run()
    with pytest.raises(ClientError, match=r"between 1 and 256\. Found 0"):
        emr.modify_cluster(ClusterId=cluster, StepConcurrencyLevel=0)
    emr.terminate_job_flows(JobFlowIds=[cluster])
    with pytest.raises(ClientError, match="may not be modified"):
        emr.modify_cluster(ClusterId=cluster, StepConcurrencyLevel=2)


def test_a_step_that_waits_is_cancelled(client, emr, bucket, run):
    client("s3").put_object(Bucket=bucket, Key="slow.sh", Body="#!/bin/sh\nsleep 60\n")
    slow = bootstrap(f"s3://{bucket}/slow.sh")
    cluster = run(Steps=[submit("waits", f"s3://{bucket}/x.py")], BootstrapActions=[slow])
    (step,) = list_steps(emr, cluster)

    asked = {"ClusterId": cluster, "StepIds": [step["Id"], "s-NONE"]}
    answers = emr.cancel_steps(**asked)["CancelStepsInfoList"]

    assert [each["Status"] for each in answers] == ["SUBMITTED", "FAILED"]
    assert list_steps(emr, cluster)[0]["Status"]["State"] == "CANCELLED"


_WRONG = [
    ({"ReleaseLabel": "emr-9.9.9"}, "The supplied release label is invalid: emr-9.9.9"),
    ({"Applications": [{"Name": "Flink"}]}, "Flink is not supported in release emr-spark-8.1.0"),
    ({"ServiceRole": ""}, "ServiceRole is required for creating cluster"),
    ({"JobFlowRole": "nobody"}, "Invalid InstanceProfile: nobody"),
    ({"StepConcurrencyLevel": 257}, "StepConcurrencyLevel must be between 1 and 256. Found 257"),
    (
        {
            "StepConcurrencyLevel": 2,
            "Steps": [submit("s", "s3://b/k.py", ActionOnFailure="TERMINATE_CLUSTER")],
        },
        "ActionOnFailure TERMINATE_CLUSTER of the step s is not valid: .* which needs CONTINUE",
    ),
    ({"CustomAmiId": "ami-1"}, "localcloud does not know CustomAmiId"),
    ({"SecurityConfiguration": "none"}, "Security configuration with name 'none' does not exist"),
    ({"AutoTerminationPolicy": {"IdleTimeout": 59}}, "between 60 seconds and 7 days"),
    ({"Configurations": [{"Classification": "yarn-site"}]}, "not yarn-site"),
    ({"Instances": {"InstanceGroups": []}}, "either instance groups or instance counts"),
    ({"Applications": [], "Steps": [submit("s", "s3://b/k.py")]}, "needs the application Spark"),
    ({"Steps": [submit("s", "--deploy-mode", "cluster", "x")]}, "--deploy-mode is cluster"),
    ({"Steps": [submit("s", "--verbose")]}, "spark-submit has no program"),
    ({"Steps": [submit("s", "-", "x" * 10_209)]}, "has no program"),
    ({"Steps": [submit("s", "-", "x" * 10_210)]}, "cannot exceed a total of 10240 characters"),
    (
        {"Steps": [submit("s", "--conf", "spark.executorEnv.P=/home/hadoop/p", "s3://b/k.py")]},
        "spark.executorEnv.P names /home/hadoop, which containers cannot read: they run as yarn",
    ),
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


def test_a_service_role_without_a_permission_ends_the_cluster(client, emr, run):
    iam, trusted = client("iam"), trust({"Service": "elasticmapreduce.amazonaws.com"})
    role = make_role(iam, trusted, allow("ec2:*"))
    reason = wait_cluster(emr, run(ServiceRole=role), *ENDED)["StateChangeReason"]
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
    cluster = run(Steps=[submit("gone", f"s3://{bucket}/none.py", ActionOnFailure="CONTINUE")])
    wait_cluster(emr, cluster, "WAITING")

    (message,) = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=5)["Messages"]

    detail = json.loads(json.loads(message["Body"])["Message"])["detail"]
    assert (detail["clusterId"], detail["name"], detail["state"]) == (cluster, "gone", "FAILED")
