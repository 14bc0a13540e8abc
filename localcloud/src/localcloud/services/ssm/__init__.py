"""Parameter Store is moto's, with the checks on names, values and keys that moto lacks."""

from __future__ import annotations

from localcloud.door.errors import AwsError
from localcloud.door.service import ErrorCode, Moto, Service
from localcloud.services.ssm.iam_resources import list_resources

SERVICE = Service(
    "ssm",
    endpoint="ssm",
    throttle=ErrorCode("ThrottlingException", 400),
    key_error=lambda flaw: AwsError("InvalidKeyId", flaw.says, status=400),
    resources=list_resources,
    operations=("parameters",),
    contents={"PutParameter": ("Value",)},  # it may be a SecureString
    moto=Moto(
        keeps="AddTagsToResource LabelParameterVersion UnlabelParameterVersion",
    ),
)
