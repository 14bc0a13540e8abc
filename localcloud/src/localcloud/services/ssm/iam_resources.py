"""How calls of Parameter Store name parameters for IAM, and the keys of encrypted ones.

Systems Manager User Guide, "How Parameter Store authorizes parameter retrieval" and "AWS KMS
encryption for AWS Systems Manager Parameter Store SecureString parameters".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.backends import get_backend  # ssm's imports that of EC2, which takes half a second

from localcloud.door.operations import Call
from localcloud.identity.access import Access
from localcloud.identity.resource_policies import (
    KeyUse,
    key_use_of_secret,
    key_uses,
    secret_arn,
)

_OPERATIONS = frozenset(
    {
        *("DeleteParameter", "DeleteParameters", "GetParameter", "GetParameterHistory"),
        *("GetParameters", "GetParametersByPath", "LabelParameterVersion", "PutParameter"),
        "UnlabelParameterVersion",
    }
)
# The name of a parameter that stands for a secret: Systems Manager User Guide, "Referencing AWS
# Secrets Manager secrets from Parameter Store parameters".
_SECRET_REFERENCE = "/aws/reference/secretsmanager/"  # noqa: S105 - a name
_PUBLIC = "/aws/service/"
_PAGE = 10


def list_resources(call: Call, action: str) -> Iterator[Access]:
    """Yield the parameters of a call and the use of their keys."""
    uses = [Access(*use) for use in _list_uses(call)]
    yield from uses or [Access(action, None)]


def _list_uses(call: Call) -> Iterator[KeyUse]:
    """Yield the actions on parameters and keys; a call by path is judged by the path alone."""
    params = call.params
    if call.operation not in _OPERATIONS:
        return
    context = {
        f"ssm:{name}": str(params[name]).lower()
        for name in ("Overwrite", "Recursive")
        if name in params
    }
    names = params.get("Names") or [params.get("Path") or params["Name"]]
    for name in names:
        arn = _arn(call, name)
        yield f"ssm:{call.operation}", arn, context
        if params.get("Tags"):
            yield "ssm:AddTagsToResource", arn, {}
        if name.startswith(_SECRET_REFERENCE):
            yield from _read_secret(call, name.removeprefix(_SECRET_REFERENCE))
    yield from _key_uses(call)


def find_parameter(call: Call, name: str) -> Any:
    """Return moto's record of a parameter, given as name or ARN; None if there is none."""
    plain = name.partition(":parameter")[2] if name.startswith("arn:") else name
    if plain.startswith(_SECRET_REFERENCE):
        return None
    return get_backend("ssm")[call.account][call.region].get_parameter(plain.partition(":")[0])


def list_decrypted(call: Call) -> list[Any]:
    """List moto's records of the parameters that a call reads decrypted."""
    params = call.params
    if not params.get("WithDecryption"):
        return []
    if path := params.get("Path"):
        found, _ = get_backend("ssm")[call.account][call.region].get_parameters_by_path(
            path,
            bool(params.get("Recursive")),
            next_token=_token(params),
            max_results=params.get("MaxResults", _PAGE),
        )
    else:
        names = params.get("Names") or [params["Name"]]
        found = [find_parameter(call, name) for name in names]
    return [each for each in found if each and each.parameter_type == "SecureString"]


def _token(params: dict[str, Any]) -> str | None:
    token = params.get("NextToken", "")
    return token if token.isdecimal() else None  # the operation refuses any other


def _key_uses(call: Call) -> Iterator[KeyUse]:
    params = call.params
    if call.operation == "PutParameter":
        known = find_parameter(call, params["Name"])
        if params.get("Type", getattr(known, "parameter_type", None)) == "SecureString":
            advanced = params.get("Tier", "Standard") != "Standard"
            action = "kms:GenerateDataKey" if advanced else "kms:Encrypt"
            key_id = params.get("KeyId") or getattr(known, "keyid", None)
            yield from _with_key(call, action, params["Name"], key_id)
    else:
        for found in list_decrypted(call):
            yield from _with_key(call, "kms:Decrypt", found.name, found.keyid)


def _with_key(call: Call, action: str, name: str, key_id: str | None) -> Iterator[KeyUse]:
    context = {"PARAMETER_ARN": _arn(call, name)}
    return key_uses((action,), call.account, call.region, key_id, context)


def _read_secret(call: Call, name: str) -> Iterator[KeyUse]:
    arn = secret_arn(call.account, call.region, name)
    yield "secretsmanager:GetSecretValue", arn, {}
    yield from key_use_of_secret(arn, "GetSecretValue")


def _arn(call: Call, name: str) -> str:
    """Return the ARN of a parameter or path, without a version or label that its name ends with."""
    if name.startswith("arn:"):
        return ":".join(name.split(":")[:6])
    owner = "" if name.startswith(_PUBLIC) else call.account
    plain = name.removeprefix("/").partition(":")[0]
    return f"arn:aws:ssm:{call.region}:{owner}:parameter/{plain}"
