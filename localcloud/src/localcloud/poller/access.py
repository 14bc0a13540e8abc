"""The login of a mapping: from its secrets to kafka-python's options."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType

from localcloud.poller.settings import MappingSettings

_BOOTSTRAP_MS = 5_000
_ANSWER_MS = 10_000
_MECHANISMS = {
    "SASL_SCRAM_512_AUTH": "SCRAM-SHA-512",
    "SASL_SCRAM_256_AUTH": "SCRAM-SHA-256",
    "BASIC_AUTH": "PLAIN",
}


class AccessError(Exception):
    """A secret cannot be read or has the wrong content."""


def read_options(
    settings: MappingSettings, open_client: Callable[[str], Any], ca_files: list[Path]
) -> dict[str, Any]:
    """Read the secrets and return the options; `ca_files` count if the mapping names no CA.

    Raises:
        AccessError: the message has the secret's ARN and the problem.
    """
    access = dict(settings.access)
    options: dict[str, Any] = {
        "bootstrap_servers": list(settings.bootstrap_servers),
        "client_id": f"mapping-{settings.uuid}",
    }
    login = next((kind for kind in _MECHANISMS if kind in access), None)
    root = access.get("SERVER_ROOT_CA_CERTIFICATE")
    if login:
        secret = _read_secret(open_client, access[login], "username", "password")
        options |= {
            "sasl_mechanism": _MECHANISMS[login],
            "sasl_plain_username": secret["username"],
            "sasl_plain_password": secret["password"],
        }
    if login or root:
        context = ssl.create_default_context()
        for path in [] if root else ca_files:
            if path.exists():  # the file of a deleted cluster is gone
                context.load_verify_locations(path)
        if root:
            _trust(context, root, _read_secret(open_client, root, "certificate")["certificate"])
        options["ssl_context"] = context
    options["security_protocol"] = "SASL_SSL" if login else "SSL" if root else "PLAINTEXT"
    return options


def check_cluster_rights(options: Mapping[str, Any]) -> None:
    """Read the configuration of a broker, as Lambda's poller does.

    Raises:
        AccessError: the user lacks DescribeConfigs on the cluster; the message is Lambda's own.
        KafkaError: the brokers cannot be reached.
    """
    bounds = {"bootstrap_timeout_ms": _BOOTSTRAP_MS, "request_timeout_ms": _ANSWER_MS}
    with closing(KafkaAdminClient(**options, **bounds)) as admin:
        broker = str(admin.describe_cluster()["brokers"][0]["broker_id"])
        asked = [ConfigResource(ConfigResourceType.BROKER, broker)]
        # kafka-python drops the error; an answer without one has every setting of the broker.
        if not admin.describe_configs(asked, config_filter="all")["broker"][broker]:
            raise AccessError("Cluster failed to authorize Lambda")


def _trust(context: ssl.SSLContext, arn: str, certificate: str) -> None:
    try:
        context.load_verify_locations(cadata=certificate)
    except ssl.SSLError as error:
        raise AccessError(f"the secret {arn} holds no PEM certificate") from error


def _read_secret(open_client: Callable[[str], Any], arn: str, *fields: str) -> Mapping[str, str]:
    try:
        text = open_client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"]
    except (ClientError, BotoCoreError) as error:
        raise AccessError(f"the secret {arn} cannot be read: {error}") from error
    try:
        values = json.loads(text)
        return {field: str(values[field]) for field in fields}
    except (ValueError, TypeError, KeyError):
        # Without the cause: it would write the secret's text into logs.
        raise AccessError(
            f"the secret {arn} is not a JSON object with {' and '.join(fields)}"
        ) from None
