"""HTTP calls to a registry: a pool of connections, timeouts, retries, and errors as ours.

| answer                             | error                       |
| ---------------------------------- | --------------------------- |
| none, 408, 429, 5xx                | `RegistryUnavailableError`, after retries |
| 401, 403, 422 with the code 42205  | `RegistryAccessDeniedError` |
| 404 with a registry's error code   | `SchemaNotFoundError`       |
| 409                                | `IncompatibleSchemaError`   |
| 422                                | `InvalidSchemaError`        |
| any other, or not as expected      | `RegistryAnswerError`       |
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError, ProtocolError, SSLError

from penstock.attempts import Attempts
from penstock.errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    PenstockError,
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
    SchemaNotFoundError,
)
from penstock.registry._http_credentials import authorization_header, build_context, read_secret
from penstock.registry._http_limits import (
    Deadline,
    build_pool,
    limited,
    read_content,
)
from penstock.registry.http_settings import HttpRegistrySettings

# A registry is shared, so clients that are throttled together need jitter.
_ATTEMPTS: Final = Attempts(0.1, 3, 20, jitter=True)
_CONNECT_SECONDS, _READ_SECONDS = 3.0, 10.0
_POOL_SIZE = 8
_MAX_CONTENT = 16 * 2**20
_MAX_MESSAGE = 500

_OK = range(200, 300)
_UNAUTHORIZED = 401
_DENIED = {_UNAUTHORIZED, 403}
_INVALID = 422
_BUSY = {408, 429}
_SERVER_ERRORS = range(500, 600)
# A server that refuses a client's certificate sends an alert, or only cuts the connection.
_TLS_ERRORS = (ssl.SSLError, SSLError, ProtocolError)
# Confluent's codes for a subject, a version, a schema, a subject's mode and its configuration.
_MISSING_CODES = range(40401, 40410)
# And for a write that the mode of a subject (READONLY, IMPORT) forbids, until somebody changes it.
_FORBIDDEN_CODE = 42205


@dataclass(frozen=True, slots=True)
class _Connection:
    """A pool of connections, and the credentials for each request."""

    pool: urllib3.PoolManager
    headers: Mapping[str, str] = field(repr=False)


class HttpClient:
    """A thread-safe client of one registry; building it makes no call and reads no secret."""

    def __init__(self, settings: HttpRegistrySettings, attempts: Attempts | None = None) -> None:
        self._settings = settings
        self._attempts = attempts or replace(_ATTEMPTS, total_seconds=settings.call_seconds)
        self._connection: _Connection | None = None
        self._lock = threading.Lock()
        self.clock = self._attempts.clock

    @contextmanager
    def limited(self) -> Iterator[float]:
        """Give all calls of the block the time of one call; yield the time at which it is up."""
        with limited(self._attempts.total_seconds, self.clock) as deadline:
            yield deadline.at

    def call(
        self,
        method: str,
        path: str,
        content: str | None = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Make a call and return the JSON of its answer, or None if the answer is empty.

        Raises:
            RegistryError, SchemaError: see the module's table.
        """
        text = self.read(method, path, content, query=query, headers=headers)
        try:
            return json.loads(text) if text else None
        except (ValueError, RecursionError) as error:
            raise RegistryAnswerError(
                f"{self._settings.source} answered {method} {path} with something that is not JSON"
            ) from error

    def read(
        self,
        method: str,
        path: str,
        content: str | None = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Make a call and return the text of its answer; it raises the same errors as `call`."""
        where = f"{path}?{urlencode(query)}" if query else path
        with limited(self._attempts.total_seconds, self.clock) as deadline:
            if deadline.left() < 0:
                raise RegistryUnavailableError(
                    f"the time of the look-up is up before {method} {path} of "
                    f"{self._settings.source}"
                )
            return self._try(method, where, content, headers or {}, deadline)

    def _try(
        self,
        method: str,
        where: str,
        content: str | None,
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> str:
        """Make a call, and retry it until the deadline."""
        path, renewed = where.partition("?")[0], False
        cause: Exception | None
        problem: PenstockError
        for _ in replace(self._attempts, total_seconds=deadline.left()):
            try:
                status, text = self._send(method, where, content, headers, deadline)
            except (HTTPError, OSError) as error:
                cause = error
                problem = RegistryUnavailableError(
                    f"no answer from {self._settings.source}: {error}"
                )
                if isinstance(error, _TLS_ERRORS) and not renewed:
                    renewed, self._connection = True, None  # a certificate may have been renewed
                continue
            except ValueError:
                # Without the cause, which has the header's text: it may be a credential.
                raise RegistryAnswerError(
                    f"{method} {path} cannot be sent to {self._settings.source}: its URL, a header "
                    "or its content has characters that HTTP does not allow"
                ) from None
            if status in _OK:
                return text
            cause, problem = None, self._error(f"{method} {path}", status, text)
            if status == _UNAUTHORIZED and self._settings.secret and not renewed:
                renewed, self._connection = True, None  # the secret may have been rotated
            elif not isinstance(problem, RegistryUnavailableError):
                break
        raise problem from cause

    def _send(
        self,
        method: str,
        where: str,
        content: str | None,
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> tuple[int, str]:
        connection, source = self._open(), self._settings.source
        response = connection.pool.request(
            method,
            self._settings.url + where,
            body=None if content is None else content.encode(),
            headers={
                "Accept": "application/json",
                "Content-Type": "application/json",
                **headers,
                **connection.headers,
            },
            preload_content=False,
            timeout=self._timeout(deadline),
            redirect=False,  # credentials are for this address only
            enforce_content_length=True,  # the default of urllib3 2 only
        )
        try:
            data = read_content(response, deadline, _MAX_CONTENT, source)
            return response.status, data.decode(errors="replace")
        except BaseException:
            response.close()  # its rest must not be read as the next answer
            raise
        finally:
            response.release_conn()

    def _timeout(self, deadline: Deadline) -> urllib3.Timeout:
        left = max(0.001, min(deadline.left(), self._settings.call_seconds))
        return urllib3.Timeout(connect=min(_CONNECT_SECONDS, left), read=min(_READ_SECONDS, left))

    def _open(self) -> _Connection:
        with self._lock:
            if self._connection is None:
                settings = self._settings
                secret = read_secret(settings.secret) if settings.secret else {}
                context = (
                    build_context(settings, secret) if settings.url.startswith("https") else None
                )
                pool = build_pool(_POOL_SIZE, context)
                self._connection = _Connection(pool, authorization_header(settings.user, secret))
            return self._connection

    def _error(self, request: str, status: int, text: str) -> PenstockError:
        code, name, message = _parse_error(text)
        said = f"{self._settings.source} answered {request} with {status}: {message}"
        if status in _DENIED or (status == _INVALID and code == _FORBIDDEN_CODE):
            return RegistryAccessDeniedError(said)
        if status in _BUSY or status in _SERVER_ERRORS:
            return RegistryUnavailableError(said)
        if status == 404 and _is_missing(code, name):
            return SchemaNotFoundError(said)
        if status == 409:
            return IncompatibleSchemaError(said, rule="", diff="")
        if status == _INVALID:
            return InvalidSchemaError(said)
        # Also a 404 of a proxy, or of a path that is not the registry's: schemas are not missing.
        return RegistryAnswerError(said)


@contextmanager
def reading_answer() -> Iterator[None]:
    """Raise RegistryAnswerError for a part of an answer that is missing or not as expected."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RegistryAnswerError(f"the registry's answer is not as expected: {error!r}") from error


def _is_missing(code: object, name: str) -> bool:
    """Return whether an error says that the requested object does not exist.

    Apicurio calls the error of a path that it does not have NotFoundException.
    """
    is_known = isinstance(code, int) and code in _MISSING_CODES
    return is_known or (name.endswith("NotFoundException") and name != "NotFoundException")


def _parse_error(text: str) -> tuple[object, str, str]:
    """Return code, name and message of an error; a proxy's error, for example, is not JSON."""
    try:
        body = json.loads(text)
        message = str(body.get("message") or text)
        return body.get("error_code"), str(body.get("name", "")), _plain(message)
    except (ValueError, AttributeError, RecursionError):
        return None, "", _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split())[:_MAX_MESSAGE].rstrip(".") or "no reason given"
