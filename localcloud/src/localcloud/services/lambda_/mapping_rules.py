"""The rules for event source mappings of self-managed Kafka."""

from __future__ import annotations

from typing import Any

from localcloud.destinations import service_of
from localcloud.door.errors import AwsError
from localcloud.poller.patterns import parse_pattern

_LOGINS = frozenset({"SASL_SCRAM_512_AUTH", "SASL_SCRAM_256_AUTH", "BASIC_AUTH"})
_ACCESS = _LOGINS | {"SERVER_ROOT_CA_CERTIFICATE", "VPC_SUBNET", "VPC_SECURITY_GROUP"}
# An update may give their defaults, false and none, without provisioned pollers.
_PROVISIONED_FLAGS = ("BisectBatchOnFunctionError", "FunctionResponseTypes")
_PROVISIONED_NUMBERS = ("MaximumRecordAgeInSeconds", "MaximumRetryAttempts")
# Lambda API Reference, EventSourceMappingConfiguration and ProvisionedPollerConfig: stricter than
# the ranges of the parameters, which are wide enough for other sources.
_SHORTEST_AGE, _LONGEST_AGE, _MOST_POLLERS = 60, 604_800, 2_000
_POSITIONS = ("TRIM_HORIZON", "LATEST", "AT_TIMESTAMP")


def check_record(record: dict[str, Any]) -> None:
    """Check a mapping as AWS does; refuse also what is not imitated.

    The API's own ranges, such as that of "MaximumBatchingWindowInSeconds", hold already.

    Raises:
        AwsError: InvalidParameterValueException, with the problem.
    """
    _check_source(record)
    _check_access(record)
    _check_provisioned(record)
    for criterion in record.get("FilterCriteria", {}).get("Filters", []):
        try:
            parse_pattern(criterion["Pattern"])
        except ValueError as error:
            raise _refuse(f"Invalid filter pattern definition: {error}") from error
    destination = record.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    if destination and service_of(destination) not in {"sqs", "sns", "s3"}:
        raise _refuse(
            f"the on-failure destination is {destination!r}, expected the ARN of an SQS queue, "
            "an SNS topic or an S3 bucket (Kafka topics are not supported)"
        )


def _check_provisioned(record: dict[str, Any]) -> None:
    given = [name for name in _PROVISIONED_FLAGS if record.get(name)]
    given += [name for name in _PROVISIONED_NUMBERS if name in record]
    pollers = record.get("ProvisionedPollerConfig")
    if given and not pollers:
        raise _refuse(f"{', '.join(given)} of a Kafka event source needs ProvisionedPollerConfig")
    age = record.get("MaximumRecordAgeInSeconds", -1)
    if -1 < age < _SHORTEST_AGE:
        raise _refuse(
            f"MaximumRecordAgeInSeconds is {age}, expected -1 or {_SHORTEST_AGE} to {_LONGEST_AGE}"
        )
    most = (pollers or {}).get("MaximumPollers", 1)
    if most > _MOST_POLLERS:
        raise _refuse(f"MaximumPollers is {most}, expected 1 to {_MOST_POLLERS}")


def _check_source(record: dict[str, Any]) -> None:
    if not record["SelfManagedEventSource"].get("Endpoints"):
        raise _refuse("SelfManagedEventSource names no KAFKA_BOOTSTRAP_SERVERS")
    if len(record.get("Topics", [])) != 1:
        raise _refuse(f"Topics is {record.get('Topics', [])}, expected the name of one topic")
    position = record.get("StartingPosition")
    if position not in _POSITIONS:
        raise _refuse(f"StartingPosition is {position!r}, expected one of {', '.join(_POSITIONS)}")
    if (position == "AT_TIMESTAMP") != ("StartingPositionTimestamp" in record):
        raise _refuse("StartingPositionTimestamp requires StartingPosition AT_TIMESTAMP")


def _check_access(record: dict[str, Any]) -> None:
    kinds = [one["Type"] for one in record["SourceAccessConfigurations"]]
    if strange := sorted(set(kinds) - _ACCESS):
        raise _refuse(
            f"SourceAccessConfigurations has {', '.join(strange)}, expected some of "
            f"{', '.join(sorted(_ACCESS))} (AWS's other types for Kafka are not supported)"
        )
    if len(_LOGINS & set(kinds)) > 1:
        raise _refuse("SourceAccessConfigurations has more than one login")


def _refuse(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
