"""The question to EventBridge Scheduler: what is refused, and what is taken and never done?"""

from __future__ import annotations

from typing import Any, Final

from botocore.exceptions import ClientError

from tools.aws_check.findings import Finding, make_name, make_role, read_caller

_PAST: Final = "at(2020-01-01T00:00:00)"
_REFUSED: Final[tuple[dict[str, Any], ...]] = (
    {"ScheduleExpressionTimezone": "Mars/Base"},
    {"ScheduleExpression": "rate(5 minute)"},
    {"FlexibleTimeWindow": {"Mode": "FLEXIBLE"}},
)


def ask_schedules(session: Any) -> Finding:
    """Try schedules that must be refused, then one in the past, which is taken and never fires."""
    scheduler, name = session.client("scheduler"), make_name()
    account, partition = read_caller(session)
    with make_role(session, name, "scheduler.amazonaws.com") as role:
        function = f"arn:{partition}:lambda:{session.region_name}:{account}:function:{name}"
        asked = {
            "Name": name,
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ScheduleExpression": _PAST,
            "Target": {"Arn": function, "RoleArn": role},
        }
        refused = [_try(scheduler, asked | change) for change in _REFUSED]
        past = _try(scheduler, asked)
    shown = [next(iter(change.values())) for change in _REFUSED]
    lines = [f"{what}: {said}" for what, said in zip(shown, refused, strict=True)]
    expected = past == "taken" and all(said.startswith("ValidationException") for said in refused)
    return Finding(expected, [*lines, f"{_PAST}: {past}"])


def _try(scheduler: Any, asked: dict[str, Any]) -> str:
    """Create a schedule and delete it again; return what is said if it is refused."""
    try:
        scheduler.create_schedule(**asked)
    except ClientError as error:
        return "{Code}: {Message}".format(**error.response["Error"])
    scheduler.delete_schedule(Name=asked["Name"])
    return "taken"
