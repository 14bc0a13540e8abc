"""The configurations of asynchronous invocation: each version or alias has one of its own.

The errors and answers are those of AWS that LocalStack has recorded, for its tests of these five
operations (tests/aws/services/lambda_/test_lambda_api.snapshot.json, read 2026-11-29).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.functions import FunctionSpec
from localcloud.services.lambda_.destination_rules import check_destinations
from localcloud.services.lambda_.execution import find_function
from localcloud.services.lambda_.qualifiers import qualified_arn

_SETTINGS = ("DestinationConfig", "MaximumEventAgeInSeconds", "MaximumRetryAttempts")
_NO_DESTINATIONS: dict[str, Any] = {"DestinationConfig": {"OnFailure": {}, "OnSuccess": {}}}


@dataclass(slots=True)
class EventInvokeConfigs:
    """The configurations of all accounts, by the ARN of the version or alias."""

    by_arn: dict[str, dict[str, Any]] = field(default_factory=dict)


@operation("lambda", "PutFunctionEventInvokeConfig")
def put_function_event_invoke_config(call: Call) -> dict[str, Any]:
    """Set the configuration of a version or alias, in place of any that it had."""
    return _store(call, _NO_DESTINATIONS | _read_settings(call))


@operation("lambda", "UpdateFunctionEventInvokeConfig")
def update_function_event_invoke_config(call: Call) -> dict[str, Any]:
    """Change the given settings of a configuration: assumption `event-invoke-configs`."""
    given = _read_settings(call)
    return _store(call, _find_config(call) | given)


@operation("lambda", "GetFunctionEventInvokeConfig")
def get_function_event_invoke_config(call: Call) -> dict[str, Any]:
    """Show the configuration of a version or alias."""
    return _find_config(call)


@operation("lambda", "ListFunctionEventInvokeConfigs")
def list_function_event_invoke_configs(call: Call) -> dict[str, Any]:
    """List the configurations of all versions and aliases of a function."""
    prefix = f"{_find_function(call).unqualified_arn}:"
    known = call.cloud.state(EventInvokeConfigs).by_arn.items()
    found = [config for arn, config in sorted(known) if arn.startswith(prefix)]
    return {"FunctionEventInvokeConfigs": found}


@operation("lambda", "DeleteAlias")
def delete_alias(call: Call) -> HttpAnswer:
    """Delete an alias with its configuration."""
    spec, name = _find_function(call), call.params["Name"]
    answer = call.forward()
    forget_configs(call, f"{spec.unqualified_arn}:{name}")
    return answer


@operation("lambda", "DeleteFunctionEventInvokeConfig")
def delete_function_event_invoke_config(call: Call) -> dict[str, Any]:
    """Let a version or alias have the defaults again."""
    _find_config(call)
    del call.cloud.state(EventInvokeConfigs).by_arn[qualified_arn(call)]
    return {}


def settings_of(call: Call) -> dict[str, Any]:
    """Return the configuration of the version or alias of a call, empty if it has none."""
    return call.cloud.state(EventInvokeConfigs).by_arn.get(qualified_arn(call), {})


def forget_configs(call: Call, prefix: str) -> None:
    """Remove the configurations of a deleted function, version or alias."""
    by_arn = call.cloud.state(EventInvokeConfigs).by_arn
    for arn in [each for each in by_arn if f"{each}:".startswith(f"{prefix}:")]:
        del by_arn[arn]


def _read_settings(call: Call) -> dict[str, Any]:
    """Return the settings of a call, if AWS would take them."""
    check_params(call, "ValidationException")
    given = {name: call.params[name] for name in _SETTINGS if name in call.params}
    if not given:
        raise AwsError(
            "InvalidParameterValueException",
            "You must specify at least one of error handling or destination setting.",
        )
    spec = _find_function(call)
    if "DestinationConfig" in given:
        on_success, on_failure = (
            given["DestinationConfig"].get(on, {}).get("Destination") or None
            for on in ("OnSuccess", "OnFailure")
        )
        check_destinations(spec, on_success, on_failure)
        given["DestinationConfig"] = {
            "OnSuccess": {"Destination": on_success} if on_success else {},
            "OnFailure": {"Destination": on_failure} if on_failure else {},
        }
    return given


def _store(call: Call, settings: dict[str, Any]) -> dict[str, Any]:
    arn = qualified_arn(call)
    config = settings | {"FunctionArn": arn, "LastModified": datetime.now(UTC)}
    call.cloud.state(EventInvokeConfigs).by_arn[arn] = config
    return config


def _find_function(call: Call) -> FunctionSpec:
    try:
        return find_function(call)
    except AwsError as error:
        raise AwsError(error.code, "The function doesn't exist.") from error


def _find_config(call: Call) -> dict[str, Any]:
    arn = qualified_arn(call)
    config = call.cloud.state(EventInvokeConfigs).by_arn.get(arn)
    if config is None:
        raise AwsError(
            "ResourceNotFoundException", f"The function {arn} doesn't have an EventInvokeConfig"
        )
    return config
