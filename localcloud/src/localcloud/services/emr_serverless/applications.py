"""The life of an application: no capacity is reserved, and only stopping takes time, a second."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.services.emr_serverless.model import (
    INVALID,
    PAGES,
    Application,
    Applications,
    application_operation,
    find_application,
    find_by_token,
)

_TYPES = {"spark": "Spark", "hive": "Hive"}  # the form in answers, whatever the form in requests
_AT_REST = ("CREATED", "STOPPED")
_STOP_SECONDS = 1
_DEFAULTS: dict[str, Any] = {
    "architecture": "X86_64",
    "autoStartConfiguration": {"enabled": True},
    "autoStopConfiguration": {"enabled": True, "idleTimeoutMinutes": 15},
}
# EMR Serverless User Guide, "Release versions": from 6.6.0 on; assumption `emr-labels`.
_LABEL = re.compile(r"emr-(6\.([6-9]|1[0-5])|7\.([0-9]|1[0-9])|spark-8\.[0-9])\.[0-9]")
_SUMMARY = ("name", "releaseLabel", "type", "architecture")


@application_operation("CreateApplication")
def create_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Create an application; the same client token creates it once."""
    known = find_by_token(call.params, applications.by_id, "an application")
    made = known or _build(call)
    applications.by_id[made.id] = made
    return {"applicationId": made.id, "name": made.settings.get("name"), "arn": made.arn}


def _build(call: Call) -> Application:
    kind = _TYPES.get(call.params["type"].lower())
    if kind is None:
        expected = " or ".join(_TYPES.values())
        raise AwsError(INVALID, f"Type {call.params['type']} is not supported, only {expected}")
    _check_label(call.params["releaseLabel"])
    named = {name: value for name, value in call.params.items() if name not in _NO_SETTINGS}
    new_id = f"00{secrets.token_hex(7)}"
    arn = f"arn:aws:emr-serverless:{call.region}:{call.account}:/applications/{new_id}"
    settings = {**_DEFAULTS, **named, "type": kind}
    return Application(new_id, arn, settings, dict(call.params.get("tags", {})), call.params)


def _check_label(label: str) -> None:
    """Raise AwsError for a label that no release has had, as far as its form tells."""
    if not _LABEL.fullmatch(label):
        raise AwsError(
            INVALID, f"Release label {label} is not supported, expected one like emr-spark-8.1.0"
        )


_NO_SETTINGS = frozenset({"applicationId", "clientToken", "tags"})


@application_operation("GetApplication")
def get_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Describe an application."""
    return {"application": _show(find_application(call, applications))}


@application_operation("ListApplications")
def list_applications(call: Call, applications: Applications) -> dict[str, Any]:
    """List the applications, the oldest first, in all states or some."""
    states = call.params.get("states")
    found = [each for each in applications.by_id.values() if not states or each.state in states]
    page, more = PAGES.cut(call, found)
    return {"applications": [_sum_up(each) for each in page], **more}


@application_operation("UpdateApplication")
def update_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Change the given settings of an application that is at rest."""
    application = find_application(call, applications)
    _check_at_rest(application)
    _check_label(call.params.get("releaseLabel", application.settings["releaseLabel"]))
    given = {name: value for name, value in call.params.items() if name not in _NO_SETTINGS}
    application.settings.update(given)
    application.updated = datetime.now(UTC)
    return {"application": _show(application)}


@application_operation("StartApplication")
def start_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Start an application; a started one stays started."""
    application = find_application(call, applications)
    if application.state == "TERMINATED":
        said = f"Application {application.id} is TERMINATED and cannot be started"
        raise AwsError(INVALID, f"{said}; it must be CREATED, STARTED or STOPPED")
    application.go_to("STARTED")
    return {}


@application_operation("StopApplication")
def stop_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Stop a started application: STOPPING, and STOPPED a second later."""
    application = find_application(call, applications)
    if application.state != "STARTED":
        said = "Application cannot be STOPPED. Applications must be in one of the following"
        raise AwsError(INVALID, f"{said} statuses: [STARTING, STARTED]")
    if any(not each.run.state.final for each in application.runs.values()):
        said = f"Application {application.id} has job runs that go on; cancel them first"
        raise AwsError(INVALID, said)
    application.go_to("STOPPING")
    _end_later(partial(_end_stop, applications, application))
    return {}


def _end_later(end: Callable[[], None]) -> None:
    timer = threading.Timer(_STOP_SECONDS, end)
    timer.daemon = True
    timer.start()


def _end_stop(applications: Applications, application: Application) -> None:
    with applications.lock:
        if application.state == "STOPPING":  # nobody has started it meanwhile
            application.go_to("STOPPED")


@application_operation("DeleteApplication")
def delete_application(call: Call, applications: Applications) -> dict[str, Any]:
    """Delete an application that is at rest; it can still be read, as TERMINATED."""
    application = find_application(call, applications)
    _check_at_rest(application)
    application.go_to("TERMINATED")
    return {}


def _check_at_rest(application: Application) -> None:
    if application.state not in _AT_REST:
        said = f"Application {application.id} must be in of the following statuses"
        at_rest = ", ".join(_AT_REST)
        raise AwsError(INVALID, f"{said} [{at_rest}]. Current status: {application.state}")


def _show(application: Application) -> dict[str, Any]:
    return {
        **application.settings,
        "applicationId": application.id,
        "arn": application.arn,
        "state": application.state,
        "tags": application.tags,
        "createdAt": application.created,
        "updatedAt": application.updated,
    }


def _sum_up(application: Application) -> dict[str, Any]:
    shown = {name: value for name, value in application.settings.items() if name in _SUMMARY}
    return {
        **shown,
        "id": application.id,
        "arn": application.arn,
        "state": application.state,
        "createdAt": application.created,
        "updatedAt": application.updated,
    }
