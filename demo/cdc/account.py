"""The story's account: what Terraform makes in it, its registry and its database."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.accounts import ROOT, Account, Local
from demo.cdc.films import CREATE, TABLES
from demo.screen import StepFailedError
from localcloud.services.rds.programs import find_programs
from tools.build_plugin import APICURIO
from tools.local_root import allow_destroy, copy_infra
from tools.terraform import VERSION, init_words

_ID = "333333333333"
_OWN = "demo/cdc/root"
_HOST = "apicurio.films.example"
_DATABASE = "films"


@dataclass(frozen=True, slots=True)
class FilmAccount:
    """The account and its root, in a copy."""

    account: Account

    @classmethod
    def make(cls, local: Local) -> FilmAccount:
        """Copy its root and the modules.

        Raises:
            StepFailedError: the story was told already on this localcloud.
        """
        folder = local.folder / "terraform" / "films"
        account = Account(_OWN, _ID, local, folder)
        if (account.folder / "terraform.tfstate").exists():
            raise StepFailedError(account.where, "the story was told here; run `make demo-down`")
        copy_infra(ROOT / "infra", folder / "infra")
        allow_destroy(folder / "infra")
        shutil.copytree(ROOT / _OWN, account.folder, dirs_exist_ok=True)
        return cls(account)

    def apply(self, **changes: Any) -> None:
        """Apply the root."""
        if not (self.account.folder / ".terraform").is_dir():
            self.account.run(*init_words(VERSION, os.environ))
        tables = [f"public.{table}" for table in TABLES]
        given = {
            "account_id": _ID,
            "plugin": str(ROOT / "build" / APICURIO),
            "postgresql": find_programs().version.partition(".")[0],
            "tables": tables,
        }
        self.account.apply(**given, **changes)

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs of the root that Terraform applied."""
        return self.account.outputs()

    def start_registry(self) -> str:
        """Start Apicurio in the account's network and return its URL on this machine."""
        interface = self.outputs["registry_interface"]
        started = self.account.local.ask("start-registry", interface=interface, host=_HOST)
        url: str = started["url"]
        return url

    def prepare_database(self) -> None:
        """Create the tables, and the user and the publication of the connector."""
        cdc = self.outputs["cdc"]
        login = self._read_secret(cdc["login_secret_arn"])
        self.query(CREATE)
        self.query(cdc["setup_sql"], password=login["password"])

    def query(self, sql: str, **variables: str) -> str:
        """Run SQL as the database's master and return the rows, fields parted by `|`.

        Variables are psql's.
        """
        master = self._read_secret(self.outputs["cdc"]["database"]["master_secret_arn"])
        (found,) = self._ask_status("databases")
        host, _, port = found["address"].partition(":")
        words = ["-h", host, "-p", port, "-U", master["username"], "-d", _DATABASE, "-qAt"]
        words += [f"--set={name}={value}" for name, value in variables.items()]
        done = subprocess.run(
            ["psql", "-X", *words, "-v", "ON_ERROR_STOP=1", "-f", "-"],
            input=sql,
            env={**os.environ, "PGPASSWORD": master["password"]},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise StepFailedError(self.account.where, "PostgreSQL refuses", [done.stderr])
        return done.stdout.strip()

    def brokers(self) -> tuple[dict[str, str], Path]:
        """Return the addresses of the brokers by name, and the file of their authority."""
        arn = self.outputs["cluster_arn"]
        (found,) = [each for each in self._ask_status("clusters") if each["arn"] == arn]
        return found["brokers"], Path(found["ca_file"])

    def keys(self) -> dict[str, str]:
        """Return the variables of a session that may do everything in the account."""
        role = f"arn:aws:iam::{_ID}:role/deploy"
        taken = self.account.client("sts").assume_role(RoleArn=role, RoleSessionName="demo")
        session = taken["Credentials"]
        return {
            "AWS_ACCESS_KEY_ID": session["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": session["SecretAccessKey"],
            "AWS_SESSION_TOKEN": session["SessionToken"],
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL": self.account.local.endpoint,
        }

    def _read_secret(self, arn: str) -> dict[str, str]:
        found = self.account.client("secretsmanager").get_secret_value(SecretId=arn)
        value: dict[str, str] = json.loads(found["SecretString"])
        return value

    def _ask_status(self, part: str) -> list[dict[str, Any]]:
        found = self.account.local.ask("status")[part]
        return [each for each in found if f":{_ID}:" in each.get("arn", f":{each.get('account')}:")]
