"""HTTP to operations and back: routing, parsing and serializing.

All three are moto's, driven by botocore's service models. An operation is named and shaped exactly
as in boto3, whatever the protocol of its service.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import UnknownServiceError
from moto.core.exceptions import ServiceException
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.exceptions import MethodNotAllowed, NotFound

from localcloud.door.errors import AwsError, unknown_operation
from localcloud.door.operations import HttpAnswer
from localcloud.moto_repairs import announce_error_code

# Operations of S3 whose body is an object; only moto reads it.
_OBJECTS = frozenset({"PutObject", "UploadPart"})


@dataclass(frozen=True, slots=True)
class Target:
    """The operation of a request; only the parts needed to find it are read."""

    service: str
    operation: str
    model: Any
    uri_params: dict[str, Any]
    protocol: str


def find_target(request: Request, service: str) -> Target | None:
    """Match a request to an operation of the service's model; return None if none matches."""
    try:
        model, uri_params = get_service_router(service).match(request)
    except (NotFound, MethodNotAllowed, NotImplementedError, UnknownServiceError):
        return None  # NotImplementedError: a content type that none of its protocols has
    return Target(service, str(model.name), model, uri_params, _protocol(request, service))


def refuse_unmatched(request: Request, service: str) -> HttpAnswer:
    """Return the error for a request without an operation, in the service's protocol if known."""
    asked = f"{service}: {request.method} {request.path}"
    try:
        target = _any_target(service, _protocol(request, service))
    except UnknownServiceError:
        error = unknown_operation(asked, "")
        return HttpAnswer(404, (("Content-Type", "text/plain"),), f"{error}\n".encode())
    return serialize(target, unknown_operation(asked, target.protocol))


def refuse_unsigned(request: Request) -> HttpAnswer | None:
    """Return the refusal of an unsigned request, None for one to S3, which may be unsigned.

    The service is unknown without a signature, except for operations of STS that take none.
    """
    in_json = "X-Amz-Target" in request.headers
    if not in_json and (request.method, request.path) != ("POST", "/"):
        return None
    target = None if in_json else find_target(request, "sts")
    if target is not None and target.model.auth_type == "none":
        return serialize(target, unknown_operation(f"sts:{target.operation}", "query"))
    said = "Request is missing Authentication Token"
    error = AwsError("MissingAuthenticationToken", said, status=403)
    service, protocol = ("dynamodb", "json") if in_json else ("sts", "query")
    return serialize(_any_target(service, protocol), error)


def _any_target(service: str, protocol: str) -> Target:
    """Return a stand-in operation of a service, to serialize an error in its protocol."""
    model = get_service_model(service)
    any_model = model.operation_model(model.operation_names[0])
    return Target(service, "", any_model, {}, protocol)


def _protocol(request: Request, service: str) -> str:
    model = get_service_model(service)
    try:
        return str(determine_request_protocol(model, request.content_type))
    except NotImplementedError:  # botocore has no protocol for this content type
        return str(model.metadata["protocol"])


def parse_params(request: Request, target: Target) -> dict[str, Any]:
    """Return the parameters, named as in boto3, without the body of an object.

    Raises:
        AwsError: the request does not have the form of its operation.
    """
    try:
        body = b"" if target.operation in _OBJECTS else request.get_data(cache=True)
        return _parse(request, target, body)
    except Exception as error:  # the parser has no error classes
        said = f"{target.service}:{target.operation} cannot be read: {error!r}"
        raise AwsError("SerializationException", said, status=400) from error


def _parse(request: Request, target: Target, body: bytes) -> dict[str, Any]:
    if target.protocol == "json":
        json.loads(body or b"{}")  # the parser would read a body that is not JSON as no parameters
    parsed: dict[str, Any] = PROTOCOL_PARSERS[target.protocol](target.model).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": body,
            "url_path": request.path,
            "url_params": target.uri_params,
        }
    )
    return parsed


def serialize(target: Target, result: dict[str, Any] | ServiceException) -> HttpAnswer:
    """Serialize a result or an error in the service's protocol."""
    status = None
    if isinstance(result, AwsError) and result.status is not None:
        status = result.status
        announce_error_code(result.code)
    service = target.model.service_model.service_name
    answer = get_serializer_class(service, target.protocol)(target.model).serialize(result)
    body = answer["body"]
    return HttpAnswer(
        status=status or answer["status_code"],
        headers=tuple((name, str(value)) for name, value in answer["headers"].items()),
        body=body if isinstance(body, bytes) else body.encode(),
    )
