"""The AWS session of a login by IAM or SCRAM, and the translation of its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from penstock.aws import Fault, classify
from penstock.credentials import load_session
from penstock.errors import BrokerLoginError, BrokerUnavailableError
from penstock.kafka.settings import KafkaSettings

if TYPE_CHECKING:
    from botocore.session import Session


@contextmanager
def aws_session(settings: KafkaSettings, region: str, failure: str) -> Iterator[Session]:
    """Yield a session for the settings' role, or for the process without a role.

    Raises:
        BrokerUnavailableError: AWS throttles, fails or cannot be reached (retriable); the message
            is `<failure>: <reason>`.
        BrokerLoginError: AWS refuses the call, or there are no credentials.
    """
    try:
        yield load_session(
            region=region,
            role_arn=settings.role_arn or None,
            external_id=settings.external_id or None,
        )
    except (ClientError, BotoCoreError) as error:
        is_temporary = classify(error) in {Fault.THROTTLED, Fault.DOWN}
        kind = BrokerUnavailableError if is_temporary else BrokerLoginError
        raise kind(f"{failure}: {error}") from error
    except (RuntimeError, OSError) as error:  # botocore's, for credentials that it cannot load
        raise BrokerLoginError(f"{failure}: {error}") from error
