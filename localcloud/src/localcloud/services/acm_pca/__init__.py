"""AWS Private CA is moto's; brokers of MSK that ask for client certificates read it."""

from __future__ import annotations

from localcloud.door.service import Moto, Service
from localcloud.identity.access import by_parameter

SERVICE = Service(
    "acm-pca",
    endpoint="acm-pca",
    throttle=None,
    resources=by_parameter(("CertificateAuthorityArn", "{}")),
    moto=Moto(
        keeps=(
            "CreateCertificateAuthority ImportCertificateAuthorityCertificate IssueCertificate "
            "RevokeCertificate TagCertificateAuthority UpdateCertificateAuthority"
        ),
    ),
)
