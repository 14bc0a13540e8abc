"""The topics of the changes: a registry with their versions, and the records that are sent.

Frames are those of Apicurio's serialisers, which every system here reads: `00`, the schema's global
id in 8 bytes, and Avro.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from localcloud.registry import ApicurioProcess
from proof.change import UNKNOWN_ID, Change, Damage, Kind, Record, Round
from proof.relay import Relay
from proof.sent import Sent

_CUT_BYTES: Final = 3
_GARBAGE: Final = b'{"not": "a frame"}'
_MAX_BYTES: Final = 2_000_000


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

    def register(self, changes: Iterable[Change]) -> None:
        """Register the versions of each change in order, as artifact `TOPIC-value`."""
        for change in changes:
            self.ids[change.name] = [
                self._post(f"{change.name}-value", schema) for schema in change.versions
            ]

    def _post(self, artifact: str, schema: Mapping[str, Any]) -> int:
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


class Topics:
    """The topics of a run, one of one partition for each change."""

    def __init__(self, servers: str, registry: Registry, changes: tuple[Change, ...]) -> None:
        self._registry = registry
        self._producer = KafkaProducer(
            bootstrap_servers=servers, acks="all", max_request_size=_MAX_BYTES
        )
        make_topics(servers, [each.name for each in changes])

    def send(self, change: Change, round_: Round) -> list[Sent]:
        """Send the records of a round; return what Kafka acknowledged."""
        sent = [self._frame(change, record) for record in round_.records]
        answers = [
            self._producer.send(change.name, value=each.value, key=each.id.encode())
            for each in sent
        ]
        for answer in answers:
            answer.get(timeout=60)
        return sent

    def close(self) -> None:
        """End the producer."""
        self._producer.close()

    def _frame(self, change: Change, record: Record) -> Sent:
        payload, ids = change.payload(record), self._registry.ids[change.name]
        value: bytes | None = frame(ids[record.version], payload)
        match record.damage:
            case Damage.CUT:
                value = frame(ids[record.version], payload[:-_CUT_BYTES])
            case Damage.GARBAGE:
                value = _GARBAGE
            case Damage.UNKNOWN_SCHEMA:
                value = frame(UNKNOWN_ID, payload)
            case None if record.kind is Kind.EMPTY:
                value = None
        return Sent(change.name, record.row["id"], record.kind, value)


def make_topics(servers: str, names: Sequence[str]) -> None:
    """Create topics of one partition."""
    properties = {"max.message.bytes": str(_MAX_BYTES)}
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.create_topics([NewTopic(each, 1, 1, topic_configs=properties) for each in names])
    admin.close()


def frame(schema_id: int, payload: bytes) -> bytes:
    """Return the frame of a payload."""
    return b"\x00" + schema_id.to_bytes(8, "big") + payload
