"""The private CAs whose client certificates a cluster accepts, from AWS Private CA."""

from __future__ import annotations

import re
from typing import Any

from moto.acmpca.models import acmpca_backends

from localcloud.services.kafka.model import bad_request

_ARN = re.compile(r"arn:aws:acm-pca:([a-z0-9-]+):(\d{12}):certificate-authority/.+")


def read_authorities(settings: dict[str, Any]) -> str:
    """Return the certificates (PEM) of the private CAs of a cluster with these settings.

    Raises:
        AwsError: one of them does not exist, or has no certificate yet.
    """
    given = settings.get("ClientAuthentication", {}).get("Tls") or {}
    return "".join(_read_certificate(arn) for arn in given.get("CertificateAuthorityArnList", ()))


def _read_certificate(arn: str) -> str:
    match = _ARN.fullmatch(arn)
    known = acmpca_backends[match[2]][match[1]].certificate_authorities if match else {}
    authority = known.get(arn)
    if authority is None or authority.status != "ACTIVE":
        state = "doesn't exist" if authority is None else f"is {authority.status}"
        raise bad_request(f"The private CA {arn} {state}; specify one that is ACTIVE")
    return str(authority.certificate_bytes.decode())
