"""AWS Signature Version 4 for requests to services that speak JSON.

botocore takes 50 us to sign a request, this module 10: the signing key is the same for a day, and
our requests differ only in operation, time and body. The signature equals botocore's byte for
byte, as tests/unit/aws/test_signature.py checks.
"""

from __future__ import annotations

import hmac
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from penstock.credentials import Keys

if TYPE_CHECKING:
    from botocore.credentials import ReadOnlyCredentials

    AnyKeys: TypeAlias = Keys | ReadOnlyCredentials

_ALGORITHM = "AWS4-HMAC-SHA256"


class Signer:
    """Signs requests to one endpoint.

    The path is always `/`. Another path would have to be signed, but no endpoint that we call
    has one.
    """

    def __init__(self, service: str, endpoint: str, region: str, json_version: str) -> None:
        self._host = urlsplit(endpoint).netloc
        self._place = f"{region}/{service}/aws4_request"
        self._content_type = f"application/x-amz-json-{json_version}"
        self._derived = ("", "", b"")  # the secret, the day and the key derived from both

    def sign(self, credentials: AnyKeys, target: str, body: bytes, now: datetime) -> dict[str, str]:
        """Return the headers of a request with this body that is sent at `now`, a UTC time."""
        time = now.strftime("%Y%m%dT%H%M%SZ")
        headers = {
            "Content-Type": self._content_type,
            "Host": self._host,
            "X-Amz-Date": time,
            **({"X-Amz-Security-Token": credentials.token} if credentials.token else {}),
            "X-Amz-Target": target,
        }
        lines = "".join([f"{name.lower()}:{value}\n" for name, value in headers.items()])
        names = ";".join(headers).lower()
        request = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
        scope = f"{time[:8]}/{self._place}"
        text = f"{_ALGORITHM}\n{time}\n{scope}\n{sha256(request.encode()).hexdigest()}"
        key = self._key_of(credentials.secret_key or "", time[:8])
        headers["Authorization"] = (
            f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, "
            f"Signature={hmac.digest(key, text.encode(), sha256).hex()}"
        )
        return headers

    def _key_of(self, secret: str, day: str) -> bytes:
        """Return the signing key of a day; the last one is cached."""
        known_secret, known_day, key = self._derived
        if (known_secret, known_day) != (secret, day):
            key = f"AWS4{secret}".encode()
            for part in (day, *self._place.split("/")):
                key = hmac.digest(key, part.encode(), sha256)
            self._derived = (secret, day, key)
        return key
