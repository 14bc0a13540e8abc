"""KMS is moto's."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.service import Moto, Policies, Service
from localcloud.identity.access import Access
from localcloud.identity.resource_policies import key_arn
from localcloud.moto_repairs import read_key_of_ciphertext


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the key of a call, which Decrypt need not name."""
    key = call.params.get("KeyId") or call.params.get("TargetKeyId")
    if key is None and "CiphertextBlob" in call.params:
        key = read_key_of_ciphertext(call.params["CiphertextBlob"])
    yield Access(action, key_arn(call.account, call.region, key) if key else None)


SERVICE = Service(
    "kms",
    endpoint="kms",
    throttle=None,
    resources=list_resources,
    key_error=lambda flaw: AwsError(flaw.exception, flaw.says, status=400),
    policies=Policies(
        "MalformedPolicyDocumentException",
        "Policy contains a statement with one or more invalid principals.",
        {"CreateKey": ("Policy",), "PutKeyPolicy": ("Policy",)},
    ),
    moto=Moto(
        keeps=(
            "CancelKeyDeletion CreateAlias CreateKey Decrypt DisableKey EnableKey Encrypt "
            "GenerateDataKey GenerateDataKeyWithoutPlaintext GenerateMac GenerateRandom "
            "PutKeyPolicy ReEncrypt ScheduleKeyDeletion Sign TagResource UpdateAlias "
            "UpdateKeyDescription Verify VerifyMac"
        ),
        ignores=(
            "CreateGrant DisableKeyRotation EnableKeyRotation RetireGrant RevokeGrant "
            "RotateKeyOnDemand"
        ),
    ),
)
