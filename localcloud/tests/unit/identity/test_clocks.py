"""Signatures of another time are refused as each kind of service refuses them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from localcloud.door.errors import AwsError
from localcloud.identity.clocks import refuse_skewed

_NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
_EXPIRED = "Signature expired: 20261128T114400Z is now earlier than 20261128T115500Z "
_EARLY = "Signature not yet current: 20261128T121600Z is still later than 20261128T120500Z "


def _refuse(minutes: float, service: str, protocol: str) -> AwsError | None:
    signed = f"{_NOW + timedelta(minutes=minutes):%Y%m%dT%H%M%SZ}"
    try:
        refuse_skewed(signed, service, protocol, _NOW)
    except AwsError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("service", "protocol", "refusal"),
    [
        ("glue", "json", ("InvalidSignatureException", 400)),
        ("lambda", "rest-json", ("InvalidSignatureException", 403)),
        ("sts", "query", ("SignatureDoesNotMatch", 403)),
        ("ec2", "ec2", ("RequestExpired", 400)),
    ],
)
@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (-16, f"{_EXPIRED}(20261128T120000Z - 5 min.)"),
        (16, f"{_EARLY}(20261128T120000Z + 5 min.)"),
    ],
)
def test_a_signature_of_another_time_is_refused(service, protocol, refusal, minutes, said):
    error = _refuse(minutes, service, protocol)

    assert error is not None
    assert (error.code, error.status) == refusal
    assert error.message == said


def test_s3_has_a_limit_and_an_error_of_its_own():
    error = _refuse(16, "s3", "rest-xml")

    assert error is not None
    assert (error.code, error.status) == ("RequestTimeTooSkewed", 403)
    assert _refuse(-14, "s3", "rest-xml") is None


@pytest.mark.parametrize("minutes", [-4.9, 0, 4.9])
def test_a_few_minutes_are_no_skew(minutes):
    assert _refuse(minutes, "glue", "json") is None


def test_a_request_without_a_time_of_its_own_is_not_judged():
    refuse_skewed("", "s3", "rest-xml", _NOW)
