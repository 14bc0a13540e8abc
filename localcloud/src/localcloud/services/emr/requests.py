"""The request of RunJobFlow: what EMR refuses at once, and the instance groups it asks for."""

from __future__ import annotations

import re
import secrets
from typing import Any

from moto.core.exceptions import ServiceException
from moto.emr.models import emr_backends

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.instance_profiles import find_profile_role
from localcloud.jobs import Place
from localcloud.services.emr.model import INVALID, new_id

# EMR Release Guide, "Amazon EMR 5.x, 6.x and 7.x release versions", "AWS runtime for Apache Spark".
_LABEL = re.compile(r"emr-([5-7]\.[0-9]{1,2}|spark-8\.[0-9])\.[0-9]")
_OF_SPARK_8 = frozenset(
    {"AmazonCloudWatchAgent", "Delta", "Hudi", "Iceberg", "JupyterEnterpriseGateway", "Livy"}
) | {"Spark"}
_CLASSIFICATIONS = ("spark", "spark-defaults", "spark-env")
_REFUSED = {  # parameters that would change what runs, and have no effect here
    "AmiVersion": "use ReleaseLabel",
    "AutoScalingRole": "clusters are not scaled",
    "CustomAmiId": "no instance is started",
    "KerberosAttributes": "there is no Kerberos",
    "ManagedScalingPolicy": "clusters are not scaled",
    "StepExecutionRoleArn": "steps run as the instance profile",
    "SupportedProducts": "use Applications",
}
_IDLE = range(60, 604_801)
_STEPS_AT_ONCE = range(1, 257)


def check_request(call: Call) -> None:
    """Raise AwsError for a request that EMR, or localcloud, refuses."""
    params = call.params
    for name, why in _REFUSED.items():
        if params.get(name):
            raise AwsError(INVALID, f"localcloud does not know {name}: {why}")
    label = params.get("ReleaseLabel", "")
    if not _LABEL.fullmatch(label):
        raise AwsError(INVALID, f"The supplied release label is invalid: {label}.")
    named = {each.get("Name", "") for each in params.get("Applications", [])}
    if label.startswith("emr-spark-") and not named <= _OF_SPARK_8:
        unknown = ", ".join(sorted(named - _OF_SPARK_8))
        raise AwsError(INVALID, f"{unknown} is not supported in release {label}.")
    for role in ("ServiceRole", "JobFlowRole"):
        if not params.get(role):
            what = "InstanceProfile" if role == "JobFlowRole" else role
            raise AwsError(INVALID, f"{what} is required for creating cluster.")
    if find_profile_role(call.account, params["JobFlowRole"]) is None:
        raise AwsError(INVALID, f"Invalid InstanceProfile: {params['JobFlowRole']}.")
    check_step_limit(params.get("StepConcurrencyLevel", 1))
    _check_configurations(params.get("Configurations", []))
    _check_security(call, params.get("SecurityConfiguration"))
    check_idle_policy(params.get("AutoTerminationPolicy"))


def check_step_limit(level: int) -> None:
    """Raise AwsError for a number of steps at once that EMR refuses."""
    if level not in _STEPS_AT_ONCE:
        raise AwsError(INVALID, f"StepConcurrencyLevel must be between 1 and 256. Found {level}")


def check_idle_policy(policy: dict[str, Any] | None) -> None:
    """Raise AwsError for an auto-termination policy that EMR refuses."""
    if policy is not None and policy.get("IdleTimeout", _IDLE[0]) not in _IDLE:
        said = "IdleTimeout must be between 60 seconds and 7 days."
        raise AwsError(INVALID, f"{said} Found {policy['IdleTimeout']}")


def _check_configurations(configurations: list[dict[str, Any]]) -> None:
    for each in configurations:
        if each.get("Classification") not in _CLASSIFICATIONS:
            known = ", ".join(_CLASSIFICATIONS)
            found = each.get("Classification")
            raise AwsError(INVALID, f"localcloud knows the classifications {known}, not {found}")


def _check_security(call: Call, name: str | None) -> None:
    if name is None:
        return
    try:
        emr_backends[call.account][call.region].get_security_configuration(name)
    except ServiceException as error:
        said = f"Security configuration with name '{name}' does not exist."
        raise AwsError(INVALID, said) from error


def read_groups(instances: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the instance groups of a request, each with an id and its instances' ids."""
    if instances.get("InstanceFleets"):
        raise AwsError(INVALID, "localcloud knows instance groups, not InstanceFleets")
    asked = instances.get("InstanceGroups") or _by_count(instances)
    roles = [each["InstanceRole"] for each in asked]
    if roles.count("MASTER") != 1 or roles.count("CORE") > 1:
        raise AwsError(INVALID, "A cluster has one instance group MASTER and at most one CORE.")
    masters = next(each["InstanceCount"] for each in asked if each["InstanceRole"] == "MASTER")
    if masters not in {1, 3}:
        raise AwsError(INVALID, "The master instance group must have an instance count of 1 or 3.")
    return [
        {**each, "Id": new_id("ig-"), "Instances": [_instance() for _ in range(count)]}
        for each in asked
        if (count := each["InstanceCount"])
    ]


def _by_count(instances: dict[str, Any]) -> list[dict[str, Any]]:
    kinds, count = ("MasterInstanceType", "SlaveInstanceType"), instances.get("InstanceCount", 0)
    if not instances.get(kinds[0]) or not count:
        raise AwsError(INVALID, "Must specify either instance groups or instance counts and types.")
    made = [{"InstanceRole": "MASTER", "InstanceType": instances[kinds[0]], "InstanceCount": 1}]
    if count > 1:
        core = instances.get(kinds[1], instances[kinds[0]])
        made.append({"InstanceRole": "CORE", "InstanceType": core, "InstanceCount": count - 1})
    return made


def _instance() -> dict[str, str]:
    return {"Id": new_id("ci-"), "Ec2InstanceId": f"i-{secrets.token_hex(9)[:17]}"}


def read_place(call: Call) -> Place:
    """Return the network of the primary node, and the role of the instance profile."""
    instances = call.params["Instances"]
    subnets = instances.get("Ec2SubnetIds") or [instances.get("Ec2SubnetId")]
    groups = [
        instances.get("EmrManagedMasterSecurityGroup"),
        *instances.get("AdditionalMasterSecurityGroups", []),
    ]
    role = find_profile_role(call.account, call.params["JobFlowRole"])
    return Place(
        role_arn=str(role),
        service="ec2.amazonaws.com",
        takes_role="EC2",
        subnets=tuple(filter(None, subnets[:1])),
        groups=tuple(filter(None, groups)),
    )
