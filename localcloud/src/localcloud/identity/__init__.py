"""The caller: credentials and permissions."""

from localcloud.identity.tokens import AcceptedToken, KnownKey, check_payload, check_token

__all__ = ["AcceptedToken", "KnownKey", "check_payload", "check_token"]
