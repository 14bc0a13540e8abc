"""The profiles of both accounts, so that every command works from a shell beside the demo.

`python -m demo.profiles` drops them.
"""

from __future__ import annotations

import os
import shlex
import sys
from configparser import RawConfigParser
from pathlib import Path

from demo.accounts import REGION, ROOT, Account
from penstock.cli import drop_profiles, read_profiles, write_profiles

SHELL = "shell"  # a client of each account, with a host to run programs in
HOSTS = {"producer": f"penstock-client-{SHELL}", "consumer": f"penstock-analytics-client-{SHELL}"}
FILE = ROOT / "penstock.toml"
# Beside the file.
_AWS_CONFIG = ".localcloud/aws-config"
_ON_HOSTS = ".localcloud/penstock.toml"


def write_demo_profiles(producer: Account, consumer: Account, file: Path = FILE) -> None:
    """Write `penstock.toml` and the AWS profiles that it names; profiles of others stay.

    Hosts have a file of their own: their AWS credentials are those of their role.
    """
    config = RawConfigParser()
    profiles: dict[str, dict[str, str]] = {}
    on_hosts: dict[str, dict[str, str]] = {}
    aws_config, host_file = file.parent / _AWS_CONFIG, file.parent / _ON_HOSTS
    for account in (producer, consumer):
        aws_profile = f"localcloud-{account.root}"
        config[f"profile {aws_profile}"] = {
            "aws_access_key_id": account.id,  # localcloud takes the number of an account
            "aws_secret_access_key": "localcloud",
            "endpoint_url": account.local.endpoint,
            "region": REGION,
        }
        own = {
            "AWS_CONFIG_FILE": _AWS_CONFIG,
            "AWS_PROFILE": aws_profile,
            f"PENSTOCK_{account.root.upper()}_ROOT": os.path.relpath(account.folder, file.parent),
            "PENSTOCK_HOST_COMMAND": _describe_host(account, host_file),
        }
        for name, settings in account.outputs()["profiles"].items():
            profiles[name] = {**settings, **own}
            on_hosts[name] = settings
    with aws_config.open("w") as out:
        config.write(out)
    write_profiles(file, profiles)
    write_profiles(host_file, on_hosts)


def _describe_host(account: Account, file: Path) -> str:
    """Return the command that runs a shell command on the account's host, with its profiles."""
    localcloud = [sys.executable, "-m", "localcloud", "--folder", str(account.local.folder)]
    shell = ["env", f"PENSTOCK_CONFIG={file}", "sh", "-c"]
    return shlex.join([*localcloud, "run", "--as", HOSTS[account.root], "--", *shell])


def drop_demo_profiles() -> None:
    """Drop them from `penstock.toml`; profiles of others stay, and a file without any goes."""
    found = read_profiles(FILE).items()
    own = [name for name, values in found if values.get("AWS_CONFIG_FILE") == _AWS_CONFIG]
    if own:
        drop_profiles(FILE, own)


if __name__ == "__main__":
    drop_demo_profiles()
