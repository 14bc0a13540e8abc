"""The version or alias that a call names, behind the function's name or as its Qualifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.access import Access, arn_of, by_parameter, on_everything

_by_parameter = by_parameter(
    ("UUID", "event-source-mapping:{}"), ("FunctionName", "function:{}"), ("Resource", "{}")
)


def find_qualifier(call: Call) -> str:
    """Return the version or alias that a call names, "" if it names none."""
    return _split_name(call)[1] or str(call.params.get("Qualifier") or "")


def qualified_arn(call: Call) -> str:
    """Return the ARN of the version or alias that a call names, of $LATEST if it names none."""
    arn = arn_of(call, _split_name(call)[0], "function:{}")
    return f"{arn}:{find_qualifier(call) or '$LATEST'}"


def _split_name(call: Call) -> tuple[str, str]:
    """Return the name or ARN of a function, and the version or alias behind it or ""."""
    parts = str(call.params.get("FunctionName") or "").split(":")
    end = 7 if parts[0] == "arn" else 1
    return ":".join(parts[:end]), ":".join(parts[end:])


def check_qualifier(call: Call) -> None:
    """Raise AwsError if the name of a function and the Qualifier name two of its versions."""
    asked = call.params.get("Qualifier")
    if asked and find_qualifier(call) != asked:
        raise AwsError(
            "InvalidParameterValueException",
            "The derived qualifier from the function name does not match the specified qualifier.",
        )


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the function or the mapping of a call; a new mapping has no id yet.

    Lambda judges a version or an alias that a call names in either way by its own ARN: Lambda
    Developer Guide, "Fine-tuning the Resources and Conditions sections of policies".
    """
    if call.operation == "CreateEventSourceMapping":
        yield from on_everything(call, action)
        return
    qualifier = "" if _split_name(call)[1] else find_qualifier(call)
    for access in _by_parameter(call, action):
        qualified = f"{access.resource}:{qualifier}" if qualifier else access.resource
        yield replace(access, resource=qualified)
