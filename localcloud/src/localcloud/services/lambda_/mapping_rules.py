"""The rules for event source mappings of self-managed Kafka."""

from __future__ import annotations

from typing import Any

from localcloud.destinations import service_of
from localcloud.door.errors import AwsError
from localcloud.poller.patterns import parse_pattern

_LOGINS = frozenset({"SASL_SCRAM_512_AUTH", "SASL_SCRAM_256_AUTH", "BASIC_AUTH"})
_ACCESS = _LOGINS | {"SERVER_ROOT_CA_CERTIFICATE", "VPC_SUBNET", "VPC_SECURITY_GROUP"}
_PROVISIONED_ONLY = (
    "BisectBatchOnFunctionError",
    "FunctionResponseTypes",
    "MaximumRecordAgeInSeconds",
    "MaximumRetryAttempts",
)
_RANGES = {
    "BatchSize": (1, 10_000),
    "MaximumBatchingWindowInSeconds": (0, 300),
    "MaximumRetryAttempts": (-1, 10_000),
    "MaximumRecordAgeInSeconds": (-1, 604_800),
}
_POSITIONS = ("TRIM_HORIZON", "LATEST", "AT_TIMESTAMP")


def check_record(record: dict[str, Any]) -> None:
    """Check a mapping as AWS does; refuse also what is not imitated.

    Raises:
        AwsError: InvalidParameterValueException, with the problem.
    """
    _check_source(record)
    _check_access(record)
    for name, (low, high) in _RANGES.items():
        if not low <= record.get(name, low) <= high:
            raise _refuse(f"{name} is {record[name]}, expected {low} to {high}")
    given = [name for name in _PROVISIONED_ONLY if record.get(name)]
    if given and not record.get("ProvisionedPollerConfig"):
        raise _refuse(f"{', '.join(given)} of a Kafka event source needs ProvisionedPollerConfig")
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
