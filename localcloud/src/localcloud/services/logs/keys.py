"""Log groups with a key of the customer's: its policy must let CloudWatch Logs use it.

CloudWatch Logs User Guide, "Encrypt log data in CloudWatch Logs using AWS KMS".
"""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation
from localcloud.notices import find_obstacle

_ACTIONS = ("Encrypt", "Decrypt", "ReEncryptFrom", "GenerateDataKey", "DescribeKey")


@operation("logs", "AssociateKmsKey")
@operation("logs", "CreateLogGroup")
def use_key(call: Call) -> HttpAnswer:
    """Let moto store the group, if the key's policy allows its use for this group."""
    key, group = call.params.get("kmsKeyId"), call.params.get("logGroupName")
    if key and group:
        _check_key(call, key, f"arn:aws:logs:{call.region}:{call.account}:log-group:{group}")
    return call.forward()


def _check_key(call: Call, key: str, group: str) -> None:
    service = f"logs.{call.region}.amazonaws.com"
    context = {"kms:EncryptionContext:aws:logs:arn": group}
    for action in _ACTIONS:
        if obstacle := find_obstacle(key, service, f"kms:{action}", context):
            said = f"The specified KMS Key Id could not be used for {group}: {obstacle}"
            raise AwsError("InvalidParameterException", said)
