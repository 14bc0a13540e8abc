"""SnapStart: the setting of a function, and the snapshots of its published versions.

Lambda Developer Guide, "Activating and managing Lambda SnapStart" (read 2026-11-27): a version is
`Pending` while its snapshot is made, and no call may use it meanwhile.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import Any

from moto.awslambda.models import lambda_backends

from localcloud.cloud import Cloud
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer
from localcloud.functions import SNAP_START, FunctionSpec, applies_to_versions, read_spec
from localcloud.services.lambda_.execution import take_snapshot

_KINDS = ("None", "PublishedVersions")
_UNSUPPORTED = {f"python3.{minor}" for minor in range(12)}
_MAX_STORAGE_MIB = 512
_CREATING = "Creating"


@dataclass(slots=True)
class Snapshots:
    """The versions with SnapStart, by ARN: `Creating`, why there is no snapshot, or nothing."""

    problems: dict[str, str] = field(default_factory=dict)


def check_setting(call: Call, runtime: str) -> None:
    """Raise AwsError if SnapStart is asked for and the function cannot have it."""
    kind = _asked(call)
    if kind not in {None, *_KINDS}:
        raise _refuse(f"SnapStart.ApplyOn is {kind}, expected one of {', '.join(_KINDS)}")
    if kind != "PublishedVersions":
        return
    if runtime in _UNSUPPORTED:
        raise _refuse(f"{runtime} is not supported for SnapStart enabled functions.")
    storage = (call.params.get("EphemeralStorage") or {}).get("Size", _MAX_STORAGE_MIB)
    if storage > _MAX_STORAGE_MIB or call.params.get("FileSystemConfigs"):
        raise _refuse("SnapStart supports neither EFS nor more than 512 MB of ephemeral storage.")


def keep_setting(call: Call, *versions: str | None) -> None:
    """Store the setting of a call in the records of the function, if it has one."""
    if (kind := _asked(call)) is None:
        return
    backend = lambda_backends[call.account][call.region]
    for version in versions:
        function: Any = backend.get_function(call.params["FunctionName"], version)
        function.code_or_config_updated = True
        setattr(function, SNAP_START, kind)


def start_snapshot(call: Call, version: str) -> None:
    """Make the snapshot of a version that was published with SnapStart, once."""
    function = lambda_backends[call.account][call.region].get_function(
        call.params["FunctionName"], version
    )
    problems = call.cloud.state(Snapshots, call.account, call.region).problems
    spec = read_spec(function)
    if not spec.has_snapshot or spec.arn in problems:
        return
    problems[spec.arn] = _CREATING
    threading.Thread(target=_make, args=(call.cloud, spec, problems), daemon=True).start()


def _make(cloud: Cloud, spec: FunctionSpec, problems: dict[str, str]) -> None:
    try:
        take_snapshot(cloud, spec)
    except AwsError as error:
        problems[spec.arn] = error.message
    else:
        problems[spec.arn] = ""


def check_ready(cloud: Cloud, spec: FunctionSpec) -> None:
    """Raise AwsError while the snapshot of a version is being made, or if it could not be."""
    if not spec.has_snapshot:
        return
    problem = cloud.state(Snapshots, spec.account, spec.region).problems.get(spec.arn, "")
    if problem == _CREATING:
        raise AwsError(
            "SnapStartNotReadyException",
            "Lambda is initializing your function. It will be ready to invoke once your function "
            "state becomes ACTIVE.",
            status=409,
        )
    if problem:
        raise AwsError("ResourceConflictException", f"the version failed: {problem}", status=409)


def show_setting(call: Call, answer: HttpAnswer) -> HttpAnswer:
    """Add the setting, and the state of a version, to an answer with a configuration."""
    if answer.status >= 300:
        return answer
    shown = json.loads(answer.body)
    configuration = shown.get("Configuration", shown)
    version = configuration["Version"]
    function = lambda_backends[call.account][call.region].get_function(
        configuration["FunctionName"], version
    )
    spec, is_on = read_spec(function), applies_to_versions(function)
    configuration["SnapStart"] = {
        "ApplyOn": "PublishedVersions" if is_on else "None",
        "OptimizationStatus": "On" if spec.has_snapshot else "Off",
    }
    problem = call.cloud.state(Snapshots, call.account, call.region).problems.get(spec.arn, "")
    if problem:
        is_pending = problem == _CREATING
        configuration["State"] = "Pending" if is_pending else "Failed"
        configuration["StateReason"] = problem
        configuration["StateReasonCode"] = _CREATING if is_pending else "FunctionError"
    return HttpAnswer(answer.status, answer.headers, json.dumps(shown).encode())


def _asked(call: Call) -> str | None:
    setting: dict[str, Any] | None = call.params.get("SnapStart")
    return None if setting is None else str(setting.get("ApplyOn", "None"))


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
