"""moto, behind the door: it answers what localcloud has no operation of its own for."""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Callable, Iterable
from typing import Any

from moto.backends import list_of_moto_modules
from moto.core.request import Request
from moto.core.responses import BaseResponse
from moto.core.utils import camelcase_to_underscores
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from localcloud.identity.callers import Caller
from localcloud.operations import HttpAnswer

_moto = DomainDispatcherApplication(create_backend_app)


def answer_unsigned(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Let moto answer a request without a signature: it knows the few that need none."""
    answer: Iterable[bytes] = _moto(environ, start_response)
    return answer


def forward(environ: dict[str, Any], caller: Caller) -> HttpAnswer:
    """Let moto answer a request in the caller's account."""
    head: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> None:
        head.update(status=int(status.split(" ", maxsplit=1)[0]), headers=tuple(headers))

    environ["HTTP_X_MOTO_ACCOUNT_ID"] = caller.account
    if isinstance(environ["wsgi.input"], io.BytesIO):
        environ["wsgi.input"].seek(0)
    body = b"".join(_moto(environ, start_response))
    return HttpAnswer(head["status"], head["headers"], body)


def knows(service: str, operation: str) -> bool:
    """Say whether moto implements an operation."""
    name = camelcase_to_underscores(operation)
    return any(hasattr(kind, name) for kind in _response_classes(service)) or service in _ROUTED


# moto answers these by routes of its own, not by one method per operation.
_ROUTED = frozenset({"s3"})
_FOLDERS = {"lambda": "awslambda", "emr-serverless": "emrserverless"}


@functools.cache
def _response_classes(service: str) -> tuple[type[Any], ...]:
    folder = _FOLDERS.get(service, service)
    if folder not in list_of_moto_modules():
        return ()
    module = importlib.import_module(f"moto.{folder}.responses")
    return tuple(
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, BaseResponse)
    )


def unknown_operation(request: Request, service: str) -> HttpAnswer:
    """Answer a request that no operation of the service's model matches."""
    text = f"{request.method} {request.path} is no operation of {service} that localcloud knows"
    return HttpAnswer(501, (("Content-Type", "text/plain"),), text.encode())
