"""The producer function from its zip, with a registry, a topic and a bucket of its own."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, TopicPartition

from localcloud.brokers import BrokerCluster
from localcloud.cloud import Cloud
from localcloud.testing import RUNTIME, allow, deploy, invoke, make_role
from penstock.aws import AwsClient, Service
from penstock.framing import decode_frame
from penstock.registry import GlueRegistry, GlueSettings
from penstock.schemas import decode_event
from systems.consumers import set_variables
from systems.sessions import make_session
from tests.fixtures.rejected import REGION, bucket

__all__ = ["bucket"]

_ACCOUNT = "111111111111"


@dataclass
class Producers:
    """The function, the registry and topic that carry its name, and its bucket."""

    cloud: Cloud
    client: Callable[..., Any]
    servers: str
    name: str
    bucket: str
    function: str

    def invoke_at_once(self, *events: Any) -> list[tuple[Any, str | None]]:
        """Give each event to an environment of its own."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda each: invoke(self.client, self.function, each), events))

    def set_environment(self, **variables: str) -> None:
        """Change variables of the function, which ends its environments."""
        set_variables(self.client("lambda"), self.function, variables)

    def registry(self) -> GlueRegistry:
        """A reader that has read nothing yet."""
        session = make_session(_ACCOUNT, region=REGION)
        glue = AwsClient(Service.GLUE, session, endpoint=self.cloud.endpoint)
        return GlueRegistry(GlueSettings(self.name), glue)

    def records(self, registry: GlueRegistry) -> list[tuple[str, dict[str, Any]]]:
        """Read all records, by the schema that each one names."""
        read = []
        with closing(KafkaConsumer(bootstrap_servers=self.servers)) as consumer:
            partition = TopicPartition(self.name, 0)
            consumer.assign([partition])
            end = consumer.end_offsets([partition])[partition]
            consumer.seek_to_beginning(partition)
            while consumer.position(partition) < end:
                for record in consumer.poll(1000).get(partition, ()):
                    frame = decode_frame(record.value)
                    assert frame is not None
                    schema = registry.get(frame.key).schema
                    event = decode_event(frame.payload, schema)
                    read.append((str(frame.key), event))
        return read

    def rejected(self) -> list[dict[str, Any]]:
        """Read all events that were kept."""
        s3 = self.client("s3")
        found = s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])
        bodies = [s3.get_object(Bucket=self.bucket, Key=each["Key"])["Body"] for each in found]
        return [json.loads(body.read()) for body in bodies]


@pytest.fixture
def producers(
    request: pytest.FixtureRequest,
    cloud: Cloud,
    client: Callable[..., Any],
    broker: BrokerCluster,
    bucket: str,
) -> Iterator[Producers]:
    """Deploy them; a parameter is the compatibility of new schemas."""
    name = f"sensor-{secrets.token_hex(4)}"
    mode = getattr(request, "param", "BACKWARD")
    client("glue").create_registry(RegistryName=name)
    role = make_role(client)
    for action in ("glue:*", "s3:PutObject"):
        allow(client, role, action)
    servers = broker.bootstrap_servers("PLAINTEXT")
    package: Path = request.getfixturevalue("zips") / "producer-lambda.zip"
    function = deploy(
        client,
        Code={"ZipFile": package.read_bytes()},
        Handler="handler.lambda_handler",
        Runtime=RUNTIME,
        Timeout=30,
        MemorySize=512,
        Role=role,
        Environment={
            "Variables": {
                "KAFKA_BOOTSTRAP_SERVERS": servers,
                "KAFKA_SECURITY": "plaintext",
                "PENSTOCK_REGISTRY": f"glue://{name}?region={REGION}&compatibility={mode}",
                "PENSTOCK_REJECTED_BUCKET": bucket,
                "PENSTOCK_TOPIC": name,
                "PENSTOCK_POLICY": "exact",
                "PENSTOCK_VERSION_BUDGET": "5000",
            }
        },
    )
    yield Producers(cloud, client, servers, name, bucket, function)
    client("lambda").delete_function(FunctionName=function)
