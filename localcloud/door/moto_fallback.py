"""moto, behind the door: it answers what localcloud has no operation of its own for."""

from __future__ import annotations

import functools
import importlib
import io
import re
from collections.abc import Callable, Iterable
from typing import Any

from moto.backends import list_of_moto_modules
from moto.core.responses import BaseResponse
from moto.core.utils import camelcase_to_underscores
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from localcloud.door.operations import Call, HttpAnswer, not_implemented

_moto = DomainDispatcherApplication(create_backend_app)

_PAGE = b"<!doctype html"

# moto tells the parts of S3 by their query strings, not by one method per operation; those parts
# that it does not know it would answer with a listing of the bucket.
_S3_LACKS = re.compile(
    "Abac|Analytics|Annotation|CreateSession|DirectoryBuckets|IntelligentTiering|"
    "Metadata(Configuration|Table|Annotation|Inventory|Journal)|Metrics|RenameObject|"
    "RequestPayment|Torrent|UpdateObjectEncryption|WriteGetObjectResponse"
)


def answer_unsigned(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Let moto answer a request without a signature: it knows the few that need none."""
    answer: Iterable[bytes] = _moto(environ, start_response)
    return answer


def forward(environ: dict[str, Any], call: Call) -> HttpAnswer:
    """Let moto answer a call, in the account that it is about.

    Raises:
        AwsError: moto has no such operation after all; never a page of HTML.
    """
    head: dict[str, Any] = {}

    def start_response(status: str, headers: list[tuple[str, str]], *_: object) -> None:
        head.update(status=int(status.split(" ", maxsplit=1)[0]), headers=tuple(headers))

    environ = environ | {
        "HTTP_X_MOTO_ACCOUNT_ID": call.owner or call.account,
        "wsgi.input": io.BytesIO(call.body),
        "CONTENT_LENGTH": str(len(call.body)),
    }
    try:
        answer = b"".join(_moto(environ, start_response))
    except NotImplementedError as error:  # moto's word for an operation that it lacks
        raise not_implemented(call.name) from error
    if answer[: len(_PAGE)].lower() == _PAGE:
        raise not_implemented(call.name)
    return HttpAnswer(head["status"], head["headers"], answer)


def knows(service: str, operation: str) -> bool:
    """Say whether moto implements an operation."""
    if service == "s3":
        return _S3_LACKS.search(operation) is None
    name = camelcase_to_underscores(operation)
    return any(_defines(kind, name) for kind in _response_classes(service))


def _defines(kind: type[Any], name: str) -> bool:
    """Say whether a class has a method that is not just one of the machinery it inherits."""
    return any(name in vars(base) for base in kind.__mro__ if base not in BaseResponse.__mro__)


@functools.cache
def _response_classes(service: str) -> tuple[type[Any], ...]:
    folder = "awslambda" if service == "lambda" else service.replace("-", "")
    if folder not in list_of_moto_modules():
        return ()
    module = importlib.import_module(f"moto.{folder}.responses")
    return tuple(
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, BaseResponse)
    )
