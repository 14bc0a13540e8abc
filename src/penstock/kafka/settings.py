"""Settings of the connection to Kafka: brokers and login."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from penstock.settings import Settings, parse_match, parse_port, setting

_KINESIS = "kinesis://"
_SERVER = re.compile(r"[^\s:,]+:([0-9]{1,5})")
_SECRET_ARN = re.compile(r"arn:[a-z-]+:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+")


class Security(StrEnum):
    """How a client logs in to a broker, and whether the connection is encrypted."""

    IAM = "iam"
    SCRAM = "scram"
    TLS = "tls"
    PLAINTEXT = "plaintext"


def _parse_servers(text: str) -> tuple[str, ...]:
    if text.startswith(_KINESIS):
        return (text,)  # which `problems` refuses in a sentence of its own
    servers = tuple(server.strip() for server in text.split(","))
    ports = [parse_port(match[1], 1) for match in map(_SERVER.fullmatch, servers) if match]
    if len(ports) < len(servers):
        raise ValueError(text)
    return servers


@dataclass(frozen=True, slots=True)
class KafkaSettings(Settings):
    """The brokers and the login."""

    bootstrap_servers: tuple[str, ...] = setting(
        "KAFKA_BOOTSTRAP_SERVERS", "brokers as host:port, separated by commas", parse=_parse_servers
    )
    security: Security = setting(
        "KAFKA_SECURITY",
        "how to log in: iam, scram, tls (a client certificate, or no login without a secret) or "
        "plaintext",
        parse=Security,
        default=Security.IAM,
    )
    secret_arn: str = setting(
        "KAFKA_SECRET_ARN",
        "ARN of the Secrets Manager secret: for scram with username and password, for tls with "
        "certificate and privateKey",
        parse=partial(parse_match, _SECRET_ARN),
        default="",
    )
    ca_file: str = setting(
        "KAFKA_CA_FILE",
        "CA bundle (PEM file) for the brokers' certificates [the system's]",
        default="",
    )
    region: str = setting("AWS_REGION", "for iam: the AWS region of the brokers", default="")
    role_arn: str = setting(
        "KAFKA_ROLE_ARN", "role to assume for the login or for reading the secret", default=""
    )
    external_id: str = setting(
        "KAFKA_EXTERNAL_ID",
        "external id that the role's trust policy requires",
        default="",
        secret=True,
    )

    def problems(self) -> Iterator[str]:
        """Yield a message for each setting that the login lacks or that it does not use."""
        security = self.security
        if self.bootstrap_servers and self.bootstrap_servers[0].startswith(_KINESIS):
            yield (
                f"KAFKA_BOOTSTRAP_SERVERS (--bootstrap-servers) is {self.bootstrap_servers[0]!r}, "
                "expected brokers as host:port; Kafka alone carries records, Kinesis does not "
                "(docs/kinesis-or-msk.md says why)"
            )
        if security is Security.SCRAM and self.secret_arn == "":
            yield "KAFKA_SECRET_ARN (--secret-arn) is missing, expected with KAFKA_SECURITY scram"
        if security is Security.IAM and self.region == "":
            yield "AWS_REGION (--region) is missing, expected with KAFKA_SECURITY iam"
        if self.external_id and self.role_arn == "":
            yield "KAFKA_ROLE_ARN (--role-arn) is missing, expected with KAFKA_EXTERNAL_ID"
        if self.ca_file and not Path(self.ca_file).is_file():
            yield f"KAFKA_CA_FILE (--ca-file) is {self.ca_file!r}, expected a file that exists"
        for name, value, of in (
            ("KAFKA_SECRET_ARN (--secret-arn)", self.secret_arn, {Security.SCRAM, Security.TLS}),
            ("KAFKA_ROLE_ARN (--role-arn)", self.role_arn, self._uses_of_role()),
            ("KAFKA_CA_FILE (--ca-file)", self.ca_file, set(Security) - {Security.PLAINTEXT}),
        ):
            if value and security is not None and security not in of:
                yield f"{name} is given, expected none with KAFKA_SECURITY {security}"

    def _uses_of_role(self) -> set[Security]:
        """Return the ways to log in that call AWS."""
        return {Security.SCRAM, Security.IAM} | ({Security.TLS} if self.secret_arn else set())
