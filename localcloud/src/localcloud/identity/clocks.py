"""Refuse calls that are signed for another time: the clock of the caller's host is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from localcloud.door.errors import AwsError

_TIME: Final = "%Y%m%dT%H%M%SZ"
_MOST: Final = timedelta(minutes=5)
_MOST_IN_S3: Final = timedelta(minutes=15)
# By the protocol of the service; S3 has an error of its own.
_CODES: Final = {
    "ec2": ("RequestExpired", 400),
    "json": ("InvalidSignatureException", 400),
    "query": ("SignatureDoesNotMatch", 403),
}


def refuse_skewed(signed: str, service: str, protocol: str, now: datetime) -> None:
    """Raise AwsError if the time of a signature (X-Amz-Date) is too far from now."""
    try:
        at = datetime.strptime(signed, _TIME).replace(tzinfo=UTC)
    except ValueError:  # a presigned URL, whose own time says until when it may be used
        return
    if service == "s3":
        if abs(at - now) > _MOST_IN_S3:
            said = "The difference between the request time and the current time is too large."
            raise AwsError("RequestTimeTooSkewed", said, status=403)
        return
    if abs(at - now) <= _MOST:
        return
    if at < now:
        limit, sign, what = now - _MOST, "-", "Signature expired: {} is now earlier than"
    else:
        limit, sign, what = now + _MOST, "+", "Signature not yet current: {} is still later than"
    said = f"{what.format(signed)} {limit:{_TIME}} ({now:{_TIME}} {sign} 5 min.)"
    code, status = _CODES.get(protocol, ("InvalidSignatureException", 403))
    raise AwsError(code, said, status=status)
