"""The gateway: the life of a call, from the request to the answer, on one screen.

who calls -> which operation -> injected fault -> permission of IAM, and of Lake Formation on the
catalog -> own operation or moto -> log
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.request import Request

from localcloud.cloud import Cloud
from localcloud.door import moto_fallback, wire
from localcloud.door.call_log import CallLog
from localcloud.door.errors import AwsError, not_implemented
from localcloud.door.http_server import CutConnectionError, Wsgi
from localcloud.door.operations import Call, HttpAnswer, find_operation
from localcloud.door.services import find_signed, load_operations
from localcloud.door.wire import Target
from localcloud.faults import Faults
from localcloud.identity.callers import Caller, identify, read_scope, refuse_unknown
from localcloud.identity.catalog_access import check_catalog, settle_catalog
from localcloud.identity.dependent_access import create_linked_role
from localcloud.identity.permissions import authorize

_log = logging.getLogger(__name__)


class Gateway:
    """The WSGI application that every AWS call on this machine passes.

    `control` answers the requests under /_localcloud/.
    """

    def __init__(self, cloud: Cloud, log: CallLog, control: Wsgi) -> None:
        self._cloud = cloud
        self._log = log
        self._control = control

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one HTTP request."""
        if environ["PATH_INFO"].startswith("/_localcloud/"):
            return self._control(environ, start_response)
        scope = read_scope(_request(environ))
        if scope is None:
            return _answer_unsigned(environ, start_response)
        access_key, region, signing_name = scope
        caller = identify(self._cloud, access_key, region)
        service = find_signed(signing_name, _request(environ)).name
        answer = self._answer(environ, caller, service)
        return _send(answer, start_response)

    def _answer(self, environ: dict[str, Any], caller: Caller, service: str) -> HttpAnswer:
        started = time.monotonic()
        request = _request(environ)
        target = wire.find_target(request, service)
        call = Call(
            cloud=self._cloud,
            caller=caller,
            service=service,
            operation=target.operation if target else f"{request.method} {request.path}",
            params={},
            forward=lambda: moto_fallback.forward(environ, call),
            body=environ["wsgi.input"].getvalue(),
            protocol=target.protocol if target else "",
            agent=request.headers.get("User-Agent", ""),
            endpoint=environ.get("localcloud.endpoint"),
        )
        answer = self._try(call, target, environ)
        self._log.write(call, answer, seconds=time.monotonic() - started)
        if answer is None:
            raise CutConnectionError
        return answer

    def _try(self, call: Call, target: Target | None, environ: dict[str, Any]) -> HttpAnswer | None:
        if target is None:
            return wire.refuse_unmatched(_request(environ), call.service)
        try:
            call.params = wire.parse_params(_request(environ), target)
            return self._cloud.state(Faults).around(call, lambda: _perform(call, target))
        except ServiceException as error:
            return wire.serialize(target, error)
        except Exception as error:  # a bug of ours or of moto's: the caller must see it
            _log.exception("%s failed", call.name)
            said = f"{call.name} failed in localcloud: {type(error).__name__}: {error}"
            return wire.serialize(target, AwsError("InternalFailure", said, status=500))


def _answer_unsigned(
    environ: dict[str, Any], start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Let moto answer an unsigned request; only S3 accepts these here."""
    refusal = wire.refuse_unsigned(_request(environ))
    if refusal is not None:
        return _send(refusal, start_response)
    environ["wsgi.input"].seek(0)
    return moto_fallback.answer_unsigned(environ, start_response)


def _perform(call: Call, target: Target) -> HttpAnswer:
    refuse_unknown(call.caller, call.protocol)
    call.owner = authorize(call)
    check_catalog(call)
    load_operations(call.service)
    own = find_operation(call.service, call.operation)
    if own is None and not moto_fallback.knows(call.service, call.operation):
        raise not_implemented(call.name)
    result = own(call) if own else call.forward()
    answer = result if isinstance(result, HttpAnswer) else wire.serialize(target, result)
    if answer.status < HTTPStatus.MULTIPLE_CHOICES:
        create_linked_role(call)
        answer = settle_catalog(call, answer)
    return answer


def _send(answer: HttpAnswer, start_response: Callable[..., Any]) -> Iterable[bytes]:
    status = HTTPStatus(answer.status)
    start_response(f"{status.value} {status.phrase}", list(answer.headers))
    return [answer.body]


def _request(environ: dict[str, Any]) -> Request:
    """Return the request from its start: the server has already read the whole body."""
    environ["wsgi.input"].seek(0)
    return Request(environ)
