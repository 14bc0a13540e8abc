"""The platform of a run: two accounts, three brokers, two functions and a Spark job.

What the tests of faults and functions build is built here once: real brokers and functions, IAM
with a role across the accounts, logins by SCRAM. Terraform and the network between the accounts are
left to tests/e2e, since applying both roots would take most of a short run.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final

from botocore.config import Config
from kafka.admin import NewTopic
from moto.dynamodb.models import dynamodb_backends
from moto.glue.models import glue_backends
from moto.s3.models import s3_backends

from campaign.cdc import Cdc, running_cdc
from campaign.history import Captured, Made, Row, Sample, Staged
from campaign.readers import read_lake, read_letters, read_table
from campaign.replay import Replays
from campaign.revisions import copy_sources
from campaign.schedule import Schedule
from campaign.staging import Staging, running_staging
from campaign.watching import Offsets, watching
from localcloud.brokers.properties import CONTROLLER_ID
from localcloud.cloud import Cloud
from localcloud.door.server import start_server
from localcloud.functions import Fleet
from localcloud.functions.environment import ExecutionEnvironment
from localcloud.services.glue.registry.state import GlueRegistries
from localcloud.services.glue.registry.store import Status
from localcloud.services.lambda_.mappings import Mappings
from localcloud.testing import allow, deploy, make_role
from localcloud.testing.clients import open_clients
from localcloud.testing.links import BrokerLinks, LinkedSpec, linked
from localcloud.testing.mappings import Topic, mapped
from systems.clusters import OPEN, running_brokers
from systems.consumers import CONSUMER, Consumer, build_consumer, package
from systems.killing import ACCOUNT, REGION
from systems.supervised import SupervisedJob
from systems.tables import make_table
from systems.world import World
from tools.build_zip import build
from tools.lambda_packages import Target

TOPIC: Final = "sensor"
_PARTITIONS, _REPLICAS = 4, 3
_RIGHTS: Final = ("glue:*", "s3:PutObject", "secretsmanager:GetSecretValue")
# Shorter than Terraform's, so that an environment that hangs does not hang for the whole run.
_CONSUMER_SECONDS, _PRODUCER_SECONDS = 30, 15
_OTHERS: Final[Mapping[str, Callable[..., AbstractContextManager[Staging | Cdc]]]] = {
    "staging": running_staging,
    "cdc": running_cdc,
}
_CALL: Final = Config(
    retries={"max_attempts": 0}, read_timeout=120, max_pool_connections=20
)  # a request that is sent again would be another event


@dataclass(slots=True, kw_only=True)
class Platform:
    """The programs and services of a run.

    Attributes:
        brokers: who holds it may take a broker down.
        clock: who holds it sets the clock of the consumer function.
        links: the way of functions, mapping, drivers and followers to brokers; who judges has none.
        mapping: the identity of the mapping of the consumer function.
        others: the jobs beside the job, by their names.
    """

    cloud: Cloud
    client: Callable[..., Any]
    world: World
    consumer: Consumer
    producer: str
    bucket: str
    job: SupervisedJob
    brokers: Lock
    clock: Lock
    links: BrokerLinks
    mapping: str
    offsets: Offsets
    replays: Replays | None
    others: Mapping[str, Staging | Cdc]

    @property
    def calls(self) -> Any:
        """A client of Lambda that sends nothing twice."""
        return self.client("lambda", config=_CALL)

    @property
    def cdc(self) -> Cdc:
        """The job of change data capture of a run that has one."""
        job = self.others["cdc"]
        assert isinstance(job, Cdc)
        return job

    def environments(self, function: str) -> list[ExecutionEnvironment]:
        """Return the environments of a function, by the name of its part."""
        name = {"consumer": self.consumer.function, "producer": self.producer}[function]
        fleets = [fleet for *_, fleet in self.cloud.states(Fleet)]
        every = [each for fleet in fleets for each in fleet.list_environments()]
        return [each for each in every if each.spec.name == name]

    def list_programs(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the process of each program that runs; senders are in localcloud."""
        yield "localcloud", os.getpid()
        yield "driver", self.job.pid
        for node, pid in self.world.kafka.cluster.pids.items():
            yield ("controller" if node == CONTROLLER_ID else f"broker {node}"), pid
        for function in ("producer", "consumer"):
            yield from ((function, each.pid) for each in self.environments(function))
        mapping = self.cloud.state(Mappings, CONSUMER, REGION).by_id[self.mapping]
        if mapping.poller:
            yield "mapping", mapping.poller.pid

    def count_versions(self, field: str) -> int:
        """Return how many versions of the topic's schema have a field; no fault meets the look."""
        kept = self.cloud.state(GlueRegistries, ACCOUNT, REGION)
        schemas = list(kept.schemas.values())
        own = (each for each in schemas if each.registry.name == self.world.name)
        versions = (each for schema in own for each in kept.store.list_versions(schema.arn))
        return sum(
            field in (each["name"] for each in json.loads(version.definition)["fields"])
            for version in versions
            if version.status is Status.AVAILABLE
        )

    def count_compactions(self) -> int:
        """Return how many commits replaced files of the lake's table; no fault meets the look."""
        database, name = self.world.arguments["--lake-table"].split(".")
        table = glue_backends[ACCOUNT][REGION].get_table(database, name).as_dict()
        place = table["Parameters"]["metadata_location"].removeprefix("s3://")
        kept: Any = s3_backends[ACCOUNT]["aws"].get_object(*place.split("/", 1))
        text = gzip.decompress(kept.value) if ".gz." in place else kept.value
        commits = (each["summary"] for each in json.loads(text)["snapshots"])
        return sum(
            each["operation"] == "replace" and "deleted-data-files" in each for each in commits
        )

    def watching(self, path: Path) -> AbstractContextManager[Sequence[Sample]]:
        """Take samples of its programs and readers until the block ends."""
        return watching(self.list_programs, self.offsets, path)

    def read_made(self, *, with_lake: bool = True) -> dict[str, Made]:
        """Return what function and job made of the topic; the many files of the lake take long."""
        endpoint, name = self.cloud.endpoint, self.world.name
        lake = {"lake": read_lake(endpoint, _database(name), "readings")} if with_lake else {}
        return {
            "function": Made(
                {"readings": read_table(_list_rows(CONSUMER, f"{name}-readings"))},
                {},
                read_letters(_list_rows(CONSUMER, f"{name}-errors")),
            ),
            "job": Made(
                lake,
                {"newest": read_table(_list_rows(ACCOUNT, f"{name}-newest"))},
                read_letters(_list_rows(ACCOUNT, f"{name}-errors")),
                is_replayed=self.replays is not None,
            ),
        }

    def read_others(self) -> dict[str, Staged | Captured]:
        """Return what the other jobs read and made."""
        list_rows = partial(_list_rows, ACCOUNT)
        return {name: other.read(list_rows) for name, other in self.others.items()}


def _list_rows(account: str, name: str) -> Iterator[Row]:
    """Yield the rows of a table of DynamoDB as moto has them, whose scans of many take minutes."""
    kept = dynamodb_backends[account][REGION].tables[name]
    items: list[Any] = list(kept.items.values())
    if kept.range_key_attr:
        items = [item for each in items for item in list(each.values())]
    yield from (item.to_regular_json() for item in items)


@contextmanager
def running_platform(folder: Path, schedule: Schedule) -> Iterator[Platform]:
    """Run all that a schedule is for until the block ends."""
    build(Target.of_host(), folder / "zips")
    with ExitStack() as stack:
        server = start_server(folder / "aws", 0)
        stack.callback(server.stop)
        cloud, client = server.cloud, open_clients(server.cloud.endpoint)
        made = running_brokers(folder / "brokers", kind=LinkedSpec, properties=OPEN)
        kafka = stack.enter_context(made)
        links = stack.enter_context(linked(kafka.cluster))
        _create_topic(kafka.cluster)
        world = stack.enter_context(closing(World(cloud, client, kafka, folder, "consume")))
        world.replace_password("the first one")
        bucket = f"{world.name}-rejected"
        client("s3").create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        consumer = build_consumer(
            cloud, client, folder / "zips/consumer-lambda.zip", world.name, _CONSUMER_SECONDS
        )
        producer = _deploy_producer(client, world, folder / "zips/producer-lambda.zip", bucket)
        mapping = stack.enter_context(
            mapped(
                consumer.at_home,
                consumer.function,
                Topic(kafka.cluster, TOPIC),
                MaximumBatchingWindowInSeconds=1,
            )
        )
        _prepare_job(client, world)
        if schedule.base:
            world.sources = copy_sources(schedule.base)
        job = SupervisedJob(lambda: world.launch(world.words))
        stack.enter_context(job.running())
        servers = kafka.cluster.bootstrap_servers("PLAINTEXT")
        yield Platform(
            cloud=cloud,
            client=client,
            world=world,
            consumer=consumer,
            producer=producer,
            bucket=bucket,
            job=job,
            brokers=Lock(),
            clock=Lock(),
            links=links,
            mapping=mapping,
            offsets=Offsets(servers, TOPIC, mapping, job.tell),
            replays=Replays(world, job) if "replay" in schedule.programs else None,
            others={
                name: stack.enter_context(run(world, cloud, client, folder, schedule.seed))
                for name, run in _OTHERS.items()
                if name in schedule.programs
            },
        )


def _create_topic(cluster: Any) -> None:
    with closing(cluster.open_admin()) as admin:
        admin.create_topics([NewTopic(TOPIC, _PARTITIONS, _REPLICAS)])


def _deploy_producer(client: Callable[..., Any], world: World, path: Path, bucket: str) -> str:
    role = make_role(client)
    for action in _RIGHTS:
        allow(client, role, action)
    given = world.arguments
    variables = {
        "KAFKA_BOOTSTRAP_SERVERS": given["--bootstrap-servers"],
        "KAFKA_SECURITY": given["--security"],
        "KAFKA_SECRET_ARN": given["--secret-arn"],
        "KAFKA_CA_FILE": given["--ca-file"],
        "PENSTOCK_REGISTRY": given["--registry"],
        "PENSTOCK_REJECTED_BUCKET": bucket,
        "PENSTOCK_TOPIC": TOPIC,
        "PENSTOCK_VERSION_BUDGET": "1000",
    }
    return deploy(
        client,
        **package(path) | {"Timeout": _PRODUCER_SECONDS},
        Role=role,
        Environment={"Variables": variables},
    )


def _prepare_job(client: Callable[..., Any], world: World) -> None:
    """Make the tables that the job writes, but for the lake's, and say so in its arguments."""
    newest, database = f"{world.name}-newest", _database(world.name)
    make_table(client("dynamodb"), newest, "deviceId")
    place = {"Name": database, "LocationUri": f"s3://{world.name}/tables/"}
    client("glue").create_database(DatabaseInput=place)
    world.arguments |= {
        "--topics": TOPIC,
        "--trigger": "2 seconds",
        "--max-offsets-per-trigger": "1000",
        "--lake-table": f"{database}.readings",
        "--dynamodb-table": newest,
        "--mode": "upsert",
        "--sort-name": "none",
        "--lease-seconds": "15",
        "--heartbeat-seconds": "3",
    }


def _database(name: str) -> str:
    return name.replace("-", "_")
