"""STS's AssumeRole, with the trust decision and the life of its credentials in the test's hands."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

from tests.stubs.http import Answer

_GRANTED = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleResult><Credentials>
<AccessKeyId>ASIAMADEUP{number}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>
<SessionToken>token-{number}</SessionToken><Expiration>{expiration}</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>"""

_DENIED = """<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error>
<Type>Sender</Type><Code>AccessDenied</Code><Message>User: arn:aws:iam::1:user/u is not authorized
to perform: sts:AssumeRole on resource: {role}</Message></Error></ErrorResponse>"""

SECRET = "made-up-secret"


class StsApi:
    """Grants roles to whoever knows the external id; `requests` holds what was asked."""

    def __init__(self, external_id: str | None = None, lifetime: timedelta = timedelta(hours=1)):
        self.external_id = external_id
        self.lifetime = lifetime
        self.requests: list[dict[str, str]] = []
        self._lock = threading.Lock()

    def respond(self, headers: dict[str, str], body: bytes) -> Answer:
        """Answer one AssumeRole."""
        request = dict(parse_qsl(body.decode()))
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        if request.get("ExternalId") != self.external_id:
            return 403, "text/xml", _DENIED.format(role=request["RoleArn"]).encode()
        expiration = (datetime.now(UTC) + self.lifetime).isoformat(timespec="seconds")
        granted = _GRANTED.format(number=number, secret=SECRET, expiration=expiration)
        return 200, "text/xml", granted.encode()
