"""Translation of the AWS errors that a login meets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws import Fault, classify
from penstock.errors import BrokerLoginError, BrokerUnavailableError


@contextmanager
def translated_aws_errors(what: str) -> Iterator[None]:
    """Translate botocore's errors to `<what>: <reason>`, retriable if a retry may succeed.

    Raises:
        BrokerUnavailableError: AWS throttles, fails or cannot be reached (retriable).
        BrokerLoginError: AWS refuses the call, or there are no credentials.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        passes = classify(error) in {Fault.THROTTLED, Fault.DOWN}
        kind = BrokerUnavailableError if passes else BrokerLoginError
        raise kind(f"{what}: {error}") from error
