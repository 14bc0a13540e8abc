"""The profiles of both accounts, so that every command works from a shell beside the demo."""

from __future__ import annotations

from configparser import RawConfigParser

from demo.accounts import REGION, ROOT, Account
from penstock.cli import write_profiles

SHELL = "shell"  # a client of each account, with a host to run programs in
_FILE = ROOT / "penstock.toml"


def write_demo_profiles(producer: Account, consumer: Account) -> None:
    """Write `penstock.toml` and the AWS profiles that it names; profiles of others stay."""
    config = RawConfigParser()
    profiles: dict[str, dict[str, str]] = {}
    aws_config = producer.local.folder / "aws-config"
    for account in (producer, consumer):
        aws_profile = f"localcloud-{account.root}"
        config[f"profile {aws_profile}"] = {
            "aws_access_key_id": account.id,  # localcloud takes the number of an account
            "aws_secret_access_key": "localcloud",
            "endpoint_url": account.local.endpoint,
            "region": REGION,
        }
        own = {
            "AWS_CONFIG_FILE": str(aws_config.relative_to(ROOT)),
            "AWS_PROFILE": aws_profile,
            f"PENSTOCK_{account.root.upper()}_ROOT": str(account.folder.relative_to(ROOT)),
        }
        for name, settings in account.outputs()["profiles"].items():
            profiles[name] = {**settings, **own}
    with aws_config.open("w") as file:
        config.write(file)
    write_profiles(_FILE, profiles)
