"""Settings of a registry that is reached over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from penstock.registry.naming import SubjectNaming
from penstock.schemas import Compatibility

_CALL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class HttpRegistrySettings:
    """The registry's address, the credentials for it, and the schemas that may be read.

    `secret` is the ARN of a secret in Secrets Manager, or the path of a file, with the JSON object
    that `_http_credentials` describes. `allow` holds patterns of schema names, by default all.
    `compatibility` is the mode of subjects that get a version, by default the registry's own for
    new ones. `call_seconds` is the time limit of a call with all its retries.
    """

    scheme: str  # such as confluent+https
    address: str  # HOST, HOST:PORT, with a path where the registry has one
    user: str = ""
    secret: str = ""
    ca_file: str = ""
    naming: str = "topic"
    topic: str = ""  # for the naming `topic-record`
    group: str = ""  # of Apicurio's artifacts
    allow: tuple[str, ...] = ()
    compatibility: Compatibility | None = None
    call_seconds: float = _CALL_SECONDS

    @property
    def url(self) -> str:
        """The address for HTTP, without a slash at its end."""
        return f"{self.scheme.rpartition('+')[2]}://{self.address.rstrip('/')}"

    @property
    def has_content_ids(self) -> bool:
        """Return whether this is Apicurio's Confluent API, whose ids are its content ids."""
        return self.scheme.startswith("confluent+") and "/apis/ccompat/" in self.address

    @property
    def subjects(self) -> SubjectNaming:
        """The rule that names the subjects of schemas."""
        return SubjectNaming.of(self.naming, self.topic)

    @property
    def source(self) -> str:
        """The URL of these settings, without user and secret."""
        shown = {"group": self.group, "topic": self.topic}
        pairs = [(key, value) for key, value in shown.items() if value]
        if self.naming != "topic":
            pairs.append(("naming", self.naming))
        query = urlencode([*pairs, *(("allow", each) for each in self.allow)], safe=":/*")
        return f"{self.scheme}://{self.address}" + (f"?{query}" if query else "")
