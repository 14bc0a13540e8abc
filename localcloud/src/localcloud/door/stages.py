"""The stages of a call: each does its part, and lets the next ones go on or answers itself.

What a stage does after `go_on` it does on the way back, with the answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeAlias

from moto.core.exceptions import ServiceException
from moto.core.request import Request

from localcloud.cloud import Cloud
from localcloud.door import moto_fallback, wire
from localcloud.door.call_log import CallLog
from localcloud.door.errors import AwsError, unknown_operation
from localcloud.door.http_server import CutConnectionError
from localcloud.door.operations import Call, HttpAnswer, find_operation
from localcloud.door.service import Service
from localcloud.door.services import find_signed, load_operations
from localcloud.faults import Faults
from localcloud.identity import callers, permissions
from localcloud.identity.clocks import refuse_skewed
from localcloud.identity.dependent_access import create_linked_role
from localcloud.identity.principals import refuse_unknown_principals

_log = logging.getLogger(__name__)
_loading = threading.Lock()


@dataclass(slots=True)
class Exchange:
    """A request, and what the stages have found out about it."""

    cloud: Cloud
    log: CallLog
    environ: dict[str, Any] = field(repr=False)
    caller: callers.Caller = field(init=False)
    service: Service = field(init=False)
    target: wire.Target | None = field(init=False)
    call: Call = field(init=False)

    @property
    def request(self) -> Request:
        """The request from its start: the server has already read the whole body."""
        self.environ["wsgi.input"].seek(0)
        return Request(self.environ)


Next: TypeAlias = Callable[[], HttpAnswer]
Stage: TypeAlias = Callable[[Exchange, Next], HttpAnswer]


def identify(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Find the caller and the service by the signature; only S3 answers without one."""
    scope = callers.read_scope(exchange.request)
    if scope is None:
        refusal = wire.refuse_unsigned(exchange.request)
        exchange.environ["wsgi.input"].seek(0)
        return refusal or moto_fallback.answer_unsigned(exchange.environ)
    access_key, region, signing_name = scope
    exchange.caller = callers.identify(exchange.cloud, access_key, region)
    exchange.service = find_signed(signing_name, exchange.request)
    return go_on()


def match_operation(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Find the operation and make the call of it."""
    request, service = exchange.request, exchange.service.name
    exchange.target = target = wire.find_target(request, service)
    exchange.call = call = Call(
        cloud=exchange.cloud,
        caller=exchange.caller,
        service=service,
        operation=target.operation if target else f"{request.method} {request.path}",
        params={},
        forward=lambda: moto_fallback.forward(exchange.environ, call),
        body=exchange.environ["wsgi.input"].getvalue(),
        protocol=target.protocol if target else "",
        agent=request.headers.get("User-Agent", ""),
        endpoint=exchange.environ.get("localcloud.endpoint"),
    )
    return go_on()


def log(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Write the call to the log, with its answer if there is one."""
    started, answered = time.monotonic(), None
    try:
        answered = go_on()
    finally:
        exchange.log.write(exchange.call, answered, seconds=time.monotonic() - started)
    return answered


def answer_errors(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Answer errors of later stages and requests without an operation, as the service does."""
    call, target = exchange.call, exchange.target
    if target is None:
        return wire.refuse_unmatched(exchange.request, call.service)
    try:
        return go_on()
    except CutConnectionError:
        raise
    except ServiceException as error:
        return wire.serialize(target, error)
    except Exception as error:  # a bug of ours or of moto's: the caller must see it
        _log.exception("%s failed", call.name)
        said = f"{call.name} failed in localcloud: {type(error).__name__}: {error}"
        return wire.serialize(target, AwsError("InternalFailure", said, status=500))


def read_parameters(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Read the parameters of the call, named as in boto3."""
    target = exchange.target
    assert target is not None  # noqa: S101 - answer_errors has refused the others
    exchange.call.params = wire.parse_params(exchange.request, target)
    return go_on()


def load(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Import the service at its first call, one at a time: moto's modules import each other."""
    with _loading:
        load_operations(exchange.service.name)
        if exchange.service.moto is not None:
            moto_fallback.load(exchange.service.name)
    return go_on()


def inject_fault(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Break the call if a fault is set for it."""
    answered = exchange.cloud.state(Faults).around(exchange.call, go_on)
    if answered is None:
        raise CutConnectionError
    return answered


def authorize(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Refuse a caller that IAM or the service itself does not allow the call."""
    call = exchange.call
    callers.refuse_unknown(call.caller, call.protocol)
    signed = exchange.request.headers.get("X-Amz-Date", "")
    refuse_skewed(signed, call.service, call.protocol, datetime.now(UTC))
    call.owner = permissions.authorize(call)
    exchange.service.check(call)
    refuse_unknown_principals(call)
    return go_on()


def settle(exchange: Exchange, go_on: Next) -> HttpAnswer:
    """Do what follows from a call that succeeded."""
    answered = go_on()
    if answered.status >= HTTPStatus.MULTIPLE_CHOICES:
        return answered
    create_linked_role(exchange.call)
    return exchange.service.settle(exchange.call, answered)


def answer(exchange: Exchange, _go_on: Next) -> HttpAnswer:
    """Answer by localcloud's own operation, or by moto."""
    call, target = exchange.call, exchange.target
    assert target is not None  # noqa: S101 - answer_errors has refused the others
    own = find_operation(call.service, call.operation)
    if own is None and not (
        exchange.service.lets_moto(call.operation)
        and moto_fallback.knows(call.service, call.operation)
    ):
        raise unknown_operation(call.name, call.protocol)
    if ignored := exchange.service.list_ignored(call):
        _log.warning("%s has no effect here in %s", ", ".join(ignored), call.name)
    result = own(call) if own else call.forward()
    return result if isinstance(result, HttpAnswer) else wire.serialize(target, result)
