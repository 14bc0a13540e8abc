"""The operations on a function's code and configuration: checked, then passed to moto."""

from __future__ import annotations

import base64
import json
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.s3.exceptions import S3ClientError
from moto.s3.models import s3_backends

from localcloud.children import describe_process
from localcloud.cloud import Cloud
from localcloud.door.control import describe
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.functions import Fleet, check_zip, read_spec
from localcloud.identity.permissions import may, may_be_assumed_by_service
from localcloud.identity.roles import is_role_arn
from localcloud.services.lambda_.dead_letters import (
    check_target,
    forget_target,
    keep_target,
    show_target,
)
from localcloud.services.lambda_.event_invoke_configs import forget_configs
from localcloud.services.lambda_.execution import find_fleet, find_function
from localcloud.services.lambda_.qualifiers import find_qualifier, qualified_arn
from localcloud.services.lambda_.snapshots import (
    check_setting,
    keep_setting,
    show_setting,
    start_snapshot,
)

_RESERVED = frozenset(
    """_HANDLER _X_AMZN_TRACE_ID AWS_DEFAULT_REGION AWS_REGION AWS_EXECUTION_ENV
    AWS_LAMBDA_FUNCTION_NAME AWS_LAMBDA_FUNCTION_MEMORY_SIZE AWS_LAMBDA_FUNCTION_VERSION
    AWS_LAMBDA_INITIALIZATION_TYPE AWS_LAMBDA_LOG_GROUP_NAME AWS_LAMBDA_LOG_STREAM_NAME
    AWS_ACCESS_KEY AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
    AWS_LAMBDA_RUNTIME_API LAMBDA_TASK_ROOT LAMBDA_RUNTIME_DIR""".split()
)
_DEFAULT_ARCHITECTURES = ("x86_64",)
# Lambda Developer Guide, "Giving Lambda functions access to resources in an Amazon VPC".
_INTERFACE_ACTIONS = (
    "CreateNetworkInterface",
    "DescribeNetworkInterfaces",
    "DescribeSubnets",
    "DeleteNetworkInterface",
    "AssignPrivateIpAddresses",
    "UnassignPrivateIpAddresses",
)
_FIRST_ERROR = 300
_LATEST = "$LATEST"
_MAX_BODY_BYTES = 70_167_211  # a zip of 50 MB in base64, with room for the rest
_MAX_VARIABLES_BYTES = 4096


@operation("lambda", "CreateFunction")
def create_function(call: Call) -> HttpAnswer:
    """Create a function after checking that its zip can run."""
    _check_size(call)
    _check_lacking(call)
    check_setting(call, call.params.get("Runtime", ""))
    _check_variables(call)
    _check_role(call, call.params["Role"])
    (architecture,) = call.params.get("Architectures") or _DEFAULT_ARCHITECTURES
    check_zip(_read_code(call, call.params["Code"]), call.params.get("Runtime", ""), architecture)
    check_target(call, call.params["Role"])
    answer = call.forward()
    keep_target(call, call.params["FunctionName"])
    keep_setting(call, None, *(["1"] if call.params.get("Publish") else []))
    return _publish(call, answer)


@operation("lambda", "PublishVersion")
def publish_version(call: Call) -> HttpAnswer:
    """Publish a version, and make its snapshot if it has SnapStart."""
    return _publish(call, call.forward())


def _publish(call: Call, answer: HttpAnswer) -> HttpAnswer:
    """Show what a call has published, after the start of its snapshot."""
    if answer.status < _FIRST_ERROR and (version := json.loads(answer.body)["Version"]) != _LATEST:
        start_snapshot(call, version)
    return show_setting(call, show_target(call, answer))


@operation("lambda", "GetFunction")
@operation("lambda", "GetFunctionConfiguration")
def show_function(call: Call) -> HttpAnswer:
    """Describe a function as moto does, with its dead-letter target and its SnapStart."""
    return show_setting(call, show_target(call, call.forward()))


@operation("lambda", "UpdateFunctionCode")
def update_function_code(call: Call) -> HttpAnswer:
    """Replace a function's zip; the next invocation uses it."""
    _check_size(call)
    spec = find_function(call)
    (architecture,) = call.params.get("Architectures") or (spec.architecture,)
    check_zip(_read_code(call, call.params), spec.runtime, architecture)
    return _publish(call, call.forward())


@operation("lambda", "UpdateFunctionConfiguration")
def update_function_configuration(call: Call) -> HttpAnswer:
    """Change a function's configuration; the next invocation uses it."""
    _check_lacking(call)
    _check_variables(call)
    spec = find_function(call)
    role = call.params.get("Role", spec.role_arn)
    _check_role(call, role)
    check_zip(spec.code, call.params.get("Runtime", spec.runtime), spec.architecture)
    check_target(call, role)
    check_setting(call, call.params.get("Runtime", spec.runtime))
    keep_target(call, spec.name)
    answer = call.forward()
    keep_setting(call, None)
    return show_setting(call, show_target(call, answer))


@operation("lambda", "DeleteFunction")
def delete_function(call: Call) -> HttpAnswer:
    """Delete a function and stop its environments."""
    spec = find_function(call)
    answer = call.forward()
    if find_qualifier(call):
        forget_configs(call, qualified_arn(call))
    else:
        forget_configs(call, spec.unqualified_arn)
        forget_target(call, spec.name)
        find_fleet(call.cloud).stop_function(spec.unqualified_arn)
    return answer


@describe("functions")
def describe_functions(cloud: Cloud) -> list[dict[str, Any]]:
    """List the functions with their environments."""
    environments = [e for *_, fleet in cloud.states(Fleet) for e in fleet.list_environments()]
    specs = [
        read_spec(function)
        for backends in list(lambda_backends.values())
        for backend in list(backends.values())
        for function in backend.list_functions()
    ]
    return [
        {
            "account": spec.account,
            "region": spec.region,
            "name": spec.name,
            "runtime": spec.runtime,
            "environments": [
                {"state": e.state, **describe_process(e.pid, e.start_seconds)}
                for e in environments
                if e.spec.arn == spec.arn
            ],
        }
        for spec in specs
    ]


def _check_role(call: Call, role_arn: str) -> None:
    if not is_role_arn(role_arn):
        return
    if not may_be_assumed_by_service(role_arn, "lambda.amazonaws.com"):
        raise AwsError(
            "InvalidParameterValueException",
            "The role defined for the function cannot be assumed by Lambda.",
        )
    if (call.params.get("VpcConfig") or {}).get("SubnetIds"):
        for action in _INTERFACE_ACTIONS:
            if not may(role_arn, f"ec2:{action}", "*"):
                raise AwsError(
                    "InvalidParameterValueException",
                    "The provided execution role does not have permissions to call "
                    f"{action} on EC2",
                )


def _check_lacking(call: Call) -> None:
    """Refuse what would be accepted and ignored."""
    name = call.params["FunctionName"].rpartition(":")[2]
    own = {"LogFormat": "Text", "LogGroup": f"/aws/lambda/{name}"}
    logging = call.params.get("LoggingConfig") or {}
    if call.params.get("Layers"):
        raise AwsError("InvalidParameterValueException", "localcloud has no layers")
    if other := sorted(key for key, value in logging.items() if value and own.get(key) != value):
        said = f"localcloud has no {', '.join(other)} of LoggingConfig but the default"
        raise AwsError("InvalidParameterValueException", said)


def _check_size(call: Call) -> None:
    """Refuse a body that is too large; a larger zip must come from S3."""
    if len(call.body) > _MAX_BODY_BYTES:
        raise AwsError(
            "RequestEntityTooLargeException",
            f"Request must be smaller than {_MAX_BODY_BYTES} bytes for the {call.operation} "
            "operation",
            status=413,
        )


def _check_variables(call: Call) -> None:
    given = (call.params.get("Environment") or {}).get("Variables") or {}
    if taken := sorted(_RESERVED & given.keys()):
        raise AwsError(
            "InvalidParameterValueException",
            "Lambda was unable to configure your environment variables because the environment "
            "variables you have provided contains reserved keys that are currently not supported "
            f"for modification. Reserved keys used in this request: {', '.join(taken)}",
        )
    measured = json.dumps(given, separators=(",", ":"), ensure_ascii=False)
    if len(measured.encode()) > _MAX_VARIABLES_BYTES:
        raise AwsError(
            "InvalidParameterValueException",
            "Lambda was unable to configure your environment variables because the environment "
            f"variables you have provided exceeded the 4KB limit. String measured: {measured}",
        )


def _read_code(call: Call, source: dict[str, Any]) -> bytes:
    if "ZipFile" in source:
        zipped = source["ZipFile"]
        return zipped if isinstance(zipped, bytes) else base64.b64decode(zipped)
    try:
        found = s3_backends[call.account]["aws"].get_object(source["S3Bucket"], source["S3Key"])
    except S3ClientError as error:
        raise _no_object(error.code, error.message) from error
    if found is None:
        raise _no_object("NoSuchKey", "The specified key does not exist.")
    return bytes(found.value)


def _no_object(code: str, message: str) -> AwsError:
    return AwsError(
        "InvalidParameterValueException",
        f"Error occurred while GetObject. S3 Error Code: {code}. S3 Error Message: {message}",
    )
