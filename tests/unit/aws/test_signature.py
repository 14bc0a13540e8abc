"""Our signature is botocore's, byte for byte."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from unittest.mock import patch

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials

from penstock.aws.signature import Signer

_NOW = datetime(2026, 11, 21, 9, 30, 15)
_KEYS = ReadOnlyCredentials("AKIAMADEUP", "made/up+secret", None)
_TARGET = "DynamoDB_20120810.BatchWriteItem"


def _botocores(  # noqa: PLR0913, PLR0917 # all that a signature is of
    url: str,
    keys: ReadOnlyCredentials,
    target: str,
    body: bytes,
    now: datetime,
    service: str = "dynamodb",
    version: str = "1.0",
) -> dict[str, str]:
    headers = {"Content-Type": f"application/x-amz-json-{version}", "X-Amz-Target": target}
    request = AWSRequest("POST", f"{url}/", headers, body)
    with patch("botocore.auth.get_current_datetime", return_value=now):
        SigV4Auth(keys, service, "eu-west-3").add_auth(request)
    return dict(request.headers.items())


@pytest.mark.parametrize(("service", "version"), [("dynamodb", "1.0"), ("glue", "1.1")])
@pytest.mark.parametrize(
    "url",
    [
        "https://dynamodb.eu-central-1.amazonaws.com",
        "https://dynamodb.cn-north-1.amazonaws.com.cn",
        "http://127.0.0.1:4566",
        "http://[::1]:8000",
    ],
)
@pytest.mark.parametrize("token", [None, "a-token", "IQoJb3JpZ2luX2VjE+/=" * 60])
def test_a_signature_is_botocores(url: str, token: str | None, service: str, version: str) -> None:
    keys = _KEYS._replace(token=token)
    host = url.partition("://")[2]

    signed = Signer(service, url, "eu-west-3", version).sign(keys, _TARGET, b"{}", _NOW)

    wanted = _botocores(url, keys, _TARGET, b"{}", _NOW, service, version)
    assert signed.pop("Host") == host  # http.client adds it where botocore signs
    assert signed == wanted


def test_random_requests_have_botocores_signature(seeded: random.Random) -> None:
    signer = Signer("dynamodb", "http://127.0.0.1:4566", "eu-west-3", "1.0")
    for _ in range(200):
        keys = ReadOnlyCredentials(
            f"AKIA{seeded.randrange(3)}", f"secret{seeded.randrange(3)}", seeded.choice([None, "t"])
        )
        now = _NOW + timedelta(hours=seeded.randrange(72), seconds=seeded.randrange(60))
        body = seeded.randbytes(seeded.randrange(300))
        target = seeded.choice([_TARGET, "DynamoDB_20120810.PutItem"])

        signed = signer.sign(keys, target, body, now)

        wanted = _botocores("http://127.0.0.1:4566", keys, target, body, now)
        assert signed["Authorization"] == wanted["Authorization"]


def test_the_key_is_derived_once_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    signer = Signer("dynamodb", "http://host", "eu-west-3", "1.0")
    derived = []

    def derive(secret: str, day: str) -> bytes:
        key = Signer._key_of(signer, secret, day)
        derived.append(key)
        return key

    monkeypatch.setattr(signer, "_key_of", derive)
    for hours in (0, 1, 2, 24):
        signer.sign(_KEYS, _TARGET, b"{}", _NOW + timedelta(hours=hours))

    assert derived[0] is derived[1] is derived[2]
    assert derived[3] != derived[2]
