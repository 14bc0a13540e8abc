"""The gateway: the life of a call, as the list of its stages.

It knows no service: what a stage must know of one is in the service's descriptor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door import stages
from localcloud.door.call_log import CallLog
from localcloud.door.http_server import Wsgi
from localcloud.door.operations import HttpAnswer
from localcloud.door.stages import Exchange, Stage

STAGES: tuple[Stage, ...] = (
    stages.identify,
    stages.match_operation,
    stages.log,
    stages.answer_errors,
    stages.read_parameters,
    stages.load,
    stages.inject_fault,
    stages.authorize,
    stages.settle,
    stages.answer,
)


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
        answer = _run_stages(Exchange(self._cloud, self._log, environ))
        status = HTTPStatus(answer.status)
        start_response(f"{status.value} {status.phrase}", list(answer.headers))
        return [answer.body]


def _run_stages(exchange: Exchange, at: int = 0) -> HttpAnswer:
    """Run the stages from this index on; each calls the next one or answers itself."""
    return STAGES[at](exchange, lambda: _run_stages(exchange, at + 1))
