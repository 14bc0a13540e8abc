"""The environment of a job's driver: its role's credentials, its VPC, the trusted authorities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from localcloud.authorities import Authorities
from localcloud.children import java_scratch
from localcloud.cloud import Cloud
from localcloud.errors import JobFailedError
from localcloud.identity.credentials import SessionKey, SessionKeys
from localcloud.identity.permissions import may_be_assumed_by_service
from localcloud.identity.roles import role_account
from localcloud.network import find_source, load_network

_SESSION_SECONDS = 43_200
_STORE_PASSWORD = "changeit"  # noqa: S105 - Java's default; the store is not secret
# Nearly half the CPU time of a one-minute driver is optimizing compilation: 28 s without, 15 s so.
# Then a JVM has room for 48 MB of code, which a job with many plans fills and compiles again.
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"


@dataclass(frozen=True, slots=True)
class Place:
    """The network and the role of a job; `session_policy` limits the role.

    The role trusts `service`, whose request has the keys of `trust_context`; `takes_role` is its
    name in sentences.
    """

    role_arn: str
    service: str
    takes_role: str
    subnets: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    session_policy: str | None = None
    trust_context: Mapping[str, str] = field(default_factory=dict)


def take_role(cloud: Cloud, place: Place, session_name: str) -> SessionKey:
    """Create the credentials of a job.

    Raises:
        JobFailedError: the role does not let the service assume it.
    """
    account = role_account(place.role_arn)
    context = {**place.trust_context, "aws:SourceAccount": account} if place.trust_context else {}
    if not may_be_assumed_by_service(place.role_arn, place.service, context):
        raise JobFailedError(
            f"Could not assume runtime role {place.role_arn} because it does not exist or is not "
            f"set up with the required trust relationship with {place.takes_role}."
        )
    return cloud.state(SessionKeys).make(
        account,
        _SESSION_SECONDS,
        role_arn=place.role_arn,
        session_name=session_name,
        policies=(place.session_policy,) if place.session_policy else (),
    )


def driver_variables(cloud: Cloud, place: Place, key: SessionKey, folder: Path) -> dict[str, str]:
    """Return the variables of a job's role and network; the trust store goes into the folder.

    The driver trusts the authorities of this localcloud instead of Amazon's.

    Raises:
        MissingHopError: a subnet or security group does not exist.
    """
    network = load_network(cloud).environment_for(find_source(place.subnets, place.groups))
    scratch = [f'"{flag}"' for flag in java_scratch(folder)]
    trust = _trust_options(cloud, folder)
    options = [network["JAVA_TOOL_OPTIONS"], _SHORT_LIVED, *scratch, *trust]
    return {
        **network,
        **key.variables,
        "JAVA_TOOL_OPTIONS": " ".join(options),
        "SSL_CERT_FILE": str(cloud.state(Authorities).write_bundle(cloud.folder)),
    }


def _trust_options(cloud: Cloud, folder: Path) -> list[str]:
    """Return the options for a JVM's trust store of the authorities."""
    bundle = cloud.state(Authorities).write_bundle(cloud.folder).read_bytes()
    if not bundle:
        return []
    found = x509.load_pem_x509_certificates(bundle)
    entries = [
        pkcs12.PKCS12Certificate(one, f"authority-{number}".encode())
        for number, one in enumerate(found)
    ]
    store = folder / "authorities.p12"
    sealing = BestAvailableEncryption(_STORE_PASSWORD.encode())
    store.write_bytes(pkcs12.serialize_java_truststore(entries, sealing))
    name = "javax.net.ssl.trustStore"
    return [
        f'"-D{name}={store}"',
        f"-D{name}Type=PKCS12",
        f"-D{name}Password={_STORE_PASSWORD}",
    ]
