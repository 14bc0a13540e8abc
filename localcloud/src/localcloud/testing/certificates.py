"""Private CAs of AWS Private CA, and client certificates that they issue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

_SIGNING = "SHA256WITHRSA"
_ROOT = "arn:aws:acm-pca:::template/RootCACertificate/V1"
_CLIENT = "arn:aws:acm-pca:::template/EndEntityClientAuthCertificate/V1"
_VALIDITY = {"Type": "DAYS", "Value": 300}


@dataclass(frozen=True, slots=True)
class PrivateAuthority:
    """A private CA that is ACTIVE; `client` is its account's client of acm-pca."""

    arn: str
    client: Any

    @classmethod
    def make(cls, client: Any) -> PrivateAuthority:
        """Make a root CA, with a certificate that it signs itself."""
        subject = {"CommonName": "Clients", "Organization": "Acme"}
        arn = client.create_certificate_authority(
            CertificateAuthorityConfiguration={
                "KeyAlgorithm": "RSA_2048",
                "SigningAlgorithm": _SIGNING,
                "Subject": subject,
            },
            CertificateAuthorityType="ROOT",
        )["CertificateAuthorityArn"]
        request = client.get_certificate_authority_csr(CertificateAuthorityArn=arn)["Csr"]
        authority = cls(arn, client)
        certificate = authority._issue(request.encode(), _ROOT)["Certificate"]
        client.import_certificate_authority_certificate(
            CertificateAuthorityArn=arn, Certificate=certificate.encode()
        )
        return authority

    def issue(self, common_name: str) -> dict[str, str]:
        """Issue a certificate for CN=common_name,O=Acme; return it as the secret of a client."""
        key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
        subject = [(NameOID.ORGANIZATION_NAME, "Acme"), (NameOID.COMMON_NAME, common_name)]
        request = (
            x509.CertificateSigningRequestBuilder()
            .subject_name(x509.Name([x509.NameAttribute(*each) for each in subject]))
            .sign(key, hashes.SHA256())
        )
        issued = self._issue(request.public_bytes(serialization.Encoding.PEM), _CLIENT)
        return {
            "certificate": f"{issued['Certificate']}\n{issued['CertificateChain']}",
            "privateKey": key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ).decode(),
        }

    def _issue(self, request: bytes, template: str) -> dict[str, str]:
        arn = self.client.issue_certificate(
            CertificateAuthorityArn=self.arn,
            Csr=request,
            SigningAlgorithm=_SIGNING,
            TemplateArn=template,
            Validity=_VALIDITY,
        )["CertificateArn"]
        found: dict[str, str] = self.client.get_certificate(
            CertificateAuthorityArn=self.arn, CertificateArn=arn
        )
        return found
