"""A client certificate: its key made here, signed by AWS Private CA, both kept in a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from penstock.credentials import load_session
from penstock.errors import OperationError

# For clients alone: with it nobody can pretend to be a broker.
_TEMPLATE: Final = "arn:{}:acm-pca:::template/EndEntityClientAuthCertificate/V1"
_EXPONENT: Final = 65_537


@dataclass(frozen=True, slots=True)
class Order:
    """A certificate to issue: its distinguished name, the ARNs of CA and secret, and its days.

    The CA is asked by `authority_role`, or without one by the process's own credentials.
    """

    name: str
    authority_arn: str
    secret_arn: str
    days: int
    authority_role: str = ""


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate in its secret: the user of its access lists, and when it ends."""

    user: str
    secret_arn: str
    ends_at: datetime


def issue_certificate(order: Order) -> Issued:
    """Issue a client certificate, and keep it with its private key in the secret.

    The key is in this process and in the secret, nowhere else.

    Raises:
        OperationError: the name is no distinguished name, or the CA or Secrets Manager refuses.
    """
    subject = _parse_name(order.name)
    key = generate_private_key(_EXPONENT, 2048)
    with _translated(f"{order.authority_arn} issues no certificate for {order.name}"):
        chain = _ask_authority(order, _build_request(subject, key))
    login = {
        "certificate": chain,
        "privateKey": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    }
    with _translated(f"the certificate cannot be kept in {order.secret_arn}"):
        secrets = _open_client("secretsmanager", order.secret_arn)
        secrets.put_secret_value(SecretId=order.secret_arn, SecretString=json.dumps(login))
    certificate = x509.load_pem_x509_certificate(chain.encode())
    return Issued(
        certificate.subject.rfc4514_string(), order.secret_arn, certificate.not_valid_after_utc
    )


def _parse_name(text: str) -> x509.Name:
    try:
        return x509.Name.from_rfc4514_string(text)
    except ValueError as error:
        raise OperationError(
            f"the name is {text!r}, expected a distinguished name such as CN=ledger,O=Acme"
        ) from error


def _build_request(subject: x509.Name, key: RSAPrivateKey) -> bytes:
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _ask_authority(order: Order, request: bytes) -> str:
    """Return the certificate, and those of its authorities after it."""
    authority = _open_client("acm-pca", order.authority_arn, order.authority_role)
    arn = {"CertificateAuthorityArn": order.authority_arn}
    issued = authority.issue_certificate(
        **arn,
        Csr=request,
        SigningAlgorithm="SHA256WITHRSA",
        TemplateArn=_TEMPLATE.format(order.authority_arn.split(":")[1]),
        Validity={"Type": "DAYS", "Value": order.days},
    )
    arn["CertificateArn"] = issued["CertificateArn"]
    authority.get_waiter("certificate_issued").wait(**arn)
    found = authority.get_certificate(**arn)
    return "\n".join(filter(None, (found["Certificate"], found.get("CertificateChain"))))


def _open_client(service: str, arn: str, role_arn: str = "") -> Any:
    """Open a client in the region of a resource."""
    return load_session(region=arn.split(":")[3], role_arn=role_arn or None).create_client(service)


@contextmanager
def _translated(problem: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise OperationError(f"{problem}: {error}") from error
