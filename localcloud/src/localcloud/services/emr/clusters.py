"""The operations on clusters."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import describe
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.services.emr.lifecycle import live
from localcloud.services.emr.model import (
    INVALID,
    PAGES,
    Cluster,
    Clusters,
    Reason,
    RunningClusters,
    cluster_operation,
    find_cluster,
    new_id,
)
from localcloud.services.emr.requests import (
    check_request,
    check_step_limit,
    read_groups,
    read_place,
)
from localcloud.services.emr.steps import add_steps, check_active
from localcloud.services.emr.views import (
    show_cluster,
    show_group,
    show_instances,
    sum_up_cluster,
)


@cluster_operation("RunJobFlow")
def run_job_flow(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Start a cluster, with its first steps."""
    check_request(call)
    params, instances = call.params, call.params["Instances"]
    identity = new_id("j-")
    cluster = Cluster(
        id=identity,
        account=call.account,
        region=call.region,
        asked=params,
        place=read_place(call),
        folder=call.cloud.folder.resolve() / "jobs" / identity,
        groups=read_groups(instances),
        tags={each["Key"]: each.get("Value", "") for each in params.get("Tags", [])},
        protected=instances.get("TerminationProtected", False),
        idle_seconds=params.get("AutoTerminationPolicy", {}).get("IdleTimeout"),
        step_limit=params.get("StepConcurrencyLevel", 1),
    )
    add_steps(call, cluster, params.get("Steps", []))
    cluster.folder.mkdir(parents=True)
    clusters.by_id[cluster.id] = cluster
    running = call.cloud.state(RunningClusters)
    running.start(call.cloud, cluster, lambda: live(call.cloud, cluster))
    return {"JobFlowId": cluster.id, "ClusterArn": cluster.arn}


@cluster_operation("DescribeCluster")
def describe_cluster(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Describe a cluster."""
    return {"Cluster": show_cluster(find_cluster(clusters, call.params["ClusterId"]))}


@cluster_operation("ListClusters")
def list_clusters(call: Call, clusters: Clusters) -> dict[str, Any]:
    """List the clusters, the newest first, by state and time."""
    states = call.params.get("ClusterStates")
    found = [
        each
        for each in reversed(clusters.by_id.values())
        if (not states or each.state in states) and _is_between(call.params, each.created)
    ]
    page, more = PAGES.cut(call, found)
    return {"Clusters": [sum_up_cluster(each) for each in page], **more}


def _is_between(asked: dict[str, Any], created: datetime) -> bool:
    """Return whether a time is within the requested bounds, which have no time zone."""
    plain = created.replace(tzinfo=None)
    after: datetime = asked.get("CreatedAfter", plain)
    before: datetime = asked.get("CreatedBefore", plain)
    return after.replace(tzinfo=None) <= plain <= before.replace(tzinfo=None)


@cluster_operation("ListInstanceGroups")
def list_instance_groups(call: Call, clusters: Clusters) -> dict[str, Any]:
    """List the instance groups."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    return {"InstanceGroups": [show_group(cluster, each) for each in cluster.groups]}


@cluster_operation("ListInstanceFleets")
def list_instance_fleets(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Refuse: clusters have instance groups here."""
    find_cluster(clusters, call.params["ClusterId"])
    raise AwsError(INVALID, "Instance fleets and instance groups are mutually exclusive.")


@cluster_operation("ListInstances")
def list_instances(call: Call, clusters: Clusters) -> dict[str, Any]:
    """List the instances, by group, kind of group and state."""
    asked, cluster = call.params, find_cluster(clusters, call.params["ClusterId"])
    kinds = {each["Id"]: each["InstanceRole"] for each in cluster.groups}
    found = [
        each
        for each in show_instances(cluster)
        if asked.get("InstanceGroupId", each["InstanceGroupId"]) == each["InstanceGroupId"]
        and kinds[each["InstanceGroupId"]] in asked.get("InstanceGroupTypes", kinds.values())
        and each["Status"]["State"] in asked.get("InstanceStates", [each["Status"]["State"]])
    ]
    page, more = PAGES.cut(call, found)
    return {"Instances": page, **more}


@cluster_operation("ListBootstrapActions")
def list_bootstrap_actions(call: Call, clusters: Clusters) -> dict[str, Any]:
    """List the bootstrap actions."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    shown = [
        {
            "Name": each["Name"],
            "ScriptPath": each["ScriptBootstrapAction"]["Path"],
            "Args": each["ScriptBootstrapAction"].get("Args", []),
        }
        for each in cluster.asked.get("BootstrapActions", [])
    ]
    return {"BootstrapActions": shown}


@cluster_operation("ModifyCluster")
def modify_cluster(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Change how many steps may run at once; those that run go on."""
    cluster = find_cluster(clusters, call.params["ClusterId"])
    check_active(cluster)
    level = call.params.get("StepConcurrencyLevel", cluster.step_limit)
    check_step_limit(level)
    with cluster.changed:
        cluster.step_limit = level
        cluster.changed.notify_all()
    return {"StepConcurrencyLevel": level}


@cluster_operation("SetTerminationProtection")
def set_termination_protection(call: Call, clusters: Clusters) -> dict[str, Any]:
    """Protect clusters from termination, or stop that."""
    for cluster in _named(call, clusters):
        cluster.protected = call.params["TerminationProtected"]
    return {}


@cluster_operation("TerminateJobFlows")
def terminate_job_flows(call: Call, clusters: Clusters) -> dict[str, Any]:
    """End clusters; steps that wait or run are cancelled."""
    named = _named(call, clusters)
    for cluster in named:
        if cluster.protected:
            said = "Could not shut down one or more job flows since they are termination protected."
            raise AwsError(INVALID, said)
    for cluster in named:
        cluster.end("TERMINATED", Reason("USER_REQUEST", "Terminated by user request"))
    return {}


def _named(call: Call, clusters: Clusters) -> list[Cluster]:
    unknown = [each for each in call.params["JobFlowIds"] if each not in clusters.by_id]
    if unknown:
        raise AwsError(INVALID, "Specified job flow ID does not exist.")
    return [clusters.by_id[each] for each in call.params["JobFlowIds"]]


@describe("clusters of EMR")
def describe_clusters(cloud: Cloud) -> list[dict[str, Any]]:
    """List the clusters that have not ended, with their steps."""
    return [
        {
            "account": account,
            "region": region,
            "id": each.id,
            "name": each.asked["Name"],
            "state": each.state,
            "steps": {step.id: str(step.run.state) for step in each.steps},
        }
        for account, region, clusters in cloud.states(Clusters)
        for each in list(clusters.by_id.values())
        if each.ended is None
    ]
