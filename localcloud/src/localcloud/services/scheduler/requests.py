"""The request of CreateSchedule and UpdateSchedule: checked, with its defaults."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.permissions import may_be_assumed_by_service
from localcloud.identity.roles import role_account
from localcloud.services.scheduler.expressions import Expression, read_expression
from localcloud.services.scheduler.model import DEFAULT_GROUP, Place
from localcloud.services.scheduler.universal import find_universal_target

INVALID = "ValidationException"
SERVICE = "scheduler.amazonaws.com"
_RETRY_POLICY = {"MaximumEventAgeInSeconds": 86400, "MaximumRetryAttempts": 185}
_TARGET = frozenset({"Arn", "RoleArn", "Input", "RetryPolicy", "DeadLetterConfig"})
_OLDEST_START = timedelta(minutes=5)


def read_request(call: Call) -> tuple[dict[str, Any], Expression]:
    """Return the settings of a schedule with their defaults, and its expression.

    Raises:
        AwsError: AWS refuses the request, or localcloud does not imitate what it asks for.
    """
    check_params(call, INVALID)
    given = {name: value for name, value in call.params.items() if name != "ClientToken"}
    settings = {
        "GroupName": DEFAULT_GROUP,
        "ScheduleExpressionTimezone": "UTC",
        "State": "ENABLED",
        "ActionAfterCompletion": "NONE",
        **given,
    }
    if "KmsKeyArn" in settings:
        raise AwsError(INVALID, "localcloud encrypts no schedule by a key of the customer's")
    settings |= {name: _utc(given[name]) for name in ("StartDate", "EndDate") if name in given}
    _check_dates(settings)
    _check_window(settings["FlexibleTimeWindow"])
    settings["Target"] = _read_target(call, settings)
    return settings, _read_expression(settings)


def trusts_scheduler(place: Place, group: str, role_arn: str) -> bool:
    """Return whether a role trusts the scheduler for the schedules of a group.

    EventBridge Scheduler User Guide, "Confused deputy prevention": `aws:SourceArn` is the ARN of
    the schedule's group, not of the schedule.
    """
    source = {
        "aws:SourceAccount": place.account,
        "aws:SourceArn": place.arn(f"schedule-group/{group}"),
    }
    return may_be_assumed_by_service(role_arn, SERVICE, source)


def _read_expression(settings: dict[str, Any]) -> Expression:
    text, zone = settings["ScheduleExpression"], settings["ScheduleExpressionTimezone"]
    try:
        return read_expression(text, ZoneInfo(zone))
    except (ZoneInfoNotFoundError, OSError) as error:
        said = f"The ScheduleExpressionTimezone you specify is not valid: {zone}."
        raise AwsError(INVALID, said) from error
    except ValueError as error:
        raise AwsError(INVALID, f"Invalid Schedule Expression {text}.") from error


def _utc(moment: datetime | float) -> datetime:
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    return datetime.fromtimestamp(moment, UTC)


def _check_dates(settings: dict[str, Any]) -> None:
    start, end, now = settings.get("StartDate"), settings.get("EndDate"), datetime.now(UTC)
    if start is not None and start < now - _OLDEST_START:
        said = "The StartDate you specify cannot be earlier than 5 minutes ago."
        raise AwsError(INVALID, said)
    if end is not None and end <= max(start or now, now):
        said = "The EndDate you specify must be in the future and after the StartDate."
        raise AwsError(INVALID, said)


def _check_window(window: dict[str, Any]) -> None:
    if (window["Mode"] == "FLEXIBLE") != ("MaximumWindowInMinutes" in window):
        said = "MaximumWindowInMinutes goes with the mode FLEXIBLE of FlexibleTimeWindow only."
        raise AwsError(INVALID, said)


def _read_target(call: Call, settings: dict[str, Any]) -> dict[str, Any]:
    target: dict[str, Any] = settings["Target"]
    _check_input(target.get("Input"))
    universal = _check_universal(target)
    parts = target["Arn"].split(":")
    function = parts[2:3] == ["lambda"] and parts[5:6] == ["function"]
    if not (universal or function) or target.keys() - _TARGET:
        raise AwsError(
            INVALID,
            "localcloud's schedules invoke Lambda functions, by the ARN of the function, and "
            f"universal targets; found the target {target['Arn']} with {', '.join(sorted(target))}",
        )
    _check_role(call, settings["GroupName"], target["RoleArn"])
    return target | {"RetryPolicy": _RETRY_POLICY | target.get("RetryPolicy", {})}


def _check_universal(target: dict[str, Any]) -> bool:
    """Return whether a target is a universal one; raise AwsError for one that cannot be called."""
    try:
        found = find_universal_target(target["Arn"])
        if found:
            found.read_params(target.get("Input", "{}"))
    except ValueError as error:
        raise AwsError(INVALID, str(error)) from error
    return found is not None


def _check_input(text: str | None) -> None:
    if text is None:
        return
    try:
        json.loads(text)
    except ValueError as error:
        raise AwsError(INVALID, f"Invalid Input for target: not JSON: {error}.") from error


def _check_role(call: Call, group: str, role_arn: str) -> None:
    if role_account(role_arn) != call.account:
        said = "Cross-account pass role is not allowed."
        raise AwsError("AccessDeniedException", said, status=403)
    if not trusts_scheduler(Place(call.account, call.region), group, role_arn):
        raise AwsError(
            INVALID,
            "The execution role you provide must allow AWS EventBridge Scheduler to assume the "
            "role.",
        )
