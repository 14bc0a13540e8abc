"""The rules for the destinations of asynchronous invocations.

The rights are those of the Lambda Developer Guide, "Capturing records of Lambda asynchronous
invocations"; what AWS asks of them is the assumption `destination-checks`.
"""

from __future__ import annotations

from moto.awslambda.exceptions import UnknownFunctionException
from moto.awslambda.models import lambda_backends
from moto.sns.models import sns_backends
from moto.sqs.models import sqs_backends

from localcloud.door.errors import AwsError
from localcloud.functions import FunctionSpec
from localcloud.identity.permissions import may
from localcloud.identity.resource_policies import find_bucket
from localcloud.identity.roles import is_role_arn

_ACTIONS = {
    "lambda": ("InvokeFunction",),
    "s3": ("PutObject", "ListBucket"),
    "sns": ("Publish",),
    "sqs": ("SendMessage",),
}
_OF_AN_ARN = 6  # parts


def check_destinations(spec: FunctionSpec, on_success: str | None, on_failure: str | None) -> None:
    """Check that records can go to the destinations of a function, as AWS does.

    Raises:
        AwsError: InvalidParameterValueException, with the problem.
    """
    services = [arn and _service_of(arn) for arn in (on_success, on_failure)]
    if "events" in services:
        raise _refuse("localcloud sends no records to an event bus; send them to an SQS queue")
    if services[0] == "s3" or not {*services} <= {None, *_ACTIONS}:
        success = f"OnSuccess(destination={on_success})" if on_success else "null"
        failure = f"OnFailure(destination={on_failure})" if on_failure else "null"
        raise _refuse(
            "The provided destination config "
            f"DestinationConfig(onSuccess={success}, onFailure={failure}) is invalid."
        )
    for destination in (on_success, on_failure):
        if destination:
            _check_target(spec, destination)


def _check_target(spec: FunctionSpec, destination: str) -> None:
    if not _exists(destination):
        raise _refuse(f"The destination ARN {destination} is invalid.")
    if f"{destination}:".startswith(f"{spec.unqualified_arn}:"):
        raise _refuse("You can't specify the function as a destination for itself.")
    service = _service_of(destination)
    for action in _ACTIONS[service]:
        record = f"{destination}/aws/lambda/async/{spec.name}/record"
        on = record if action == "PutObject" else destination
        if is_role_arn(spec.role_arn) and not may(spec.role_arn, f"{service}:{action}", on):
            raise _refuse(
                "The function's execution role does not have permissions to call "
                f"{action} on {destination}"
            )


def _service_of(arn: str) -> str:
    parts = arn.split(":", _OF_AN_ARN - 1)
    return parts[2] if len(parts) == _OF_AN_ARN else ""


def _exists(arn: str) -> bool:
    _, _, service, region, account, name = arn.split(":", _OF_AN_ARN - 1)
    try:
        match service:
            case "s3":
                return find_bucket(name)[1] is not None
            case "sns":
                return arn in sns_backends[account][region].topics
            case "sqs":
                return name in sqs_backends[account][region].queues
            case _:
                lambda_backends[account][region].get_function(arn)
                return True
    except (KeyError, UnknownFunctionException):  # KeyError: no such region
        return False


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
