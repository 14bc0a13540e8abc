"""What AWS answers when a login needs it, in our errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

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
    except ClientError as error:
        code = error.response["Error"]["Code"]
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        kind = BrokerUnavailableError if status >= 500 or "Throttl" in code else BrokerLoginError
        raise kind(f"{what}: {error}") from error
    except (ConnectionError, HTTPClientError) as error:
        raise BrokerUnavailableError(f"{what}: {error}") from error
    except BotoCoreError as error:
        raise BrokerLoginError(f"{what}: {error}") from error
