"""Between HTTP and operations: which one a request calls, and how its answer looks on the wire.

Routing, parsing and serialising are moto's, driven by botocore's service models, so an operation
is named and shaped exactly as in boto3 whatever the protocol of its service.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.exceptions import MethodNotAllowed, NotFound

from localcloud.operations import HttpAnswer

# Signing name -> name of the botocore model, where they differ.
_SERVICE_OF_SIGNING_NAME = {"monitoring": "cloudwatch", "elasticloadbalancing": "elbv2"}


@dataclass(frozen=True, slots=True)
class Target:
    """The operation that a request calls, found without reading more of it than needed."""

    service: str
    operation: str
    model: Any
    uri_params: dict[str, Any]
    protocol: str


def service_of(signing_name: str) -> str:
    """Name the service that a credential scope's signing name stands for."""
    return _SERVICE_OF_SIGNING_NAME.get(signing_name, signing_name)


def find_target(request: Request, service: str) -> Target | None:
    """Match a request to an operation of the service's model, or None where there is no such."""
    try:
        model, uri_params = get_service_router(service).match(request)
    except (NotFound, MethodNotAllowed):
        return None
    protocol = determine_request_protocol(get_service_model(service), request.content_type)
    return Target(service, str(model.name), model, uri_params, protocol)


def parse_params(request: Request, target: Target) -> dict[str, Any]:
    """Read the parameters, named as in boto3."""
    parsed: dict[str, Any] = PROTOCOL_PARSERS[target.protocol](target.model).parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": request.get_data(cache=True),
            "url_path": request.path,
            "url_params": target.uri_params,
        }
    )
    return parsed


def serialize(target: Target, result: dict[str, Any] | ServiceException) -> HttpAnswer:
    """Write a result, or an error, as the service's protocol has it."""
    service = target.model.service_model.service_name
    answer = get_serializer_class(service, target.protocol)(target.model).serialize(result)
    status = getattr(result, "status", None) or answer["status_code"]
    body = answer["body"]
    return HttpAnswer(
        status=status,
        headers=tuple((name, str(value)) for name, value in answer["headers"].items()),
        body=body if isinstance(body, bytes) else body.encode(),
    )
