"""DynamoDB for an operator, who waits for each answer."""

from __future__ import annotations

from typing import Final

from penstock.attempts import Attempts
from penstock.sinks import DynamoDbClient

# A job would go on retrying.
_ATTEMPTS: Final = Attempts(first_seconds=0.1, longest_seconds=1, total_seconds=3)


def open_database() -> DynamoDbClient:
    """Build a client with the operator's own credentials, which gives up soon."""
    return DynamoDbClient(attempts=_ATTEMPTS)
