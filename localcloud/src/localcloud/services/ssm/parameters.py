"""Parameter Store is moto's, with the checks on names and values that moto lacks.

Systems Manager User Guide, "Requirements and constraints for parameter names" and "Managing
parameter tiers"; Systems Manager API Reference, PutParameter.
"""

from __future__ import annotations

import re
from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.services.ssm.iam_resources import find_parameter

_INVALID = "ValidationException"
_NAME = re.compile(r"(/[A-Za-z0-9_.-]+)+|[A-Za-z0-9_.-]+")
_PATH = re.compile(r"/|(/[A-Za-z0-9_.-]+)+/?")
# As public issues quote them.
_PATH_RULE = (
    "The parameter doesn't meet the parameter name requirements. The parameter name must begin "
    'with a forward slash "/". It can\'t be prefixed with "aws" or "ssm" (case-insensitive). '
    "It must use only letters, numbers, or the following symbols: . (period), - (hyphen), _ "
    "(underscore). Special characters are not allowed. All sub-paths, if specified, must use the "
    'forward slash symbol "/". Valid example: /get/parameters2-/by1./path0_.'
)
_NAME_RULE = (
    'Parameter name: can\'t be prefixed with "ssm" (case-insensitive). If formed as a path, it '
    "can consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of "
    "letters, numbers and the following 3 symbols .-_"
)
_MAX_NAME, _MAX_LEVELS = 1011, 15
_MAX_BYTES = {"Standard": 4096, "Advanced": 8192, "Intelligent-Tiering": 8192}


@operation("ssm", "PutParameter")
def put_parameter(call: Call) -> HttpAnswer:
    """Let moto store the parameter, if name and value are as AWS accepts them."""
    check_params(call, _INVALID)
    params = call.params
    _check_name(call, params["Name"])
    known = find_parameter(call, params["Name"])
    kind = params.get("Type", getattr(known, "parameter_type", None))
    if known and kind != known.parameter_type:
        raise AwsError(
            "HierarchyTypeMismatchException",
            f"The parameter {params['Name']} has the type {known.parameter_type}, which cannot "
            f"change to {kind}; delete it and create it again",
        )
    _check_value(params, params.get("AllowedPattern") or getattr(known, "allowed_pattern", None))
    if kind != "SecureString" and "KeyId" in params:
        raise AwsError(_INVALID, "KeyId is required for SecureString type parameter only.")
    return call.forward()


@operation("ssm", "GetParameter")
@operation("ssm", "GetParameters")
@operation("ssm", "GetParameterHistory")
@operation("ssm", "GetParametersByPath")
def get_parameters(call: Call) -> HttpAnswer:
    """Let moto read the parameters, if names and path are as AWS accepts them."""
    check_params(call, _INVALID)
    path = call.params.get("Path")
    if path is not None and not _PATH.fullmatch(path):
        raise AwsError(_INVALID, _PATH_RULE)
    if not call.params.get("NextToken", "0").isdecimal():
        raise AwsError("InvalidNextToken", "The specified token isn't valid.")
    for name in call.params.get("Names", [call.params.get("Name", "")]):
        if "/" in name and not name.startswith(("/", "arn:")):
            raise AwsError(_INVALID, _NAME_RULE)
    return call.forward()


def _check_name(call: Call, name: str) -> None:
    if "/" in name and not name.startswith("/"):
        raise AwsError(_INVALID, "Parameter name must be a fully qualified name.")
    if not _NAME.fullmatch(name):
        raise AwsError(_INVALID, _NAME_RULE)
    if name.strip("/").count("/") >= _MAX_LEVELS:
        raise AwsError(
            "HierarchyLevelLimitExceededException",
            f"Parameter hierarchies can have a maximum of {_MAX_LEVELS} levels.",
        )
    arn = f"arn:aws:ssm:{call.region}:{call.account}:parameter/{name.lstrip('/')}"
    if len(arn) > _MAX_NAME:
        raise AwsError(_INVALID, f"The ARN of a parameter has at most {_MAX_NAME} characters.")


def _check_value(params: dict[str, Any], pattern: str | None) -> None:
    value, tier = params["Value"], params.get("Tier", "Standard")
    if len(value.encode()) > _MAX_BYTES[tier]:
        raise AwsError(
            _INVALID,
            f"{tier} tier parameters support a maximum parameter value of {_MAX_BYTES[tier]} "
            "characters.",
        )
    if "Policies" in params and tier == "Standard":
        raise AwsError(_INVALID, "Parameter policies need the advanced-parameter tier.")
    try:
        matches = not pattern or re.search(pattern, value)
    except re.error as error:
        raise AwsError("InvalidAllowedPatternException", f"{pattern}: {error}") from error
    if not matches:
        raise AwsError(
            "ParameterPatternMismatchException",
            f"Parameter value, cannot be validated against allowedPattern: {pattern}",
        )
