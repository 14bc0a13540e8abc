"""An Apicurio Registry that can be out of reach, and the frames of its serialisers.

Every system here reads them: `00`, the schema's global id in 8 bytes, and Avro.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from localcloud.registry import ApicurioProcess
from systems.relay import Relay


@dataclass(slots=True)
class Registry:
    """A registry behind a relay, so that it can be out of reach."""

    relay: Relay
    _process: ApicurioProcess
    ids: dict[str, list[int]] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The address at which systems find it."""
        return f"127.0.0.1:{self.relay.port}"

    def register(self, topic: str, versions: Iterable[object]) -> None:
        """Register the versions of a topic's schema in order, as artifact `TOPIC-value`."""
        self.ids[topic] = [self._post(f"{topic}-value", schema) for schema in versions]

    def _post(self, artifact: str, schema: object) -> int:
        url = f"{self._process.url}/apis/registry/v2/groups/default/artifacts?ifExists=UPDATE"
        headers = {
            "Content-Type": "application/json",
            "X-Registry-ArtifactId": artifact,
            "X-Registry-ArtifactType": "AVRO",
        }
        body = json.dumps(schema).encode()
        request = urllib.request.Request(url, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(json.loads(answer.read())["globalId"])


@contextmanager
def running_registry(folder: Path) -> Iterator[Registry]:
    """Run an Apicurio Registry without rules until the block ends."""
    process = ApicurioProcess("127.0.0.1", 0, folder / "apicurio.log")
    host, _, port = process.url.removeprefix("http://").rpartition(":")
    relay = Relay((host, int(port)))
    try:
        yield Registry(relay, process)
    finally:
        relay.close()
        process.kill()


def frame(schema_id: int, payload: bytes) -> bytes:
    """Return the frame of a payload."""
    return b"\x00" + schema_id.to_bytes(8, "big") + payload
