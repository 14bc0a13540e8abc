"""EMR Serverless: the life of an application. Nothing is reserved for one, so each step is done
when it is answered; its job runs are not built yet and say so.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from localcloud.constraints import check_params
from localcloud.operations import AwsError, Call, not_implemented, operation

_INVALID = "ValidationException"
_PAGE = 50
_TYPES = {"spark": "Spark", "hive": "Hive"}  # as they are read back, however they were written
_AT_REST = ("CREATED", "STOPPED")
_DEFAULTS: dict[str, Any] = {
    "architecture": "X86_64",
    "autoStartConfiguration": {"enabled": True},
    "autoStopConfiguration": {"enabled": True, "idleTimeoutMinutes": 15},
}
_SUMMARY = ("name", "releaseLabel", "type", "architecture")


@dataclass(slots=True)
class _Application:
    id: str
    arn: str
    settings: dict[str, Any]
    tags: dict[str, str]
    asked_with: dict[str, Any]
    state: str = "CREATED"
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))

    def go_to(self, state: str) -> None:
        self.state = state
        self.updated = datetime.now(UTC)


@dataclass(slots=True)
class Applications:
    """The applications of one account and region, by id, those that were deleted too."""

    by_id: dict[str, _Application] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)


_Answer: TypeAlias = Callable[[Call, Applications], dict[str, Any]]


def _application_operation(name: str) -> Callable[[_Answer], _Answer]:
    """Make a function the answer to one operation: after a check, and one call at a time."""

    def register(function: _Answer) -> _Answer:
        @operation("emr-serverless", name)
        def answer(call: Call) -> dict[str, Any]:
            check_params(call, _INVALID)
            applications = call.cloud.state(Applications, call.account, call.region)
            with applications.lock:
                return function(call, applications)

        return function

    return register


@_application_operation("CreateApplication")
def create_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Make an application; the same client token makes it once."""
    known = _find_by_token(call.params, applications)
    made = known or _build(call)
    applications.by_id[made.id] = made
    return {"applicationId": made.id, "name": made.settings.get("name"), "arn": made.arn}


def _find_by_token(params: dict[str, Any], applications: Applications) -> _Application | None:
    token = params["clientToken"]
    for known in applications.by_id.values():
        if known.asked_with["clientToken"] == token:
            if known.asked_with != params:
                said = f"Client token {token} was used for an application with other settings"
                raise AwsError("ConflictException", said)
            return known
    return None


def _build(call: Call) -> _Application:
    kind = _TYPES.get(call.params["type"].lower())
    if kind is None:
        expected = " or ".join(_TYPES.values())
        raise AwsError(_INVALID, f"Type {call.params['type']} is not supported, only {expected}")
    named = {name: value for name, value in call.params.items() if name not in _NO_SETTINGS}
    new_id = f"00{secrets.token_hex(7)}"
    arn = f"arn:aws:emr-serverless:{call.region}:{call.account}:/applications/{new_id}"
    settings = {**_DEFAULTS, **named, "type": kind}
    return _Application(new_id, arn, settings, dict(call.params.get("tags", {})), call.params)


_NO_SETTINGS = frozenset({"applicationId", "clientToken", "tags"})


@_application_operation("GetApplication")
def get_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Describe an application."""
    return {"application": _show(_find(call, applications))}


@_application_operation("ListApplications")
def list_applications(call: Call, applications: Applications) -> dict[str, Any]:
    """List the applications, the oldest first, of all states or of some."""
    states = call.params.get("states")
    found = [each for each in applications.by_id.values() if not states or each.state in states]
    token, size = call.params.get("nextToken", "0"), call.params.get("maxResults", _PAGE)
    if not token.isdecimal():
        raise AwsError(_INVALID, f"nextToken {token!r} is not one that was answered")
    end = int(token) + size
    answer: dict[str, Any] = {"applications": [_sum_up(each) for each in found[int(token) : end]]}
    return answer | ({"nextToken": str(end)} if end < len(found) else {})


@_application_operation("UpdateApplication")
def update_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Change the settings that are given, of an application at rest."""
    application = _find(call, applications)
    _check_at_rest(application, "updated")
    given = {name: value for name, value in call.params.items() if name not in _NO_SETTINGS}
    application.settings.update(given)
    application.updated = datetime.now(UTC)
    return {"application": _show(application)}


@_application_operation("StartApplication")
def start_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Start an application; one that runs goes on."""
    application = _find(call, applications)
    if application.state == "TERMINATED":
        raise _wrong_state(application, "started", "CREATED, STARTED or STOPPED")
    application.go_to("STARTED")
    return {}


@_application_operation("StopApplication")
def stop_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Stop an application that runs."""
    application = _find(call, applications)
    if application.state != "STARTED":
        raise _wrong_state(application, "stopped", "STARTED")
    application.go_to("STOPPED")
    return {}


@_application_operation("DeleteApplication")
def delete_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Delete an application at rest; it can still be read, as TERMINATED."""
    application = _find(call, applications)
    _check_at_rest(application, "deleted")
    application.go_to("TERMINATED")
    return {}


@_application_operation("ListTagsForResource")
def list_tags_for_resource(call: Call, applications: Applications) -> dict[str, Any]:
    """List the tags."""
    return {"tags": _find(call, applications).tags}


@_application_operation("TagResource")
def tag_resource(call: Call, applications: Applications) -> dict[str, Any]:
    """Set tags."""
    _find(call, applications).tags.update(call.params["tags"])
    return {}


@_application_operation("UntagResource")
def untag_resource(call: Call, applications: Applications) -> dict[str, Any]:
    """Take tags away."""
    tags = _find(call, applications).tags
    for key in call.params["tagKeys"]:
        tags.pop(key, None)
    return {}


def _refuse_job(call: Call) -> dict[str, Any]:
    """Refuse in localcloud's name: moto would look for the application among its own."""
    raise not_implemented(call.name)


for _name in ("StartJobRun", "GetJobRun", "ListJobRuns", "CancelJobRun", "ListJobRunAttempts"):
    operation("emr-serverless", _name)(_refuse_job)


def _find(call: Call, applications: Applications) -> _Application:
    wanted = call.params.get("applicationId") or call.params["resourceArn"].rpartition("/")[2]
    if wanted not in applications.by_id:
        raise AwsError("ResourceNotFoundException", f"Application {wanted} does not exist")
    return applications.by_id[wanted]


def _check_at_rest(application: _Application, done: str) -> None:
    if application.state not in _AT_REST:
        raise _wrong_state(application, done, " or ".join(_AT_REST))


def _wrong_state(application: _Application, done: str, expected: str) -> AwsError:
    found = f"Application {application.id} is {application.state}"
    return AwsError(_INVALID, f"{found} and cannot be {done}; it must be {expected}")


def _show(application: _Application) -> dict[str, Any]:
    return {
        **application.settings,
        "applicationId": application.id,
        "arn": application.arn,
        "state": application.state,
        "tags": application.tags,
        "createdAt": application.created,
        "updatedAt": application.updated,
    }


def _sum_up(application: _Application) -> dict[str, Any]:
    shown = {name: value for name, value in application.settings.items() if name in _SUMMARY}
    return {
        **shown,
        "id": application.id,
        "arn": application.arn,
        "state": application.state,
        "createdAt": application.created,
        "updatedAt": application.updated,
    }
