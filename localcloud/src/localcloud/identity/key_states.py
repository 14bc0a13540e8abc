"""Keys of KMS that do not work: disabled, waiting for deletion, missing, or made to sign.

KMS Developer Guide, "Key states of AWS KMS keys".
"""

from __future__ import annotations

from typing import NamedTuple

from moto.kms.models import kms_backends

_ENCRYPTS = frozenset(
    {
        *("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"),
        *("kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt"),
    }
)
_OTHERS = frozenset(
    {"kms:CreateGrant", "kms:GenerateMac", "kms:Sign", "kms:Verify", "kms:VerifyMac"}
)
_USAGES = (None, "ENCRYPT_DECRYPT")  # moto stores None for the default


class KeyFlaw(NamedTuple):
    """Why an action on a key fails: the exception of KMS, and its sentence."""

    action: str
    exception: str
    says: str

    @property
    def plain(self) -> str:
        """The name of the exception to which services add their own KMS."""
        return self.exception.removeprefix("KMS")


def find_flaw(action: str, resource: str | None) -> KeyFlaw | None:
    """Return why an action on a key fails, None for one that works and for AWS's own."""
    if resource is None or action not in _ENCRYPTS | _OTHERS or ":key/" not in resource:
        return None
    region, account, end = resource.split(":", 5)[3:]
    key = kms_backends[account][region].keys.get(end.removeprefix("key/"))
    if key is None:
        return KeyFlaw(action, "NotFoundException", f"Key '{resource}' does not exist")
    if key.key_state == "Disabled":
        return KeyFlaw(action, "DisabledException", f"{resource} is disabled.")
    if key.key_state != "Enabled":
        state = "pending deletion" if key.key_state == "PendingDeletion" else key.key_state
        return KeyFlaw(action, "KMSInvalidStateException", f"{resource} is {state}.")
    if action in _ENCRYPTS and key.key_usage not in _USAGES:
        said = f"key usage is {key.key_usage} which is not valid for {action.removeprefix('kms:')}."
        return KeyFlaw(action, "InvalidKeyUsageException", f"{resource} {said}")
    return None
