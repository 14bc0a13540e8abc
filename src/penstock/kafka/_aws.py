"""What AWS answers when a login needs it, in our errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws import Fault, classify
from penstock.errors import BrokerLoginError, BrokerUnavailableError


@contextmanager
def translated_aws_errors(what: str) -> Iterator[None]:
    """Turn what botocore raises into `<what>: <reason>`, retriable where another try may do.

    Raises:
        BrokerUnavailableError: AWS throttles, fails or cannot be reached.
        BrokerLoginError: AWS refuses, or there are no credentials.
    """
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        passes = classify(error) in {Fault.THROTTLED, Fault.DOWN}
        kind = BrokerUnavailableError if passes else BrokerLoginError
        raise kind(f"{what}: {error}") from error
