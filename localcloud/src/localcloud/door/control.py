"""The control door under /_localcloud/: requests to localcloud itself, not to AWS.

    @action("kill-broker")
    def kill_broker(cloud: Cloud, *, cluster: str, broker: int) -> dict[str, Any]:
        ...

is `POST /_localcloud/kill-broker {"cluster": "c", "broker": 1}`, sent as application/json, and

    @describe("brokers")
    def describe_brokers(cloud: Cloud) -> list[dict[str, Any]]:
        ...

is one part of `GET /_localcloud/status`. A ValueError or LookupError is answered as a refusal with
its message.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, get_type_hints

from werkzeug.exceptions import UnsupportedMediaType
from werkzeug.wrappers import Request, Response

from localcloud.cloud import Cloud
from localcloud.door.services import list_services, load_all
from localcloud.errors import LocalcloudError

Action: TypeAlias = Callable[..., Any]
Description: TypeAlias = Callable[[Cloud], list[dict[str, Any]]]

_ACTIONS: dict[str, Action] = {}
_DESCRIPTIONS: dict[str, Description] = {}
_PREFIX = "/_localcloud/"
_JSON = "application/json"


def action(name: str) -> Callable[[Action], Action]:
    """Register a function for `POST /_localcloud/<name>`; its keyword arguments come as JSON."""

    def register(function: Action) -> Action:
        _ACTIONS[name] = function
        return function

    return register


def describe(name: str) -> Callable[[Description], Description]:
    """Register a function for the part `name` of the status, a list of dictionaries."""

    def register(function: Description) -> Description:
        _DESCRIPTIONS[name] = function
        return function

    return register


class ControlDoor:
    """The WSGI application under /_localcloud/."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer one request in JSON."""
        request = Request(environ)
        try:
            status, answer = 200, self._answer(request)
        except UnsupportedMediaType as error:
            status, answer = 415, {"error": str(error.description)}
        except LookupError as error:
            status, answer = 404, {"error": str(error.args[0])}
        except ValueError as error:
            status, answer = 400, {"error": str(error)}
        except LocalcloudError as error:  # the request is valid, and the action failed
            status, answer = 500, {"error": str(error)}
        response = Response(json.dumps(answer, default=str) + "\n", status, mimetype=_JSON)
        return response(environ, start_response)

    def _answer(self, request: Request) -> Any:
        name = request.path.removeprefix(_PREFIX)
        if request.method == "GET" and name == "status":
            return self._describe()
        if name not in _ACTIONS:
            load_all()  # it may be the action of a service that nobody has called
        if request.method == "GET" and not name:
            return {known: inspect.getdoc(function) for known, function in _ACTIONS.items()}
        if request.method != "POST" or name not in _ACTIONS:
            raise LookupError(
                f"{request.method} {request.path} is not known; there are GET {_PREFIX}status and "
                f"POST {_PREFIX} with one of: {', '.join(sorted(_ACTIONS)) or 'nothing'}"
            )
        if request.mimetype != _JSON:  # a web page cannot send this without permission
            raise UnsupportedMediaType(f"{name} takes Content-Type: {_JSON}")
        function = _ACTIONS[name]
        return function(self._cloud, **_read_arguments(name, function, request.get_data()))

    def _describe(self) -> dict[str, list[dict[str, Any]]]:
        """Return each part of the status; services that nobody has called have nothing to show."""
        uncalled: dict[str, list[dict[str, Any]]] = {
            part: [] for service, _ in list_services().values() for part in service.status
        }
        return uncalled | {part: show(self._cloud) for part, show in _DESCRIPTIONS.items()}


def _read_arguments(name: str, function: Action, body: bytes) -> dict[str, Any]:
    """Check a body against the function's keyword arguments: names, presence and types."""
    arguments = json.loads(body or b"{}")
    if not isinstance(arguments, dict):
        raise ValueError(f"found {body[:40]!r} as the body of {name}, expected a JSON object")
    known = dict(list(inspect.signature(function).parameters.items())[1:])
    types = get_type_hints(function)
    for key, value in arguments.items():
        if key not in known:
            raise ValueError(f"{name} has no parameter {key}; it takes {', '.join(known)}")
        if not _fits(value, types[key]):
            raise ValueError(f"{name}: {key} must be {known[key].annotation}, not {value!r}")
    for key, parameter in known.items():
        if parameter.default is parameter.empty and key not in arguments:
            raise ValueError(f"{name} needs {key}")
    return arguments


def _fits(value: Any, wanted: Any) -> bool:
    """Return whether a JSON value has a parameter's type; an integer fits a float."""
    if isinstance(value, bool):
        return wanted is bool
    return isinstance(value, wanted) or (wanted is float and isinstance(value, int))
