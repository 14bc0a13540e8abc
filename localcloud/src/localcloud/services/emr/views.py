"""Clusters and steps as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from localcloud.jobs import RunState
from localcloud.services.emr.model import Cluster, Step

_AS_ASKED = (
    *("Applications", "Configurations", "EbsRootVolumeSize", "LogEncryptionKmsKeyId", "Name"),
    *("ReleaseLabel", "SecurityConfiguration", "ServiceRole"),
)
_NETWORK = (
    *("AdditionalMasterSecurityGroups", "AdditionalSlaveSecurityGroups", "Ec2KeyName"),
    *("EmrManagedMasterSecurityGroup", "EmrManagedSlaveSecurityGroup"),
    "ServiceAccessSecurityGroup",
)
_STEP_STATES = {
    RunState.SUBMITTED: "PENDING",
    RunState.PENDING: "RUNNING",
    RunState.SCHEDULED: "RUNNING",
    RunState.RUNNING: "RUNNING",
    RunState.SUCCESS: "COMPLETED",
    RunState.FAILED: "FAILED",
    RunState.CANCELLING: "CANCEL_PENDING",
    RunState.CANCELLED: "CANCELLED",
}
_INSTANCE_STATES = {
    "STARTING": "PROVISIONING",
    "BOOTSTRAPPING": "BOOTSTRAPPING",
    "RUNNING": "RUNNING",
    "WAITING": "RUNNING",
}


def sum_up_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return a cluster as lists show it."""
    return {
        "Id": cluster.id,
        "Name": cluster.asked["Name"],
        "Status": {
            "State": cluster.state,
            "StateChangeReason": cluster.reason.show(),
            "Timeline": _timeline(cluster),
        },
        "NormalizedInstanceHours": 0,
        "ClusterArn": cluster.arn,
    }


def show_cluster(cluster: Cluster) -> dict[str, Any]:
    """Return a cluster as DescribeCluster shows it."""
    asked, instances = cluster.asked, cluster.asked["Instances"]
    network: dict[str, Any] = {n: instances[n] for n in _NETWORK if instances.get(n)}
    network["IamInstanceProfile"] = asked["JobFlowRole"]
    if cluster.place.subnets:
        network["Ec2SubnetId"] = cluster.place.subnets[0]
        network["RequestedEc2SubnetIds"] = list(cluster.place.subnets)
    shown = {
        **{name: asked[name] for name in _AS_ASKED if name in asked},
        **sum_up_cluster(cluster),
        "Ec2InstanceAttributes": network,
        "InstanceCollectionType": "INSTANCE_GROUP",
        "AutoTerminate": not cluster.keeps_alive,
        "TerminationProtected": cluster.protected,
        "VisibleToAllUsers": asked.get("VisibleToAllUsers", True),
        "ScaleDownBehavior": asked.get("ScaleDownBehavior", "TERMINATE_AT_TASK_COMPLETION"),
        "StepConcurrencyLevel": cluster.step_limit,
        "Tags": [{"Key": key, "Value": value} for key, value in cluster.tags.items()],
        "MasterPublicDnsName": f"ip-10-0-0-1.{cluster.region}.compute.internal",
    }
    if "LogUri" in asked:  # EMR writes the scheme of its own file system
        shown["LogUri"] = asked["LogUri"].replace("s3://", "s3n://", 1)
    return shown


def show_group(cluster: Cluster, group: dict[str, Any]) -> dict[str, Any]:
    """Return an instance group."""
    volumes = group.get("EbsConfiguration", {})
    running = _INSTANCE_STATES.get(cluster.state) == "RUNNING"
    return {
        "Id": group["Id"],
        "Name": group.get("Name", ""),
        "Market": group.get("Market", "ON_DEMAND"),
        "InstanceGroupType": group["InstanceRole"],
        "InstanceType": group["InstanceType"],
        "RequestedInstanceCount": group["InstanceCount"],
        "RunningInstanceCount": group["InstanceCount"] if running else 0,
        "Status": {"State": _INSTANCE_STATES.get(cluster.state, "TERMINATED")},
        "Configurations": group.get("Configurations", []),
        "EbsOptimized": volumes.get("EbsOptimized", False),
        "EbsBlockDevices": [
            {"VolumeSpecification": each["VolumeSpecification"], "Device": f"/dev/sd{letter}"}
            for each in volumes.get("EbsBlockDeviceConfigs", [])
            for letter, _ in zip("bcdefgh", range(each.get("VolumesPerInstance", 1)), strict=False)
        ],
    }


def show_instances(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the instances of a cluster, which exist in this answer only."""
    state = _INSTANCE_STATES.get(cluster.state, "TERMINATED")
    return [
        {
            **instance,
            "InstanceGroupId": group["Id"],
            "InstanceType": group["InstanceType"],
            "Market": group.get("Market", "ON_DEMAND"),
            "Status": {"State": state, "Timeline": _timeline(cluster)},
        }
        for group in cluster.groups
        for instance in group["Instances"]
    ]


def step_state(step: Step) -> str:
    """Return the state of a step."""
    return _STEP_STATES[step.run.state]


def show_step(cluster: Cluster, step: Step) -> dict[str, Any]:
    """Return a step, its failure with the place of its log."""
    jar, attempt = step.asked["HadoopJarStep"], step.run.attempt
    status: dict[str, Any] = {
        "State": step_state(step),
        "StateChangeReason": {},
        "Timeline": _times(
            CreationDateTime=step.run.created,
            StartDateTime=attempt.started,
            EndDateTime=attempt.ended,
        ),
    }
    if step.run.state is RunState.FAILED:
        status["FailureDetails"] = {"Reason": "Unknown Error."}
        if cluster.log_uri:
            log = f"{cluster.log_uri}/{cluster.id}/steps/{step.id}/stderr.gz"
            status["FailureDetails"]["LogFile"] = log
    properties = {each["Key"]: each["Value"] for each in jar.get("Properties", [])}
    return {
        "Id": step.id,
        "Name": step.asked["Name"],
        "Config": {"Jar": jar["Jar"], "Properties": properties, "Args": jar.get("Args", [])},
        "ActionOnFailure": step.asked.get("ActionOnFailure", "TERMINATE_CLUSTER"),
        "Status": status,
    }


def _timeline(cluster: Cluster) -> dict[str, datetime]:
    return _times(
        CreationDateTime=cluster.created,
        ReadyDateTime=cluster.ready,
        EndDateTime=cluster.ended,
    )


def _times(**times: datetime | None) -> dict[str, datetime]:
    return {name: time for name, time in times.items() if time is not None}
