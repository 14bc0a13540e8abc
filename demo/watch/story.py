"""The story: Prometheus in the VPC scrapes the brokers, and its queries answer."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.accounts import MACHINE, ROOT, Account, add_topics
from demo.places import Program, running
from demo.profiles import SHELL
from demo.screen import StepFailedError, Steps, print_table
from demo.watch.picture import draw_lines
from demo.watch.prometheus import Prometheus, dashboard_queries
from localcloud.testing import wait_until

TOPICS = ("foo-topic", "bar-topic")
# As a blog on MSK has it (https://programmaticponderings.com/tag/amazon-msk/).
QUERY = (
    'rate(kafka_server_BrokerTopicMetrics_Count{topic=~"foo-topic|bar-topic", '
    'name=~"BytesInPerSec|BytesOutPerSec"}[5m])'
)
# The picture has shorter steps than 5 minutes, so that its waves are seen.
_SHOWN = QUERY.replace("5m", "10s")
_NAME = "penstock-prometheus"
_TAGS = [{"Key": "Name", "Value": _NAME}]
_TRAFFIC_SECONDS = 75
_PATIENCE_SECONDS = 120
# A lag that does not shrink has no time to catch up.
_MAY_BE_EMPTY = {"Time to catch up"}


@dataclass(frozen=True, slots=True)
class WatchStory:
    """The producer's account after its apply, and the path of Prometheus."""

    account: Account
    prometheus: str

    def tell(self, steps: Steps) -> None:
        """Scrape, query and draw.

        Raises:
            StepFailedError: something is wrong, and where.
        """
        with steps.step("a security group and an instance for Prometheus"):
            group = self._make_instance()
        with steps.step("terraform apply: its group among the scrapers, two topics"):
            self._apply(group)
        prometheus = Prometheus(
            self.prometheus, self.account.local.folder / "prometheus", _free_port()
        )
        lag = f"127.0.0.1:{_free_port()}"
        prometheus.write_files(self._brokers(), lag)
        shell = f"penstock-client-{SHELL}"
        penstock, began = str(Path(sys.executable).with_name("penstock")), time.time()
        traffic = [sys.executable, "-m", "demo.watch.traffic", str(_TRAFFIC_SECONDS), *TOPICS]
        with (
            self._run(_NAME, prometheus.command(), "prometheus", hosts=True),
            self._run(shell, [penstock, "lag", "--listen", lag], "lag"),
            self._run(shell, traffic, "traffic") as writing,
        ):
            with steps.step(f"write and read {' and '.join(TOPICS)}, scraped each 2 seconds"):
                if writing.wait(_PATIENCE_SECONDS):
                    raise StepFailedError(MACHINE, "the traffic ended", self._read_log("traffic"))
            with steps.step("ask Prometheus"):
                found = self._await_rates(prometheus)
            print(f"      {QUERY}")
            print_table(list(_describe(found)), ["name", "topic", "instance", "bytes a second"])
            with steps.step("run each query of the dashboard of Grafana"):
                counts = list(self._check_dashboard(prometheus))
            print_table(counts, ["panel", "series"])
            picture = self.account.local.folder / "prometheus" / "rates.svg"
            shown = prometheus.query_range(_SHOWN, began, time.time())
            picture.write_text(draw_lines("Rates of two topics, over 10 seconds", _sum(shown)))
        print(f"      {picture.relative_to(ROOT)} has both rates of both topics")

    def _make_instance(self) -> str:
        """Return the security group of the instance that Prometheus has the place of."""
        ec2 = self.account.client("ec2")
        name = [{"Name": "tag:Name", "Values": [_NAME]}]
        if found := ec2.describe_security_groups(Filters=name)["SecurityGroups"]:
            return str(found[0]["GroupId"])
        brokers = [{"Name": "group-name", "Values": ["penstock-brokers"]}]
        vpc = ec2.describe_security_groups(Filters=brokers)["SecurityGroups"][0]["VpcId"]
        of_vpc = [{"Name": "vpc-id", "Values": [vpc]}]
        group = ec2.create_security_group(
            GroupName=_NAME,
            Description="Prometheus",
            VpcId=vpc,
            TagSpecifications=[{"ResourceType": "security-group", "Tags": _TAGS}],
        )["GroupId"]
        ec2.run_instances(
            ImageId=ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"],
            MinCount=1,
            MaxCount=1,
            SubnetId=ec2.describe_subnets(Filters=of_vpc)["Subnets"][0]["SubnetId"],
            SecurityGroupIds=[group],
            IamInstanceProfile={"Name": self._make_profile()},
            TagSpecifications=[{"ResourceType": "instance", "Tags": _TAGS}],
        )
        return str(group)

    def _make_profile(self) -> str:
        """Make a role without rights, which an instance must have here, and its profile."""
        iam = self.account.client("iam")
        trust = {
            "Effect": "Allow",
            "Principal": {"Service": "ec2.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        iam.create_role(RoleName=_NAME, AssumeRolePolicyDocument=document)
        iam.create_instance_profile(InstanceProfileName=_NAME)
        iam.add_role_to_instance_profile(InstanceProfileName=_NAME, RoleName=_NAME)
        return _NAME

    def _apply(self, group: str) -> None:
        known = self.account.variables
        shell = known["clients"][SHELL]
        topics = sorted({*shell["reads"], *TOPICS})
        self.account.apply(
            cluster={**known["cluster"], "scrapers": {"prometheus": group}},
            clients={SHELL: {**shell, "reads": topics, "writes": topics}},
            topics=add_topics(known, TOPICS),
        )

    def _brokers(self) -> list[str]:
        servers = self.account.outputs()["clients"][SHELL]["bootstrap_servers"]
        return [server.rpartition(":")[0] for server in servers.split(",")]

    def _run(
        self, place: str, command: Sequence[str], log: str, *, hosts: bool = False
    ) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """Run a program in a place of the VPC."""
        servers = self.account.outputs()["clients"][SHELL]["bootstrap_servers"]
        path = self.account.local.folder / "prometheus" / f"{log}.log"
        environ = {"KAFKA_BOOTSTRAP_SERVERS": servers}
        return running(self.account.local, Program(place, command, path, environ, hosts))

    def _read_log(self, name: str) -> list[str]:
        path = self.account.local.folder / "prometheus" / f"{name}.log"
        return path.read_text().splitlines()[-12:]

    @staticmethod
    def _await_rates(prometheus: Prometheus) -> list[dict[str, Any]]:
        """Return the series of the query, once it has both rates of both topics."""

        def ask() -> list[dict[str, Any]]:
            found = prometheus.query(QUERY)
            names = {(each["metric"]["name"], each["metric"]["topic"]) for each in found}
            return found if len(names) == 2 * len(TOPICS) else []

        found: list[dict[str, Any]] = wait_until(f"both rates of both topics in {QUERY}", ask)
        return found

    @staticmethod
    def _check_dashboard(prometheus: Prometheus) -> Iterator[dict[str, object]]:
        for title, query in dashboard_queries():
            series = len(prometheus.query(query))
            if not series and title not in _MAY_BE_EMPTY:
                raise StepFailedError("the dashboard", f"{title} is empty: {query}")
            yield {"panel": title, "series": series}


def _describe(found: Sequence[dict[str, Any]]) -> Iterator[dict[str, object]]:
    for each in sorted(found, key=lambda each: sorted(each["metric"].items())):
        metric, value = each["metric"], float(each["value"][1])
        yield {
            "name": metric["name"],
            "topic": metric["topic"],
            "instance": metric["instance"].split(".")[0],
            "bytes a second": f"{value:,.0f}",
        }


def _sum(series: Sequence[dict[str, Any]]) -> dict[str, list[tuple[float, float]]]:
    """Return the kB a second of each topic, in and out, over all brokers."""
    lines: dict[str, dict[float, float]] = {}
    for each in series:
        name = each["metric"]["name"].removesuffix("PerSec").replace("Bytes", "Bytes ").lower()
        line = lines.setdefault(f"{each['metric']['topic']}, {name}", {})
        for at, value in each["values"]:
            line[at] = line.get(at, 0) + float(value) / 1e3
    return {name: sorted(line.items()) for name, line in lines.items()}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
