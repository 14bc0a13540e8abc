"""Secrets Manager is moto's; users of a secret's value are notified of changes."""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.service import ErrorCode, Moto, Policies, Service
from localcloud.identity.access import Access
from localcloud.identity.key_states import KeyFlaw
from localcloud.identity.resource_policies import key_use_of_secret, secret_arn


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the secret of a call and the use of its key; ListSecrets names none."""
    secret_id = call.params.get("SecretId") or call.params.get("Name")
    if not secret_id:
        yield Access(action, None)
        return
    arn = secret_arn(call.account, call.region, secret_id)
    yield Access(action, arn)
    key = call.params.get("KmsKeyId")
    yield from (Access(*use) for use in key_use_of_secret(arn, call.operation, key))


def make_key_error(flaw: KeyFlaw) -> AwsError:
    """Return the error for a key that does not work, as the API Reference has it."""
    verb = "decrypt" if flaw.action == "kms:Decrypt" else "encrypt"
    said = f"Secrets Manager can't {verb} the protected secret text using the provided KMS key"
    return AwsError(f"{verb.capitalize()[:2]}cryptionFailure", f"{said}: {flaw.says}", status=400)


SERVICE = Service(
    "secretsmanager",
    endpoint="secretsmanager",
    throttle=ErrorCode("ThrottlingException", 400),
    resources=list_resources,
    key_error=make_key_error,
    operations=("secrets",),
    policies=Policies(
        "MalformedPolicyDocumentException",
        "This resource policy contains an unsupported principal.",
        {"PutResourcePolicy": ("ResourcePolicy",)},
    ),
    moto=Moto(
        keeps="CreateSecret PutResourcePolicy RestoreSecret TagResource",
    ),
    ignored={
        "PutSecretValue": "RotationToken",
        "RotateSecret": (
            "ClientRequestToken ExternalSecretRotationMetadata ExternalSecretRotationRoleArn "
            "RotateImmediately RotationRules"
        ),
    },
)
