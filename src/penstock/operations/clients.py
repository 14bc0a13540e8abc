"""AWS clients with the operator's own credentials."""

from __future__ import annotations

from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from penstock.credentials import load_session
from penstock.errors import OperationError


def build_client(service: str, config: Config | None = None, region: str | None = None) -> Any:
    """Build a client of an AWS service.

    Raises:
        OperationError: the AWS configuration is incomplete, for example without a region.
    """
    try:
        return load_session(region=region).create_client(service, config=config)
    except (BotoCoreError, ValueError) as error:
        raise OperationError(
            f"the client of {service} cannot be built: {str(error).rstrip('.')}"
        ) from error


def is_error_of_aws(error: Exception) -> bool:
    """Say whether botocore raised an error, which has none of its own for expired credentials."""
    expired = type(error) is RuntimeError and "credentials" in str(error)
    return expired or isinstance(error, BotoCoreError | ClientError)
