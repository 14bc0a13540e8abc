"""Who calls: credentials, and what they may do."""

from localcloud.identity.tokens import AcceptedToken, KnownKey, check_payload, check_token

__all__ = ["AcceptedToken", "KnownKey", "check_payload", "check_token"]
