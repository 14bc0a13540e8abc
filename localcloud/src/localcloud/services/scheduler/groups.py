"""The operations on schedule groups, and their tags: schedules themselves have none."""

from __future__ import annotations

from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.services.scheduler.model import DEFAULT_GROUP, Group
from localcloud.services.scheduler.requests import INVALID
from localcloud.services.scheduler.runner import Runner
from localcloud.services.scheduler.schedules import PAGES, missing, place_of, schedules_of


@operation("scheduler", "CreateScheduleGroup")
def create_schedule_group(call: Call) -> dict[str, Any]:
    """Create a group; a request that comes again changes nothing."""
    check_params(call, INVALID)
    name, token, groups = call.params["Name"], call.params.get("ClientToken", ""), _groups(call)
    known = groups.get(name)
    if known is not None and (not token or known.token != token):
        raise AwsError("ConflictException", f"Schedule group {name} already exists.")
    tags = {tag["Key"]: tag["Value"] for tag in call.params.get("Tags", [])}
    arn = place_of(call).arn(f"schedule-group/{name}")
    groups[name] = known or Group(name, arn, token, tags)
    return {"ScheduleGroupArn": arn}


@operation("scheduler", "GetScheduleGroup")
def get_schedule_group(call: Call) -> dict[str, Any]:
    """Describe a group."""
    return _find_group(call).describe()


@operation("scheduler", "DeleteScheduleGroup")
def delete_schedule_group(call: Call) -> dict[str, Any]:
    """Delete a group with its schedules, at once."""
    group, schedules = _find_group(call), schedules_of(call)
    if group.name == DEFAULT_GROUP:
        raise AwsError(INVALID, "The default schedule group cannot be deleted.")
    with schedules.lock:
        del schedules.groups[group.name]
        gone = [each for each in schedules.by_key.values() if each.key[0] == group.name]
        for each in gone:
            del schedules.by_key[each.key]
            call.cloud.state(Runner).forget(each)
    return {}


@operation("scheduler", "ListScheduleGroups")
def list_schedule_groups(call: Call) -> dict[str, Any]:
    """List the groups by name."""
    check_params(call, INVALID)
    prefix = call.params.get("NamePrefix", "")
    found = sorted(name for name in _groups(call) if name.startswith(prefix))
    shown, token = PAGES.cut(call, [_groups(call)[name].describe() for name in found])
    return {"ScheduleGroups": shown, **token}


@operation("scheduler", "TagResource")
def tag_resource(call: Call) -> dict[str, Any]:
    """Set tags of a group."""
    _tags(call).update({tag["Key"]: tag["Value"] for tag in call.params["Tags"]})
    return {}


@operation("scheduler", "UntagResource")
def untag_resource(call: Call) -> dict[str, Any]:
    """Remove tags of a group."""
    tags = _tags(call)
    for key in call.params["TagKeys"]:
        tags.pop(key, None)
    return {}


@operation("scheduler", "ListTagsForResource")
def list_tags_for_resource(call: Call) -> dict[str, Any]:
    """List the tags of a group."""
    return {"Tags": [{"Key": key, "Value": value} for key, value in _tags(call).items()]}


def _tags(call: Call) -> dict[str, str]:
    check_params(call, INVALID)
    name = call.params["ResourceArn"].partition("schedule-group/")[2]
    return _group(call, name).tags


def _find_group(call: Call) -> Group:
    check_params(call, INVALID)
    return _group(call, call.params["Name"])


def _group(call: Call, name: str) -> Group:
    found = _groups(call).get(name)
    if found is None:
        raise missing("Schedule group", name)
    return found


def _groups(call: Call) -> dict[str, Group]:
    return schedules_of(call).list_groups(place_of(call))
