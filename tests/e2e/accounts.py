"""Both roots of infra/, applied on one localcloud, and what tests do with them."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

import boto3

from demo.accounts import REGION, Account, Local
from demo.rows import read_rows
from demo.story import Story
from localcloud.cloud import Cloud
from localcloud.command.instance import note_instance
from localcloud.identity.credentials import credentials_for_role
from localcloud.network import find_source, load_network, resolve_names
from localcloud.services.kafka.directory import ClusterDirectory, RunningCluster
from localcloud.testing import invoke, wait_until
from penstock.errors import BrokerLoginError, BrokerUnavailableError
from penstock.kafka import KafkaSettings, open_producer
from penstock.kafka.probe import check_access
from systems.sessions import make_session
from tests.e2e.jobs import stop_application
from tests.fixtures.terraform import read_errors

# No other test uses these.
PRODUCER, CONSUMER = "444444444444", "555555555555"
# The roles that apply the roots, those that look what is broken, the one that submits jobs, and one
# that may write every topic.
PRODUCER_DEPLOYER = f"arn:aws:iam::{PRODUCER}:role/deploy"
DEPLOYERS = {
    "analytics": f"arn:aws:iam::{CONSUMER}:role/deploy",
    "billing": f"arn:aws:iam::{PRODUCER}:role/deploy-billing",
}
DOCTORS = {account: f"arn:aws:iam::{account}:role/doctor" for account in (PRODUCER, CONSUMER)}
OPERATOR = f"arn:aws:iam::{CONSUMER}:role/operator"
WRITER = f"arn:aws:iam::{PRODUCER}:role/writer"
_CLIENT = Path(__file__).with_name("plain_client.py")
_ZONES = ["euc1-az1", "euc1-az2"]
# The call of an extension of both roots.
DASHBOARD = """
module "dashboard" {
  source   = "../extensions/dashboard"
  platform = local.platform
}
"""
NETWORK = {"cidr": "10.1.0.0/16", "zone_ids": _ZONES}  # of a consumer
_NO_CHANGES, _CHANGES = 0, 2
_AS_KNOWN = "-refresh=false"


# How many resources of a type were created, updated, replaced or deleted.
Changes: TypeAlias = Counter[tuple[str, str]]


class Root(Account):
    """The demo's account, and what only a test asks of it."""

    __slots__ = ()

    def apply(self, *, refresh: bool = True, **changes: Any) -> Changes:
        """Make what its root declares, with changes to the variables that stay.

        To `refresh` is half of the work, and finds what others have changed since the last apply.
        """
        self._keep(self.variables | changes)
        words = ["apply", "-auto-approve", "-input=false", "-json"]
        said = self.run(*words, *([] if refresh else [_AS_KNOWN])).stdout
        told = map(json.loads, said.splitlines())
        planned = [one["change"] for one in told if one["type"] == "planned_change"]
        return Counter(
            (one["resource"]["resource_type"], one["action"])
            for one in planned
            if one["action"] != "read"
        )

    def client(self, service: str) -> Any:
        """Open a boto3 client of the account; whoever runs jobs does it as the operator."""
        if service != "emr-serverless":
            return Account.client(self, service)
        keys = {name.lower(): key for name, key in self.operator_keys().items()}
        return boto3.client(service, endpoint_url=self.local.endpoint, region_name=REGION, **keys)

    def operator_keys(self) -> dict[str, str]:
        """Return the keys of whoever runs jobs, as environment variables."""
        sts = Account.client(self, "sts")
        taken = sts.assume_role(RoleArn=OPERATOR, RoleSessionName="operator")["Credentials"]
        return {
            "AWS_ACCESS_KEY_ID": taken["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": taken["SecretAccessKey"],
            "AWS_SESSION_TOKEN": taken["SessionToken"],
        }

    def try_plan(self, **changes: Any) -> list[str]:
        """Plan with changes that do not stay; the errors."""
        words = ("plan", "-input=false", "-json", _AS_KNOWN, *_words(changes))
        return [error.text for error in read_errors(self.run(*words, fine=(0, 1)).stdout)]

    def has_changes(self, *, refresh: bool = True) -> bool:
        """Whether there is something left to do."""
        words = ["plan", "-input=false", "-detailed-exitcode", "-out=plan"]
        words += [] if refresh else [_AS_KNOWN]
        return self.run(*words, fine=(_NO_CHANGES, _CHANGES)).returncode == _CHANGES

    def destroy(self) -> None:
        """Delete all of it, as the last plan found it."""
        self.run("destroy", "-auto-approve", "-input=false", _AS_KNOWN)

    def run(self, *words: str, fine: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        """Run Terraform, and keep what it says beside the copy of infra/."""
        done = super().run(*words, fine=fine)
        with (self.infra / "said").open("a") as said:
            said.write(done.stdout + done.stderr)
        return done


@dataclass
class Accounts:
    """The producer's account and those of its consumers."""

    cloud: Cloud
    client: Callable[..., Any]
    folder: Path
    packages: Path
    producer: Root = field(init=False)
    consumers: dict[str, Root] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the producer's root."""
        note_instance(self.cloud.folder, self.cloud.endpoint)  # the demo looks there
        self.producer = self._root("producer", PRODUCER)
        cluster = {"broker_count": 2, "volume_gib": 10}
        self.producer.prepare(
            self.packages,
            cluster=cluster,
            deploy_role_arn=PRODUCER_DEPLOYER,
            network={"cidr": "10.0.0.0/16", "zone_ids": _ZONES},
            region=REGION,
            test_events={"create_registry": True, "events": {"EmptyTestEvent": "{}"}},
            topics={"sensor": {}},
        )
        self.producer.extend(DASHBOARD)

    def add_consumer(self, name: str, account: str, **settings: Any) -> Root:
        """Prepare a consumer's root, with its contract."""
        root = self.consumers[name] = self._root("consumer", account, name)
        given = {"deploy_role_arn": DEPLOYERS[name], "network": NETWORK}
        root.prepare(self.packages, **given | {"spark": None} | settings)
        self.hand_over(name)
        return root

    def list_unfinished(self, as_known: tuple[str, ...] = ()) -> list[str]:
        """Name the accounts where Terraform has something left to do, planned all at once.

        Consumers in `as_known` are compared with their state alone.
        """
        roots = [self.producer, *self.consumers.values()]
        known = [self.consumers[name] for name in as_known]
        changes = at_once(*(partial(root.has_changes, refresh=root not in known) for root in roots))
        return [root.where for root, changed in zip(roots, changes, strict=True) if changed]

    def destroy(self) -> None:
        """Destroy the consumers, and the producer as soon as none is connected to it.

        An application that a job has started must be stopped before.
        """
        for root in self.consumers.values():
            # An output that is null is missing.
            if application := root.outputs().get("spark_application"):
                stop_application(root.client("emr-serverless"), application)
        with ThreadPoolExecutor() as pool:
            ends = [pool.submit(root.destroy) for root in self.consumers.values()]
            wait_until(
                "no consumer is connected",
                lambda: all(end.done() for end in ends) or not self._list_connections(),
                900,
            )
            self.producer.destroy()
            for end in ends:
                end.result()

    def hand_over(self, name: str) -> None:
        """Do what `make contract` does."""
        self.consumers[name].take_contract(self.producer, name)

    def make_story(self, name: str, **settings: Any) -> Story:
        """The demo's story, with one of the consumers, on a machine that has much else to do."""
        consumer = self.consumers[name]
        settings = {"row_seconds": 240, "job_seconds": 900} | settings
        return Story(
            self.producer, consumer, self.producer.outputs(), consumer.outputs(), **settings
        )

    def produce(self, event: Any, producer: str = "producer") -> dict[str, Any]:
        """Invoke a producer function with an event, and return its answer."""
        client = partial(self.client, account=PRODUCER)
        answer, error = invoke(client, f"penstock-{producer}", event)
        assert error is None, answer
        return answer

    def refuse(self, event: Any, producer: str = "producer") -> str:
        """Invoke a producer function with an event that it must reject; what it says."""
        client = partial(self.client, account=PRODUCER)
        answer, error = invoke(client, f"penstock-{producer}", event)
        assert error is not None, answer
        return str(answer["errorMessage"])

    def write(self, topic: str, value: bytes, role: str = "") -> None:
        """Write a record without a function, as a role or as the one that may write every topic."""
        key = credentials_for_role(self.cloud, role or WRITER, "probe")
        session = make_session(key.access_key, key.secret_key, key.session_token)
        cluster = self._cluster()
        settings = KafkaSettings(
            tuple(_servers(cluster, "IAM")), ca_file=str(cluster.ca_file), region=REGION
        )
        with (
            patch("penstock.kafka._aws.load_session", lambda **_: session),
            resolve_names(_names(cluster)),
            open_producer(settings) as producer,
        ):
            producer.send(topic, value)

    def rows(self, name: str, function: str = "consumer") -> dict[str, dict[str, Any]]:
        """Read the table of a consumer's function, by the records that the rows come from."""
        root = self.consumers[name]
        return read_rows(root, root.outputs()["functions"][function]["table"])

    def await_row(
        self, name: str, answer: dict[str, Any], function: str = "consumer"
    ) -> dict[str, Any]:
        """Wait for the row of an event that the producer function has answered."""
        source = "{topic}/{partition}/{offset}".format(**answer)
        return wait_until("the row is written", lambda: self.rows(name, function).get(source))

    def read(self, name: str, topic: str, count: int, only: str = "") -> list[dict[str, Any]]:
        """Read a topic by a plain Kafka client in a consumer's VPC, from the beginning.

        `only` is the partition and the offset of the one record that is wanted.
        """
        done = self._run_client(name, topic, count, seconds=180, only=only)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def read_in_vain(self, name: str, topic: str) -> str:
        """Fail to read a topic; what the client says."""
        done = self._run_client(name, topic, 1, seconds=3)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def log_in_during(
        self, name: str, call: Callable[[], Changes]
    ) -> tuple[Changes, set[bool | None]]:
        """Make a call, and log in with a consumer's own copy of a password until it ends.

        The second value says what came of the attempts: see `_is_admitted`.
        """
        root = self.consumers[name]
        arn = self.login_of(root)
        admitted: set[bool | None] = set()
        with ThreadPoolExecutor(max_workers=1) as pool:
            running = pool.submit(call)
            while not running.done():
                admitted.add(self._is_admitted(self._read_login(root, arn)))
                time.sleep(1)  # a login is work for the brokers too
        return running.result(), admitted

    def _is_admitted(self, login: dict[str, str]) -> bool | None:
        """Return whether the brokers admit a user, or None if no broker answers."""
        cluster = self._cluster()
        options = {
            "bootstrap_servers": _servers(cluster, "SCRAM"),
            "client_id": "probe",
            "security_protocol": "SASL_SSL",
            "ssl_context": ssl.create_default_context(cafile=cluster.ca_file),
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_plain_username": login["username"],
            "sasl_plain_password": login["password"],
        }
        with resolve_names(_names(cluster)):
            try:
                check_access(options)
            except BrokerLoginError:
                return False
            except BrokerUnavailableError:
                return None
        return True

    def _list_connections(self) -> list[Any]:
        """List the endpoints that keep a service of the producer from being deleted."""
        ec2 = self.client("ec2", PRODUCER)
        active = {"Name": "vpc-endpoint-state", "Values": ["available", "pendingAcceptance"]}
        return ec2.describe_vpc_endpoint_connections(Filters=[active])["VpcEndpointConnections"]

    def _cluster(self) -> RunningCluster:
        clusters = ClusterDirectory(self.cloud).clusters()
        return next(it for it in clusters if it.account == PRODUCER)

    def _run_client(
        self, name: str, topic: str, count: int, seconds: float, only: str = ""
    ) -> subprocess.CompletedProcess[str]:
        root = self.consumers[name]
        contract = self.producer.outputs()["contracts"][name]
        shown = self.client("lambda", root.id).get_function_configuration(
            FunctionName=root.outputs()["functions"]["consumer"]["name"]
        )
        place = shown["VpcConfig"]
        source = find_source(place["SubnetIds"], place["SecurityGroupIds"])
        secret = self._read_login(root, self.login_of(root))
        brokers = contract["brokers"].values()
        environment = {
            "PATH": os.defpath,
            **load_network(self.cloud).environment_for(source),
            "BOOTSTRAP_SERVERS": ",".join(f"{it['host']}:{it['port']}" for it in brokers),
            "CA_FILE": str(self._cluster().ca_file),
            "COUNT": str(count),
            "GROUP": f"{contract['programs']['clients']['group_prefix']}plain",
            "ONLY": only,
            "PASSWORD": secret["password"],
            "SECONDS": str(seconds),
            "TOPIC": topic,
            "USERNAME": secret["username"],
        }
        return subprocess.run(
            [sys.executable, str(_CLIENT)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def password_of(self, root: Root) -> str:
        """Read a consumer's own copy of the login of its clients."""
        return json.dumps(self._read_login(root, self.login_of(root)))

    def login_of(self, root: Root) -> str:
        """Return the secret of a consumer's clients."""
        (profile,) = root.outputs()["profiles"].values()
        return str(profile["KAFKA_SECRET_ARN"])

    def _read_login(self, root: Root, arn: str) -> Any:
        secrets = self.client("secretsmanager", root.id)
        return json.loads(secrets.get_secret_value(SecretId=arn)["SecretString"])

    def _root(self, kind: str, account: str, name: str = "") -> Root:
        local = Local(self.cloud.folder)
        return Root(kind, account, local, self.folder / (name or kind) / "infra")


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make calls that mostly wait, each in a thread; their answers, or the first error."""
    with ThreadPoolExecutor() as pool:
        return [running.result() for running in [pool.submit(call) for call in calls]]


def without_creations(changes: Changes) -> Changes:
    """Return the changes of what was there before."""
    return Counter({one: count for one, count in changes.items() if one[1] != "create"})


def _names(cluster: RunningCluster) -> dict[str, str]:
    """Return the loopback addresses of the brokers by their names."""
    return {node.name: node.loopback_address for node in cluster.nodes}


def _servers(cluster: RunningCluster, listener: str) -> list[str]:
    return [f"{node.name}:{cluster.ports[listener]}" for node in cluster.nodes]


def _words(changes: dict[str, Any]) -> list[str]:
    values = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in changes.items()
    }
    return [f"-var={name}={value}" for name, value in values.items()]
