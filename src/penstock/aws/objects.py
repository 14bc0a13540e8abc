"""What S3 answers, in our errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws.errors import Fault, classify
from penstock.errors import SinkAccessDeniedError, SinkUnavailableError

_DENIED = {Fault.DENIED, Fault.SKEWED}


@contextmanager
def translated_s3_errors(what: str) -> Iterator[None]:
    """Turn what botocore's client of S3 raises into `<what>: <reason>`.

    Raises:
        SinkAccessDeniedError: no credentials, or these may not (retriable).
        SinkUnavailableError: the bucket is throttling, down or not there (retriable).
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        kind = SinkAccessDeniedError if classify(error) in _DENIED else SinkUnavailableError
        raise kind(f"{what}: {str(error).rstrip('.')}") from error
