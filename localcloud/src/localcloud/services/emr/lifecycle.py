"""The life of a cluster: validation, bootstrap actions, steps, and its end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

from localcloud.cloud import Cloud
from localcloud.identity.permissions import may, may_be_assumed_by_service
from localcloud.jobs import RunState
from localcloud.services.emr.bootstrap import BootstrapFailedError, run_bootstrap_actions
from localcloud.services.emr.model import Cluster, Reason, Step, ValidationFailedError
from localcloud.services.emr.network import access_group, check_network

_log = logging.getLogger(__name__)
_SERVICE = "elasticmapreduce.amazonaws.com"
_TERMINATE = ("TERMINATE_CLUSTER", "TERMINATE_JOB_FLOW")


def live(cloud: Cloud, cluster: Cluster) -> None:
    """Run a cluster to its end."""
    try:
        _check(cluster)
        cluster.go_to("BOOTSTRAPPING")
        run_bootstrap_actions(cloud, cluster)
        while (step := cluster.next_step()) is not None:
            name = f"step {step.id}"
            threading.Thread(target=_work, args=(cluster, step), name=name, daemon=True).start()
    except ValidationFailedError as error:
        cluster.end("TERMINATED_WITH_ERRORS", Reason("VALIDATION_ERROR", str(error)))
    except BootstrapFailedError as error:
        cluster.end("TERMINATED_WITH_ERRORS", Reason("BOOTSTRAP_FAILURE", str(error)))
    except Exception as error:  # a bug of ours: it must be visible in the cluster
        _log.exception("cluster %s failed", cluster.id)
        said = f"localcloud failed: {type(error).__name__}: {error}"
        cluster.end("TERMINATED_WITH_ERRORS", Reason("INTERNAL_ERROR", said))
    assert cluster.ending is not None  # noqa: S101 - each way here sets it
    state, reason = cluster.ending
    cluster.end(state, reason)
    cluster.wait_for_steps()
    cluster.go_to("TERMINATING", reason)
    cluster.go_to(state, reason)


def _work(cluster: Cluster, step: Step) -> None:
    try:
        step.runner.work()
        _react(cluster, step)
    finally:
        cluster.leave_step()


def _react(cluster: Cluster, step: Step) -> None:
    """Do what a failed step asks for; a protected cluster waits in place of its end.

    EMR API Reference, "StepConfig": where several steps may run, the others go on.
    """
    if step.run.state is not RunState.FAILED or cluster.step_limit > 1:
        return
    action = step.asked.get("ActionOnFailure", "TERMINATE_CLUSTER")
    if action in _TERMINATE and not cluster.protected:
        reason = Reason("STEP_FAILURE", "Shut down as step failed")
        cluster.end("TERMINATED_WITH_ERRORS", reason)
    elif action != "CONTINUE":
        with cluster.changed:
            for waiting in cluster.steps:
                waiting.cancel(0)


def _check(cluster: Cluster) -> None:
    """Check what EMR checks after it has accepted a cluster.

    Raises:
        ValidationFailedError: the network, the security groups or a role cannot be used.
    """
    if not may_be_assumed_by_service(cluster.place.role_arn, "ec2.amazonaws.com"):
        raise ValidationFailedError(f"{cluster.place.role_arn} does not trust ec2.amazonaws.com")
    role = service_role(cluster.account, cluster.asked["ServiceRole"])
    context = {
        "aws:SourceAccount": cluster.account,
        "aws:SourceArn": cluster.arn,
    }
    if not may_be_assumed_by_service(role, _SERVICE, context):
        raise ValidationFailedError(f"{role} is invalid: {_SERVICE} cannot assume it")
    check_network(cluster, role)
    for action, resource, more in _needed(cluster):
        if not may(role, action, resource, more):
            raise ValidationFailedError(
                f"Service role {role} has insufficient EC2 permissions: {action} on {resource}"
            )


def service_role(account: str, name: str) -> str:
    """Return the ARN of a service role, given by name or ARN."""
    return name if name.startswith("arn:") else f"arn:aws:iam::{account}:role/{name}"


def _needed(cluster: Cluster) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the permissions with which EMR starts and ends instances in a private subnet.

    EMR Management Guide, "Service role for Amazon EMR (EMR role)".
    """
    ec2 = f"arn:aws:ec2:{cluster.region}:{cluster.account}"
    asked = cluster.asked["Instances"]
    names = ("EmrManagedMasterSecurityGroup", "EmrManagedSlaveSecurityGroup")
    groups = [f"{ec2}:security-group/{asked[name]}" for name in names if asked.get(name)]
    new = {f"aws:RequestTag/{key}": value for key, value in cluster.tags.items()}
    own = {f"aws:ResourceTag/{key}": value for key, value in cluster.tags.items()}
    used = [*groups, *(f"{ec2}:subnet/{each}" for each in cluster.place.subnets)]
    for resource in used:
        yield "ec2:RunInstances", resource, {}
    yield "ec2:RunInstances", f"arn:aws:ec2:{cluster.region}::image/ami-0123456789abcdef0", {}
    # EMR tags instances and volumes, not the interfaces that an instance comes with.
    yield "ec2:RunInstances", f"{ec2}:network-interface/eni-1", {}
    for kind in ("instance/i-1", "volume/vol-1"):
        yield "ec2:RunInstances", f"{ec2}:{kind}", new
        yield "ec2:CreateTags", f"{ec2}:{kind}", new | {"ec2:CreateAction": "RunInstances"}
    yield "ec2:TerminateInstances", f"{ec2}:instance/i-1", own
    if access := access_group(cluster):
        yield from _own_interface(ec2, used, new)
        for group in (*groups, f"{ec2}:security-group/{access}"):
            for way in ("Ingress", "Egress"):
                yield f"ec2:AuthorizeSecurityGroup{way}", group, own
    for what in ("Instances", "SecurityGroups", "Subnets", "Vpcs", "VpcEndpoints", "RouteTables"):
        yield f"ec2:Describe{what}", "*", {}
    passed = {"iam:PassedToService": "ec2.amazonaws.com"}
    yield "iam:PassRole", cluster.place.role_arn, passed


def _own_interface(
    ec2: str, used: list[str], new: dict[str, str]
) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the permissions for EMR's own interface in a private subnet."""
    interface = f"{ec2}:network-interface/eni-1"
    for resource in used:
        yield "ec2:CreateNetworkInterface", resource, {}
    yield "ec2:CreateNetworkInterface", interface, new
    yield "ec2:CreateTags", interface, new | {"ec2:CreateAction": "CreateNetworkInterface"}
