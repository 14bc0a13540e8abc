"""The translation of S3 errors into errors of this project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws.errors import Fault, classify
from penstock.errors import SinkAccessDeniedError, SinkUnavailableError

_DENIED = {Fault.DENIED, Fault.SKEWED}


@contextmanager
def translated_s3_errors(what: str) -> Iterator[None]:
    """Translate errors of botocore's S3 client; the message is `<what>: <reason>`.

    Raises:
        SinkAccessDeniedError: no credentials, or no permission (retriable).
        SinkUnavailableError: the bucket is throttling, down or missing (retriable).
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        kind = SinkAccessDeniedError if classify(error) in _DENIED else SinkUnavailableError
        raise kind(f"{what}: {str(error).rstrip('.')}") from error
