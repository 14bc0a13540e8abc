"""The secret of a login in Secrets Manager: a JSON object with texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from penstock.errors import BrokerLoginError
from penstock.kafka._aws import aws_session
from penstock.kafka.settings import KafkaSettings


def read_secret(settings: KafkaSettings, fields: Sequence[str]) -> dict[str, str]:
    """Return all texts of the secret, at least these fields.

    Raises:
        BrokerLoginError: the secret cannot be read, or is not as expected.
        BrokerUnavailableError: Secrets Manager throttles or does not answer (retriable).
    """
    arn = settings.secret_arn
    region, failure = arn.split(":")[3], f"the secret {arn} cannot be read"
    with aws_session(settings, region, failure) as session:
        client: Any = session.create_client("secretsmanager")
        answer = client.get_secret_value(SecretId=arn)
    try:
        values = json.loads(answer.get("SecretString", ""))
        needed = {field: str(values[field]) for field in fields}
        return {name: str(value) for name, value in values.items()} | needed
    except (ValueError, TypeError, KeyError, AttributeError):
        # Without the cause, which would put the secret's text into logs.
        raise BrokerLoginError(
            f"the secret {arn} is not as expected: a JSON object with {' and '.join(fields)}"
        ) from None
