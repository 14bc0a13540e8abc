"""Places that a command of one's own can run in: a function's or an instance's.

A command in a place has the names and the reach of its VPC, the credentials of its role, and the
authorities of this localcloud, as a program that runs there on AWS.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.awslambda.models import lambda_backends

from localcloud.cloud import Cloud
from localcloud.door.control import action
from localcloud.functions.spec import read_spec
from localcloud.identity.credentials import credentials_for_role
from localcloud.jobs.environment import Place, driver_variables
from localcloud.network.inventory import regions_of_ec2
from localcloud.network.names import HOSTS_VARIABLE


@action("enter-place")
def enter_place(cloud: Cloud, *, place: str) -> dict[str, Any]:
    """Return the environment and the hosts file of a function or an instance, by name or id."""
    found = dict(_find_places(place))
    if not found:
        raise LookupError(
            f"there is no function and no instance {place} in any account; an instance is known by "
            "its id or its tag Name, such as that of a client with a host"
        )
    if len(found) > 1:
        raise LookupError(f"{place} is {', '.join(sorted(found))}: use an instance's id")
    ((name, (region, where)),) = found.items()
    if not where.role_arn:
        raise LookupError(f"{name} has no role, so nothing in it has credentials")
    folder = cloud.folder / "places"
    folder.mkdir(mode=0o700, exist_ok=True)
    key = credentials_for_role(cloud, where.role_arn, name)
    variables = driver_variables(cloud, where, key, folder)
    regions = dict.fromkeys(("AWS_DEFAULT_REGION", "AWS_REGION"), region)
    environment = {**variables, **regions, "AWS_EC2_METADATA_DISABLED": "true"}
    return {"environment": environment, "hosts_file": variables[HOSTS_VARIABLE]}


def _find_places(name: str) -> Iterator[tuple[str, tuple[str, Place]]]:
    """Yield the id of each function and running instance of a name, its region and its place."""
    for regions in list(lambda_backends.values()):
        for region, backend in list(regions.items()):
            for function in backend.list_functions():
                if function.function_name == name:
                    spec = read_spec(function)
                    place = Place(spec.role_arn, "", "", spec.subnets, spec.security_groups)
                    yield f"{spec.account}:{name}", (region, place)
    for ec2 in regions_of_ec2():
        for instance in ec2.all_running_instances():
            if name in {instance.id, *_list_names(instance)}:
                groups = tuple(group.id for group in instance.security_groups)
                place = Place(_find_role(ec2, instance), "", "", (instance.subnet_id,), groups)
                yield instance.id, (ec2.region_name, place)


def _list_names(instance: Any) -> list[str]:
    return [tag["value"] for tag in instance.get_tags() if tag["key"] == "Name"]


def _find_role(ec2: Any, instance: Any) -> str:
    """Return the role of an instance's profile, empty without one."""
    for association in list(ec2.iam_instance_profile_associations.values()):
        if association.instance_id == instance.id and association.iam_instance_profile.roles:
            return str(association.iam_instance_profile.roles[0].arn)
    return ""
