"""The cluster's certificate authority, and a PEM key store for each broker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import trustme
from cryptography.hazmat.primitives import serialization as pem


def load_authority(directory: Path) -> trustme.CA:
    """Load the authority kept in the directory, or create it there.

    It survives a restart, so clients that trust it need no change.
    """
    certificate, key = directory / "ca.pem", directory / "ca.key"
    if key.exists():
        return trustme.CA.from_pem(certificate.read_bytes(), key.read_bytes())
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(certificate))
    key.touch(mode=0o600)
    authority.private_key_pem.write_to_path(str(key))
    return authority


def write_key_store(authority: trustme.CA, names: Iterable[str], path: Path) -> None:
    """Write a private key and its certificate for the names, in the one file that Kafka reads."""
    leaf = authority.issue_cert(*names)
    # trustme writes "EC PRIVATE KEY"; Kafka's PEM store accepts PKCS#8 only.
    key = pem.load_pem_private_key(leaf.private_key_pem.bytes(), password=None).private_bytes(
        pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption()
    )
    path.touch(mode=0o600)
    path.write_bytes(key + b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
