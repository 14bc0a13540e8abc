"""Names of security groups that EC2 refuses and moto takes."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer, operation


@operation("ec2", "CreateSecurityGroup")
def create_security_group(call: Call) -> HttpAnswer:
    """Create a group, unless its name looks like an id (API Reference, CreateSecurityGroup)."""
    name = call.params["GroupName"]
    if name.startswith("sg-"):
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({name}) for parameter GroupName is invalid. Group names may not be in the "
            "format sg-*.",
        )
    return call.forward()
