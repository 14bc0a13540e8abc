"""The two accounts of the demo, applied on localcloud from a copy of infra/."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3

from demo.screen import StepFailedError
from localcloud.running import find_running
from tools.lambda_packages import Target
from tools.terraform import VERSION, child_environ, init_words
from tools.write_contract import choose_contract, read_contracts

ROOT = Path(__file__).parents[1]
REGION = "eu-central-1"
CONSUMER_NAME = "analytics"
ZIPS = ROOT / "build" / "host"
_FOLDER = ROOT / ".localcloud"
_NETWORK = {"zone_ids": ["euc1-az1", "euc1-az2"]}
_NOTHING_IS_KEPT = {
    "deletion_protection": False,
    "force_destroy": True,
    "key_deletion_days": 7,
    "secret_recovery_days": 0,
}
_PRIVATE = shutil.ignore_patterns(".terraform*", "*.tfstate*", "*.tfvars*", "*_override.tf")
_ERROR = re.compile(r"^Error: .*?(?=^Error: |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Account:
    """One of the accounts: its id, and its root in the copy."""

    name: str
    id: str

    @property
    def root(self) -> Path:
        """Where its Terraform is; `terraform -chdir=` takes it."""
        return _FOLDER / "terraform" / self.name

    @property
    def where(self) -> str:
        """How messages name it."""
        return f"{self.name} account {self.id}"

    @property
    def environ(self) -> dict[str, str]:
        """The variables that make SDKs, `aws` and Terraform speak to it on localcloud."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return child_environ(own) | {
            "AWS_ENDPOINT_URL": _endpoint(),
            "AWS_ACCESS_KEY_ID": self.id,
            "AWS_SECRET_ACCESS_KEY": "localcloud",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CHECKPOINT_DISABLE": "1",
        }

    def client(self, service: str) -> Any:
        """Open a boto3 client of the account."""
        return boto3.client(
            service,
            endpoint_url=_endpoint(),
            region_name=REGION,
            aws_access_key_id=self.id,
            aws_secret_access_key="localcloud",  # noqa: S106 - localcloud takes any
        )

    def apply(self, **variables: Any) -> None:
        """Make what its root declares.

        Raises:
            StepFailedError: with what Terraform says.
        """
        given = {"account_id": self.id, "network": _NETWORK, "functions": _functions()}
        settings = given | {"retention": _NOTHING_IS_KEPT} | variables
        (self.root / "demo.auto.tfvars.json").write_text(json.dumps(settings, indent=2))
        if not (self.root / ".terraform").is_dir():
            self._run(*init_words(VERSION, os.environ))
        self._run("apply", "-auto-approve", "-input=false")

    def outputs(self) -> dict[str, Any]:
        """Read the values of its outputs."""
        shown = json.loads(self._run("output", "-json"))
        return {name: output["value"] for name, output in shown.items()}

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            ["terraform", f"-chdir={self.root}", *words, "-no-color"],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            errors = _ERROR.findall(done.stderr + done.stdout) or [done.stderr]
            lines = [line for line in "\n".join(errors).splitlines() if line.strip()]
            raise StepFailedError(self.where, f"terraform {words[0]} failed", lines)
        return done.stdout


PRODUCER = Account("producer", "111111111111")
CONSUMER = Account("consumer", "222222222222")


def build_zips() -> None:
    """Build the functions' zips for the Python and the machine of this demo."""
    words = ["tools/build_zip.py", "--python", "host", "--arch", "host", "--into", str(ZIPS)]
    _call("this machine", "the zips cannot be built", words)


def start_localcloud() -> None:
    """Start localcloud unless it runs, and put a copy of infra/ where its states may lie."""
    if find_running(_FOLDER) is None:
        _call("this machine", "localcloud does not start", ["-m", "localcloud", "up"])
    shutil.copytree(ROOT / "infra", _FOLDER / "terraform", ignore=_PRIVATE, dirs_exist_ok=True)


def hand_over() -> None:
    """Give the consumer its contract, as `make contract` does."""
    contract = choose_contract(read_contracts(PRODUCER.root), CONSUMER_NAME)
    path = CONSUMER.root / "contract.auto.tfvars.json"
    path.write_text(json.dumps({"contract": contract}, indent=2))


def read_log(name: str, lines: int = 12) -> list[str]:
    """Read the last lines that localcloud has of a function, broker or mapping."""
    done = subprocess.run(
        [sys.executable, "-m", "localcloud", "logs", name, "--once"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout or done.stderr).splitlines()[-lines:]


def _call(where: str, why: str, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise StepFailedError(where, why, (done.stdout + done.stderr).splitlines()[-12:])


def _functions() -> dict[str, str]:
    host = Target.of_host()
    return {"architecture": host.arch, "packages": str(ZIPS), "python_version": host.python}


@cache
def _endpoint() -> str:
    running = find_running(_FOLDER)
    if running is None:
        raise StepFailedError(
            "this machine", "localcloud is not there any more", read_log("server")
        )
    return running.endpoint
