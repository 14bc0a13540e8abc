"""The translation of botocore's errors into errors of this project."""

from __future__ import annotations

from botocore.exceptions import ClientError

from penstock.aws import Fault, classify
from penstock.errors import (
    RegistryAccessDeniedError,
    RegistryError,
    RegistryUnavailableError,
    SchemaNotFoundError,
    SchemaQuotaError,
)

_KINDS: dict[Fault, type[RegistryError]] = {
    Fault.DENIED: RegistryAccessDeniedError,
    Fault.SKEWED: RegistryAccessDeniedError,
    Fault.THROTTLED: RegistryUnavailableError,
    Fault.DOWN: RegistryUnavailableError,
    Fault.MISSING: SchemaNotFoundError,
    Fault.FULL: SchemaQuotaError,
}


def translate(error: Exception, source: str) -> RegistryError:
    """Return the RegistryError for an error of the registry `source`, or of STS before it."""
    fault = classify(error)
    if not isinstance(error, ClientError):
        if fault is Fault.DENIED:
            return RegistryAccessDeniedError(f"no credentials for {source}: {_plain(error)}")
        return RegistryUnavailableError(f"no answer from {source}: {_plain(error)}")
    code = error.response.get("Error", {}).get("Code", "")
    kind = _KINDS.get(fault, RegistryError)
    text = _plain(error.response.get("Error", {}).get("Message") or "no reason given")
    if error.operation_name != "AssumeRole":
        return kind(f"{source} answered glue:{error.operation_name} with {code}: {text}")
    if kind is RegistryAccessDeniedError:  # STS does not say which of the two is wrong
        text += ", expected a role that trusts this caller, and the external id that it asks for"
    return kind(f"{source} answered sts:AssumeRole with {code}: {text}")


def _plain(text: object) -> str:
    return str(text).rstrip(".")
