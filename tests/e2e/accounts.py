"""Both roots of infra/, applied on one localcloud, and what tests do with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from localcloud.cloud import Cloud
from localcloud.network import find_source, load_network, resolve_names
from localcloud.services.kafka import ClusterDirectory, RunningCluster
from tests.fixtures.functions import ARCHITECTURE, RUNTIME, invoke
from tests.fixtures.terraform import Terraform
from tests.localcloud.kafka.running import Running, produce
from tools.write_contract import choose_contract, read_contracts

# No other test uses these.
PRODUCER, CONSUMER, OTHER = "444444444444", "555555555555", "666666666666"
REGION = "eu-central-1"
_INFRA = Path(__file__).parents[2] / "infra"
_CLIENT = Path(__file__).with_name("plain_client.py")
_ZONES = ["euc1-az1", "euc1-az2"]
_NOTHING_IS_KEPT = {
    "force_destroy": True,
    "key_deletion_days": 7,
    "log_days": 7,
    "secret_recovery_days": 0,
}


@dataclass
class Root:
    """A root with the variables that it was last applied with."""

    terraform: Terraform
    account: str
    variables: dict[str, Any]

    def apply(self, **changes: Any) -> None:
        """Apply, with changes to the variables that stay."""
        self.variables |= changes
        self.terraform.apply(**self.variables)

    def plan(self, **changes: Any) -> dict[str, Any]:
        """Plan with changes that do not stay."""
        return self.terraform.plan(**self.variables | changes)

    def has_changes(self) -> bool:
        """Whether there is something left to do."""
        return self.terraform.has_changes(**self.variables)

    def destroy(self) -> None:
        """Delete all of it."""
        self.terraform.destroy(**self.variables)

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs' values."""
        return self.terraform.outputs()


@dataclass
class Accounts:
    """The producer's account and those of its consumers."""

    cloud: Cloud
    client: Callable[..., Any]
    folder: Path
    packages: Path
    owner: str = PRODUCER
    producer: Root = field(init=False)
    consumers: dict[str, Root] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the producer's root."""
        network = {"cidr": "10.0.0.0/16", "zone_ids": _ZONES}
        self.producer = self._root(
            "producer",
            PRODUCER,
            region=REGION,
            network=network,
            consumers=[],
            topics={"sensor": {}},
        )
        self.producer.variables["cluster"] = {"broker_count": 2, "volume_gib": 10}

    def apply_consumer(self, name: str, account: str, **changes: Any) -> Root:
        """Hand a consumer its contract and apply its root."""
        if name not in self.consumers:
            network = {"cidr": "10.1.0.0/16", "zone_ids": _ZONES}
            self.consumers[name] = self._root("consumer", account, name, network=network)
            self.consumers[name].variables["retention"] |= {"deletion_protection": False}
        root = self.consumers[name]
        self.hand_over(name)
        root.apply(**changes)
        return root

    def apply_consumers(self, accounts: dict[str, str]) -> None:
        """Hand over and apply several at once, each in a thread: most of it is waiting."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.apply_consumer, accounts, accounts.values()))

    def destroy_consumers(self) -> None:
        """Destroy all at once."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(Root.destroy, self.consumers.values()))

    def hand_over(self, name: str) -> None:
        """Do what `make contract` does."""
        contract = choose_contract(read_contracts(self.producer.terraform.folder), name)
        path = self.consumers[name].terraform.folder / "contract.auto.tfvars.json"
        path.write_text(json.dumps({"contract": contract}))

    def produce(self, event: Any) -> dict[str, Any]:
        """Give the producer function an event; its answer."""
        name = self.producer.outputs["functions"]["producer"]
        client = partial(self.client, account=self.owner)
        answer, error = invoke(client, name, event)
        assert error is None, answer
        return answer

    def write(self, topic: str, value: bytes) -> None:
        """Write a record as whoever deploys may: past every function and every list."""
        role = f"arn:aws:iam::{self.owner}:role/deploy"
        sts = self.client("sts", self.owner)
        keys = sts.assume_role(RoleArn=role, RoleSessionName="operator")["Credentials"]
        cluster = self._cluster()
        running = Running(self.cloud, cluster.arn, self.client)
        running.learn_names()
        with resolve_names(running.names):
            produce(running.iam(keys), topic, value)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Read a consumer's table of readings, in DynamoDB's own notation."""
        root = self.consumers[name]
        client = self.client("dynamodb", root.account)
        return client.scan(TableName=root.outputs["readings_table"])["Items"]

    def read(self, name: str, topic: str, count: int, seconds: float = 20) -> list[dict[str, Any]]:
        """Read a topic by a plain Kafka client in a consumer's VPC, from the beginning."""
        done = self._run_client(name, topic, count, seconds)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def read_in_vain(self, name: str, topic: str) -> str:
        """Fail to read a topic; what the client says."""
        done = self._run_client(name, topic, 1, seconds=3)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def _cluster(self) -> RunningCluster:
        clusters = ClusterDirectory(self.cloud).clusters()
        return next(it for it in clusters if it.account == self.owner)

    def _run_client(
        self, name: str, topic: str, count: int, seconds: float
    ) -> subprocess.CompletedProcess[str]:
        root = self.consumers[name]
        contract = self.producer.outputs["contracts"][name]
        shown = self.client("lambda", root.account).get_function_configuration(
            FunctionName=root.outputs["function"]
        )
        place = shown["VpcConfig"]
        source = find_source(place["SubnetIds"], place["SecurityGroupIds"])
        secret = json.loads(self.password_of(root))
        brokers = contract["brokers"].values()
        environment = {
            "PATH": os.defpath,
            **load_network(self.cloud).environment_for(source),
            "BOOTSTRAP_SERVERS": ",".join(f"{it['host']}:{it['port']}" for it in brokers),
            "CA_FILE": str(self._cluster().ca_file),
            "COUNT": str(count),
            "GROUP": f"{contract['group_prefix']}plain",
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
        """Read a consumer's own copy of its password."""
        client = self.client("secretsmanager", root.account)
        return client.get_secret_value(SecretId=root.outputs["secret_arn"])["SecretString"]

    def _root(self, kind: str, account: str, name: str = "", **variables: Any) -> Root:
        folder = self.folder / (name or kind)
        folder.mkdir()
        terraform = Terraform(_INFRA / kind, folder, self.cloud.endpoint, account)
        functions = {
            "architecture": ARCHITECTURE,
            "packages": str(self.packages),
            "python_version": RUNTIME.removeprefix("python"),
        }
        common = {
            "account_id": account,
            "deploy_role_arn": f"arn:aws:iam::{account}:role/deploy",
            "functions": functions,
            "retention": dict(_NOTHING_IS_KEPT),
        }
        return Root(terraform, account, common | variables)


def changed(plan: dict[str, Any], kind: str) -> list[tuple[str, ...]]:
    """List what a plan would do to the resources of one type."""
    return [
        tuple(change["change"]["actions"])
        for change in plan["resource_changes"]
        if change["type"] == kind and change["change"]["actions"] != ["no-op"]
    ]
