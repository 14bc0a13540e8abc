"""moto behind the gateway: it answers what localcloud does not implement itself."""

from __future__ import annotations

import functools
import importlib
import io
import re
import threading
from collections import defaultdict
from contextlib import nullcontext
from typing import Any

from moto.backends import list_of_moto_modules
from moto.core.request import Request
from moto.core.responses import BaseResponse
from moto.core.utils import camelcase_to_underscores
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from localcloud.door.errors import unknown_operation
from localcloud.door.operations import Call, HttpAnswer
from localcloud.door.services import find_service

_moto = DomainDispatcherApplication(create_backend_app)

_ACCOUNT = "HTTP_X_MOTO_ACCOUNT_ID"
_NOBODY = "000000000000"  # the account of a caller who has none
_PAGE = b"<!doctype html"

_locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)

# moto selects the parts of S3 by query string, not by one method per operation. It would answer
# unknown parts with a listing of the bucket.
_S3_LACKS = re.compile(
    "Abac|Analytics|Annotation|CreateSession|DirectoryBuckets|IntelligentTiering|"
    "Metadata(Configuration|Table|Annotation|Inventory|Journal)|Metrics|RenameObject|"
    "RequestPayment|Torrent|UpdateObjectEncryption|WriteGetObjectResponse"
)


def answer_unsigned(environ: dict[str, Any]) -> HttpAnswer:
    """Let moto answer an unsigned request to S3, whichever account owns the bucket."""
    # Without an account moto would search all of them for the key of the caller.
    return _answer(environ | {_ACCOUNT: _NOBODY})


def forward(environ: dict[str, Any], call: Call) -> HttpAnswer:
    """Let moto answer a call, in the account that owns the resource.

    Raises:
        AwsError: moto does not implement it; a page of HTML is never returned.
    """
    environ = environ | {
        _ACCOUNT: call.owner or call.account,
        "wsgi.input": io.BytesIO(call.body),
        "CONTENT_LENGTH": str(len(call.body)),
    }
    if call.service != "s3" and "HTTP_AUTHORIZATION" not in environ:  # moto reads no presigned URL
        credential = Request(environ).args["X-Amz-Credential"]
        environ["HTTP_AUTHORIZATION"] = f"AWS4-HMAC-SHA256 Credential={credential}"
    try:
        alone = find_service(call.service).one_at_a_time
        with _locks[call.service] if alone else nullcontext():
            answer = _answer(environ)
    except NotImplementedError as error:  # moto raises it for an operation that it lacks
        raise unknown_operation(call.name, call.protocol) from error
    if answer.body[: len(_PAGE)].lower() == _PAGE:
        raise unknown_operation(call.name, call.protocol)
    return answer


def _answer(environ: dict[str, Any]) -> HttpAnswer:
    head: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> None:
        head[:] = [int(status.split(" ", maxsplit=1)[0]), tuple(headers)]

    body = b"".join(_moto(environ, start_response))
    status, sent = head
    return HttpAnswer(status, sent, body)


def knows(service: str, operation: str) -> bool:
    """Return whether moto implements an operation."""
    if service == "s3":
        return _S3_LACKS.search(operation) is None
    name = camelcase_to_underscores(operation)
    return any(_defines(kind, name) for kind in load(service))


def _defines(kind: type[Any], name: str) -> bool:
    """Return whether a class has a method that it does not inherit from moto's base classes."""
    return any(name in vars(base) for base in kind.__mro__ if base not in BaseResponse.__mro__)


@functools.cache
def load(service: str) -> tuple[type[Any], ...]:
    """Import a service of moto, and return the classes that answer its calls; none: it lacks it."""
    folder = "awslambda" if service == "lambda" else service.replace("-", "")
    if folder not in list_of_moto_modules():
        return ()
    module = importlib.import_module(f"moto.{folder}.responses")
    return tuple(
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, BaseResponse)
    )
