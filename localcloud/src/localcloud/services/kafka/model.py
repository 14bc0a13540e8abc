"""The state of MSK in an account and region: clusters, configurations, VPC connections."""

from __future__ import annotations

import random
import re
import string
import threading
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.door.pages import Pages

if TYPE_CHECKING:
    from localcloud.cloud import Cloud
    from localcloud.services.kafka.brokers import RunningBrokers

_ARN = re.compile(r"arn:aws:kafka:([a-z0-9-]+):(\d{12}):([a-z-]+)/.+")
PAGES = Pages(
    "NextToken", "MaxResults", 100, "BadRequestException", "The {name} {token!r} is unknown"
)


def new_version() -> str:
    """Return a new version in MSK's form, like K2EUQ1WTGCTBG2; every change makes one."""
    return "K" + _pick(string.ascii_uppercase + string.digits, 13)


def _pick(alphabet: str, count: int) -> str:
    return "".join(random.choices(alphabet, k=count))  # noqa: S311 - no secret


@dataclass(frozen=True, slots=True)
class BrokerNode:
    """A broker in its VPC: `address` belongs to a network interface in its subnet."""

    broker_id: int
    name: str
    arn: str
    subnet_id: str
    interface_id: str
    address: str
    added_at: datetime


@dataclass(slots=True)
class ClusterOperation:
    """A change of a cluster: before, after, and its state."""

    arn: str
    kind: str
    source: dict[str, Any]
    target: dict[str, Any]
    started_at: datetime
    state: str = "UPDATE_IN_PROGRESS"
    error: str = ""
    ended_at: datetime | None = None


@dataclass(slots=True)
class Cluster:
    """One cluster; `settings` are what DescribeClusterV2 shows as Provisioned.

    `secrets` maps the ARNs of associated secrets to their users. A serverless cluster has
    `vpc_configs`, and settings that only localcloud sees.
    """

    arn: str
    zone: str
    vpc_id: str
    settings: dict[str, Any]
    tags: dict[str, str]
    properties: dict[str, str]
    created_at: datetime
    state: str = "CREATING"
    reason: str = ""
    start_seconds: float = 0.0
    version: str = field(default_factory=new_version)
    nodes: list[BrokerNode] = field(default_factory=list)
    operations: list[ClusterOperation] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    vpc_configs: list[dict[str, Any]] = field(default_factory=list)
    policy: str = ""
    policy_version: str = ""
    brokers: RunningBrokers | None = None
    worker: threading.Thread | None = None
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def name(self) -> str:
        """The name it was created with."""
        return self.arn.split("/")[1]

    @property
    def uuid(self) -> str:
        """The last part of the ARN, which distinguishes clusters of the same name."""
        return self.arn.split("/")[2]

    @property
    def region(self) -> str:
        """The region it runs in."""
        return self.arn.split(":")[3]

    @property
    def account(self) -> str:
        """The account that owns it."""
        return self.arn.split(":")[4]

    @property
    def security_groups(self) -> list[str]:
        """The security groups of its brokers."""
        groups: list[str] = self.settings["BrokerNodeGroupInfo"]["SecurityGroups"]
        return groups

    @property
    def serverless(self) -> bool:
        """True for a serverless cluster, false for a provisioned one."""
        return bool(self.vpc_configs)

    @property
    def bootstrap_name(self) -> str:
        """The name of all brokers of a serverless cluster, empty in others."""
        return f"boot-{self.zone}" if self.serverless else ""

    def node(self, broker_id: int) -> BrokerNode:
        """Return a broker by its id; raise LookupError with the existing ids."""
        for node in self.nodes:
            if node.broker_id == broker_id:
                return node
        known = ", ".join(str(node.broker_id) for node in self.nodes)
        raise LookupError(f"{self.name} has no broker {broker_id}; there are {known}")


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a configuration."""

    number: int
    description: str
    properties: bytes
    created_at: datetime


@dataclass(slots=True)
class Configuration:
    """A named set of server properties, in revisions."""

    arn: str
    name: str
    description: str
    kafka_versions: list[str]
    revisions: list[Revision]


@dataclass(slots=True)
class VpcConnection:
    """An account's request to reach a cluster from its own VPC."""

    arn: str
    cluster_arn: str
    authentication: str
    vpc_id: str
    subnets: list[str]
    security_groups: list[str]
    tags: dict[str, str]
    created_at: datetime
    state: str = "AVAILABLE"

    @property
    def login(self) -> str:
        """The way to log in, as listeners are called: IAM, SCRAM or TLS."""
        return self.authentication.removeprefix("SASL_")


class Kafka:
    """MSK in one account and region, everything by its ARN."""

    def __init__(self) -> None:
        self.clusters: dict[str, Cluster] = {}
        self.configurations: dict[str, Configuration] = {}
        self.vpc_connections: dict[str, VpcConnection] = {}
        self.lock = threading.RLock()


def own_state(call: Call) -> Kafka:
    """Return the state of the caller's account in the region of the call."""
    return call.cloud.state(Kafka, call.account, call.region)


def state_of(cloud: Cloud, arn: str, kind: str) -> Kafka:
    """Return the state of the account and region that an ARN names.

    Raises:
        AwsError: the ARN is not of that kind.
    """
    match = _ARN.fullmatch(arn)
    if match is None or match[3] != kind:
        raise bad_request(f"The parameter is not valid: {arn!r} is not the ARN of a {kind}")
    return cloud.state(Kafka, match[2], match[1])


def all_clusters(cloud: Cloud) -> list[Cluster]:
    """List every cluster of every account and region."""
    return [
        cluster for _, _, kafka in cloud.states(Kafka) for cluster in list(kafka.clusters.values())
    ]


def bad_request(message: str) -> AwsError:
    """Return the error of a request that MSK does not accept."""
    return AwsError("BadRequestException", message)


def not_found(what: str) -> AwsError:
    """Return the error of an ARN that does not exist."""
    return AwsError("NotFoundException", f"The requested resource doesn't exist: {what}")


def new_identity() -> tuple[str, str]:
    """Return the end of an ARN and the label in the brokers' names, with the same number."""
    number = random.randrange(1, 26)  # noqa: S311 - no secret
    return (
        f"{uuid.uuid4()}-{number}",
        f"{_pick(string.ascii_lowercase + string.digits, 6)}.c{number}",
    )


def now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)
