"""The story: six processes write to each other, brokers are killed, passwords are rotated."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from demo.accounts import Account, add_topics
from demo.screen import StepFailedError, Steps, print_table
from demo.services.messages import Messages
from demo.services.processes import REPLICAS, TOPICS, Processes

NAME = "services"
_FEW, _MESSAGES = 100, 10_000


@dataclass(frozen=True, slots=True)
class ServicesStory:
    """The producer's account after its apply, and that of the services, prepared."""

    producer: Account
    services: Account

    def tell(self, steps: Steps) -> Messages:
        """Let the services write to each other, disturb them, and count their messages.

        Raises:
            StepFailedError: something is wrong, and where.
        """
        with steps.step("terraform apply: a consumer with two programs"):
            self._apply(rotation=1)
        clients = self.services.outputs()["clients"]
        processes = Processes(self.services.local, self.services.local.folder / NAME, clients)
        with steps.step("build the service in Go"):
            processes.build()
        with processes.running():
            with steps.step("start three processes of each service"):
                processes.await_received(_FEW)
            logins = self._disturb(steps, processes)
            with steps.step(f"go on until {_MESSAGES:,} messages were received"):
                processes.await_received(_MESSAGES)
        print_table(logins, list(logins[0]))
        with steps.step("read what is left, by one more process of each"):
            processes.read_rest()
        messages = processes.count()
        print_table(list(messages.describe()), ["host", "written", "received", "twice"])
        lost, twice = len(messages.find_lost()), messages.count_duplicates()
        print(f"      lost {lost:,}, received again {twice:,}")
        with steps.step("let service-a use what is not its own"):
            sentences = self._refuse(processes)
        for sentence in sentences:
            print(f"      {sentence}")
        return messages

    def _disturb(self, steps: Steps, processes: Processes) -> list[dict[str, object]]:
        """Kill brokers and rotate the passwords; return the users of both services.

        Raises:
            StepFailedError: a user is the one of before, or a process has not logged in again.
        """
        with steps.step("kill broker 1, and start it again"):
            self._kill_broker(processes, 1)
        before = self._read_users()
        with steps.step("rotate both passwords by Terraform"):
            self._apply(rotation=2)
        after, known = self._read_users(), self._count_logins()
        with steps.step("kill broker 2, so that they log in again"):
            self._kill_broker(processes, 2)
        logins = self._count_logins() - known
        for name, user in after.items():
            if user == before[name] or logins[name] < REPLICAS:
                why = (
                    f"{logins[name]} logins as {user} after the rotation, before as {before[name]}"
                )
                raise StepFailedError(name, why)
        return [
            {"service": name, "user": before[name], "then": user, "logins": logins[name]}
            for name, user in after.items()
        ]

    def _apply(self, rotation: int) -> None:
        """Apply both roots, in the order of a rotation."""
        topics = [written for written, _ in TOPICS.values()]
        consumer = {
            "name": NAME,
            "account_id": self.services.id,
            "topics": topics,
            "writes": topics,
            "programs": {
                name: {"topics": [read], "writes": [written], "group_prefix": f"{NAME}-{name}-"}
                for name, (written, read) in TOPICS.items()
            },
            "rotation": rotation,
        }
        known = self.producer.variables
        self.producer.apply(
            consumers=[*(it for it in known.get("consumers", []) if it["name"] != NAME), consumer],
            topics=add_topics(known, topics),
        )
        self.services.take_contract(self.producer, NAME)
        self.services.apply()

    def _kill_broker(self, processes: Processes, number: int) -> None:
        """Kill a broker, and start it again after messages of all processes came without it."""
        broker = {"cluster": self._cluster(), "broker": number}
        self.producer.local.ask("kill-broker", **broker)
        processes.await_more()
        self.producer.local.ask("restart-broker", **broker)

    def _cluster(self) -> str:
        return str(self.producer.outputs()["contracts"][NAME]["cluster"]["arn"])

    def _read_users(self) -> dict[str, str]:
        """Return the Kafka user of each service."""
        secrets = self.services.client("secretsmanager")
        clients = self.services.outputs()["clients"]
        texts = {
            name: secrets.get_secret_value(SecretId=client["secret_arn"])["SecretString"]
            for name, client in clients.items()
        }
        return {name: json.loads(text)["username"] for name, text in texts.items()}

    def _count_logins(self) -> Counter[str]:
        """Count how often each service has read its secret: once for a login."""
        calls = map(json.loads, self.services.local.read_log("calls"))
        principals = [it["principal"] for it in calls if it["operation"] == "GetSecretValue"]
        return Counter(
            {name: sum(f"-client-{name}/" in each for each in principals) for name in TOPICS}
        )

    def _refuse(self, processes: Processes) -> list[str]:
        """Let service-a read and write as service-b does, and join its group."""
        written, read = TOPICS["service-a"]
        group = self.services.outputs()["clients"]["service-b"]["group_prefix"]
        forbidden = ({"TOPIC2": written}, {"TOPIC1": read}, {"GROUP": f"{group}1"})
        return [
            processes.refuse("service-a", in_go=in_go, **changes)
            for changes in forbidden
            for in_go in (False, True)
        ]


def make_services(producer: Account, folder: Path, zips: Path) -> Account:
    """Prepare the root of a consumer without functions and jobs, with a host for each service."""
    account = Account("consumer", "222222222222", producer.local, folder)
    account.prepare(
        zips,
        clients={name: {"host": {}} for name in TOPICS},
        consumer_functions={},
        deploy_role_arn=f"arn:aws:iam::{account.id}:role/deploy",
        jobs={},
        spark=None,
    )
    return account
