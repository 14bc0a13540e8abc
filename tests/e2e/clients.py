"""The clients of examples/clients, as they run on the host in a consumer's VPC."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from localcloud.identity.credentials import credentials_for_role
from localcloud.jobs import Place, driver_variables
from systems.java import SHORT_LIVED
from tests.e2e.accounts import Accounts

_ROOT = Path(__file__).parents[2]
_EXAMPLES = _ROOT / "examples" / "clients"
_PYTHON = _EXAMPLES / "python" / "client.py"
_JAVA = _EXAMPLES / "java" / "src" / "main" / "java" / "Client.java"
_JARS = f"{_ROOT}/jars/glue/lib/*"
HOST = "shell"
LANGUAGES = ("java", "python")


@dataclass(frozen=True)
class Host:
    """A host of a consumer: who its programs are, and where they are."""

    accounts: Accounts
    consumer: str
    folder: Path

    def compile(self) -> None:
        """Compile the client in Java once for all its runs."""
        command = ["javac", f"-J{SHORT_LIVED[0]}", "-d", str(self.folder), "-cp", _JARS, str(_JAVA)]
        subprocess.run(command, check=True)

    def run(self, language: str, *words: str, **registry: str) -> subprocess.CompletedProcess[str]:
        """Run a client with words after the file that tells it where everything is.

        `registry` is what that file says of the registry instead.
        """
        told, client = self.folder / "client.json", self._client()
        told.write_text(json.dumps(client | {"registry": client["registry"] | registry}))
        return self._run([*self._choose(language), str(told), *words])

    def penstock(self, *words: str, registry: str = "") -> subprocess.CompletedProcess[str]:
        """Run the `penstock` command with the login and the registry of the client.

        `registry` is the name of another one that the same role is used for.
        """
        client = self._client()
        known = client["registry"]
        options = urlencode(
            {
                "region": client["region"],
                "role_arn": known["role_arn"],
                "external_id": known["external_id"],
            }
        )
        return self._run(
            [str(Path(sys.executable).with_name("penstock")), *words],
            KAFKA_BOOTSTRAP_SERVERS=client["bootstrap_servers"],
            KAFKA_SECURITY="scram",
            KAFKA_SECRET_ARN=client["secret_arn"],
            PENSTOCK_REGISTRY=f"glue://{registry or known['name']}?{options}",
        )

    def _client(self) -> Any:
        return self.accounts.consumers[self.consumer].outputs()["clients"][HOST]

    def _run(self, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        client = self._client()
        environment = {
            "PATH": os.environ["PATH"],
            "KAFKA_LOGIN": self.accounts.password_of(self.accounts.consumers[self.consumer]),
            **self._read_place(client["host"], client["role_name"]),
            **variables,
        }
        return subprocess.run(
            command,
            cwd=self.folder,  # not the clone, where a demo may have left its profiles
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def _choose(self, language: str) -> list[str]:
        if language == "python":
            return [sys.executable, str(_PYTHON)]
        return ["java", "-Xmx256m", "-cp", f"{self.folder}:{_JARS}", "Client"]

    def _read_place(self, instance: str, role: str) -> dict[str, str]:
        """Return what makes a process one of the instance: its credentials, network and trust."""
        root = self.accounts.consumers[self.consumer]
        (reservation,) = root.client("ec2").describe_instances(InstanceIds=[instance])[
            "Reservations"
        ]
        (shown,) = reservation["Instances"]
        arn = f"arn:aws:iam::{root.id}:role/{role}"
        groups = tuple(group["GroupId"] for group in shown["SecurityGroups"])
        place = Place(arn, "ec2.amazonaws.com", "EC2", (shown["SubnetId"],), groups)
        key = credentials_for_role(self.accounts.cloud, arn, instance)
        return driver_variables(self.accounts.cloud, place, key, self.folder)
