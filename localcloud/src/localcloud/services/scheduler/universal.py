"""Universal targets: an operation of any AWS service, with its parameters as the input.

EventBridge Scheduler User Guide, "Using universal targets": the ARN names the service as AWS's SDKs
do and the operation in camelCase, and no operation that only reads is a target. The parameters are
in PascalCase whatever the service's own API has; assumption `schedule-universal`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import botocore.session
from botocore import xform_name
from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

_ARN = re.compile(r"arn:aws:scheduler:::aws-sdk:([a-z0-9]+):([a-z][A-Za-z0-9]*)")
_READS = (
    "get describe list poll receive search scan query select read lookup discover validate "
    "batchGet batchDescribe batchRead transactGet adminGet adminList testMigration retrieve "
    "testConnection translateDocument isAuthorized invokeModel"
).split()


@dataclass(frozen=True, slots=True)
class UniversalTarget:
    """An operation of a service, by boto3's name of the service."""

    service: str
    model: OperationModel

    @property
    def method(self) -> str:
        """The method of boto3's client."""
        return str(xform_name(self.model.name))

    def read_params(self, text: str) -> dict[str, Any]:
        """Return the parameters of the operation in an input.

        Raises:
            ValueError: a field is missing or unknown.
        """
        params: dict[str, Any] = _convert(json.loads(text), self.model.input_shape)
        return params


def find_universal_target(arn: str) -> UniversalTarget | None:
    """Return the operation that an ARN names, None if it is no universal target.

    Raises:
        ValueError: there is no such service or operation, or it only reads.
    """
    found = _ARN.fullmatch(arn)
    if found is None:
        return None
    service, action = found.groups()
    name = _services().get(service)
    if name is None:
        raise ValueError(f"{service} is not a supported service for a target.")
    model = botocore.session.get_session().get_service_model(name)
    operation = action[:1].upper() + action[1:]
    if operation not in model.operation_names or action.startswith(tuple(_READS)):
        raise ValueError(f"{action} is not a supported api for the service {service}.")
    return UniversalTarget(name, model.operation_model(operation))


@cache
def _services() -> dict[str, str]:
    """Return boto3's names of the services that localcloud's schedules call, by their SDK's."""
    session = botocore.session.get_session()
    models = {name: session.get_service_model(name) for name in ("emr", "emr-serverless")}
    return {model.service_id.lower().replace(" ", ""): name for name, model in models.items()}


def _convert(given: Any, shape: Shape | None) -> Any:
    """Return a value of the input with the names that the service's API has."""
    if isinstance(shape, StructureShape):
        return _convert_members(given, shape)
    if isinstance(shape, ListShape) and isinstance(given, list):
        return [_convert(each, shape.member) for each in given]
    if isinstance(shape, MapShape) and isinstance(given, dict):
        return {key: _convert(each, shape.value) for key, each in given.items()}
    return given


def _convert_members(given: Any, shape: StructureShape) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"Invalid RequestJson provided. Reason {given!r} is no object.")
    names = {name[:1].upper() + name[1:]: name for name in shape.members}
    required = {name[:1].upper() + name[1:] for name in shape.required_members}
    if missing := sorted(required - given.keys()):
        raise ValueError(
            "Invalid RequestJson provided. Reason Request payload is missing the following "
            f"field(s): {', '.join(missing)}."
        )
    if unknown := sorted(given.keys() - names.keys()):
        raise ValueError(
            f"Invalid RequestJson provided. Reason The field(s) {', '.join(unknown)} are not "
            "supported."
        )
    return {
        names[name]: _convert(value, shape.members[names[name]]) for name, value in given.items()
    }
