"""An AWS account of a running localcloud."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import boto3


@dataclass(frozen=True, slots=True)
class Account:
    """The account of an id, in one region; it exists once it is named."""

    id: str
    region: str
    endpoint: str
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead the programs of AWS and Terraform to it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.id,
            "AWS_SECRET_ACCESS_KEY": "localcloud",
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self, service: str) -> Any:
        """Return the client of a service, opened once."""
        if service not in self._clients:
            session: Any = boto3.Session(self.id, "localcloud", region_name=self.region)
            self._clients[service] = session.client(service, endpoint_url=self.endpoint)
        return self._clients[service]
