"""The operations on schedules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.services.scheduler.model import DEFAULT_GROUP, Place, Schedule, Schedules
from localcloud.services.scheduler.requests import INVALID, read_request
from localcloud.services.scheduler.runner import Runner

PAGES = Pages("NextToken", "MaxResults", 100, INVALID)


def schedules_of(call: Call) -> Schedules:
    """Return the schedules of the caller's account and region."""
    return call.cloud.state(Schedules, call.account, call.region)


def place_of(call: Call) -> Place:
    """Return the account and region of a call."""
    return Place(call.account, call.region)


def missing(what: str, name: str) -> AwsError:
    """Return the error for a schedule or a group that does not exist."""
    return AwsError("ResourceNotFoundException", f"{what} {name} does not exist.")


@operation("scheduler", "CreateSchedule")
def create_schedule(call: Call) -> dict[str, Any]:
    """Create a schedule; a request that comes again changes nothing."""
    settings, expression = read_request(call)
    schedules, group = schedules_of(call), settings["GroupName"]
    token = call.params.get("ClientToken", "")
    with schedules.lock:
        if group not in schedules.list_groups(place_of(call)):
            raise missing("Schedule group", group)
        known = schedules.by_key.get((group, settings["Name"]))
        if known is not None and (not token or known.token != token):
            raise AwsError("ConflictException", f"Schedule {settings['Name']} already exists.")
        now = datetime.now(UTC)
        made = known or Schedule(place_of(call), settings, expression, now, now, token)
        schedules.by_key[made.key] = made
    call.cloud.state(Runner).plan(call.cloud, made)
    return {"ScheduleArn": made.arn}


@operation("scheduler", "UpdateSchedule")
def update_schedule(call: Call) -> dict[str, Any]:
    """Replace the settings of a schedule: what is left out has its default again."""
    known = _find_schedule(call)
    made = known.changed_to(*read_request(call))
    schedules_of(call).by_key[made.key] = made
    call.cloud.state(Runner).plan(call.cloud, made)
    return {"ScheduleArn": made.arn}


@operation("scheduler", "GetSchedule")
def get_schedule(call: Call) -> dict[str, Any]:
    """Describe a schedule."""
    return _find_schedule(call).describe()


@operation("scheduler", "DeleteSchedule")
def delete_schedule(call: Call) -> dict[str, Any]:
    """Delete a schedule."""
    found = _find_schedule(call)
    schedules_of(call).by_key.pop(found.key, None)
    call.cloud.state(Runner).forget(found)
    return {}


@operation("scheduler", "ListSchedules")
def list_schedules(call: Call) -> dict[str, Any]:
    """List schedules, the newest first."""
    check_params(call, INVALID)
    found = sorted(_selected(call), key=lambda each: each.created, reverse=True)
    shown, token = PAGES.cut(call, [each.summarize() for each in found])
    return {"Schedules": shown, **token}


def _selected(call: Call) -> Iterator[Schedule]:
    params = call.params
    for each in list(schedules_of(call).by_key.values()):
        group, name = each.key
        if (
            params.get("GroupName", group) == group
            and name.startswith(params.get("NamePrefix", ""))
            and params.get("State", each.settings["State"]) == each.settings["State"]
        ):
            yield each


def _find_schedule(call: Call) -> Schedule:
    check_params(call, INVALID)
    group, name = call.params.get("GroupName", DEFAULT_GROUP), call.params["Name"]
    if group not in schedules_of(call).list_groups(place_of(call)):
        raise missing("Schedule group", group)
    found = schedules_of(call).by_key.get((group, name))
    if found is None:
        raise missing("Schedule", name)
    return found
