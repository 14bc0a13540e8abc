"""The two accounts of the story, each with a root of infra/ that is applied on a localcloud."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import boto3

from demo.screen import StepFailedError
from localcloud.command.instance import Instance, find_instance
from localcloud.command.logs import follow_log
from penstock.errors import OperationError
from penstock.operations import CONTRACT_FILE, write_contract
from tools.lambda_packages import Target
from tools.local_root import (
    EXTENSIONS_FILE,
    allow_destroy,
    local_environ,
    renew_infra,
    run_terraform,
)
from tools.terraform import VERSION, init_words

ROOT = Path(__file__).parents[1]
REGION = "eu-central-1"
MACHINE = "this machine"
_VARIABLES = "applied.auto.tfvars.json"
# The artifacts of the Spark jobs.
SPARK = {
    "jars": str(ROOT / "jars" / "spark" / "lib"),
    "jobs": str(ROOT / "jobs"),
}

_NETWORK = {"zone_ids": ["euc1-az1", "euc1-az2"]}
_NOTHING_IS_KEPT = {
    "deletion_protection": False,
    "force_destroy": True,
    "key_deletion_days": 7,
    "secret_recovery_days": 0,
}
_ERROR = re.compile(r"^Error: .*?(?=^Error: |\Z)", re.MULTILINE | re.DOTALL)
_LAST_LINES = 12
_MOST_LINES = 40  # an error of Terraform may be long


def make_jobs(**writes: str) -> dict[str, Any]:
    """Return the input `jobs` with one job, which reads what there is and ends."""
    return {"consume": {"trigger": "available-now", "writes": writes or {"*": "readings"}}}


def add_topics(variables: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the input `topics` of the producer's root with topics of these names added."""
    return {"sensor": {}, **variables.get("topics", {}), **{name: {} for name in names}}


@dataclass(frozen=True, slots=True)
class Local:
    """A running localcloud, found by the folder of its files."""

    folder: Path

    @property
    def endpoint(self) -> str:
        """Return its endpoint."""
        return self._instance().endpoint

    def ask(self, name: str, **arguments: Any) -> Any:
        """Call its control door."""
        return self._instance().ask(name, **arguments)

    def read_log(self, name: str) -> list[str]:
        """Return the lines so far of the log of a function, broker or mapping."""
        return list(follow_log(self._instance(), self.folder, name, once=True))

    def _instance(self) -> Instance:
        instance = find_instance(self.folder)
        if instance is None:
            log = self.folder / "server.log"
            lines = log.read_text().splitlines() if log.exists() else []
            raise StepFailedError(MACHINE, "localcloud does not run", lines[-_LAST_LINES:])
        return instance


@dataclass(frozen=True, slots=True)
class Account:
    """An account and the root that is applied to it, in a copy of infra/."""

    root: str
    id: str
    local: Local
    infra: Path

    @property
    def folder(self) -> Path:
        """Return the folder of its root, for `terraform -chdir=`."""
        return self.infra / self.root

    @property
    def where(self) -> str:
        """Return its name in messages."""
        return f"{self.root} account {self.id}"

    @property
    def environ(self) -> dict[str, str]:
        """Return the environment that points SDKs, `aws` and Terraform to it."""
        return local_environ(self.local.endpoint, self.id, REGION)

    @property
    def variables(self) -> dict[str, Any]:
        """Return the variables of its last apply."""
        path = self.folder / _VARIABLES
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def client(self, service: str) -> Any:
        """Open a boto3 client of the account."""
        session: Any = boto3.Session(self.id, "localcloud", region_name=REGION)
        return session.client(service, endpoint_url=self.local.endpoint)

    def prepare(self, zips: Path, **variables: Any) -> None:
        """Copy infra/, write the root's variables, and run `terraform init`.

        Raises:
            StepFailedError: with what Terraform says.
        """
        renew_infra(ROOT / "infra", self.infra)
        allow_destroy(self.infra)
        host = Target.of_host()
        functions = {
            "architecture": host.arch,
            "packages": str(zips),
            "python_version": host.python,
        }
        given = {"account_id": self.id, "network": _NETWORK, "functions": functions}
        self._keep(given | {"retention": _NOTHING_IS_KEPT} | variables)
        if not (self.folder / ".terraform").is_dir():
            self.run(*init_words(VERSION, os.environ))

    def extend(self, calls: str) -> None:
        """Write the calls of extensions into its root, in the place of earlier ones.

        Raises:
            StepFailedError: with what Terraform says.
        """
        (self.folder / EXTENSIONS_FILE).write_text(calls)
        self.run(*init_words(VERSION, os.environ))

    def apply(self, **changes: Any) -> None:
        """Apply its root, with changes to the variables that are kept for later applies.

        Raises:
            StepFailedError: with what Terraform says.
        """
        self._keep(self.variables | changes)
        self.run("apply", "-auto-approve", "-input=false")

    def outputs(self) -> dict[str, Any]:
        """Return the values of its outputs, which are read once after each apply."""
        return _read_outputs(self, (self.folder / "terraform.tfstate").stat().st_mtime_ns)

    def take_contract(self, producer: Account, name: str) -> None:
        """Write the contract of a consumer into its root, like `make contract`.

        Raises:
            StepFailedError: the producer has no consumer of that name.
        """
        try:
            write_contract(producer.folder, name, self.folder / CONTRACT_FILE)
        except OperationError as error:
            raise StepFailedError(producer.where, f"{error}") from error

    def run(self, *words: str, fine: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        """Run Terraform in its root.

        Raises:
            StepFailedError: Terraform failed, with its errors.
        """
        done = run_terraform(self.folder, self.environ, *words)
        if done.returncode not in fine:
            errors = _ERROR.findall(done.stderr) or [done.stdout, done.stderr]
            lines = [line for line in "\n".join(errors).splitlines() if line.strip()]
            why = f"terraform {words[0]} failed"
            raise StepFailedError(self.where, why, lines[-_MOST_LINES:])
        return done

    def _keep(self, variables: dict[str, Any]) -> None:
        (self.folder / _VARIABLES).write_text(json.dumps(variables, indent=2))


@lru_cache
def _read_outputs(account: Account, written_ns: int) -> dict[str, Any]:
    shown = json.loads(account.run("output", "-json").stdout)
    return {name: output["value"] for name, output in shown.items()}
