"""`localcloud fetch`: what localcloud needs beside its Python packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from localcloud.command.terminal import say
from localcloud.errors import LocalcloudError
from localcloud.jars import Jar, fetch_jar, read_lock

PURPOSES: Final = {
    "broker": "Kafka, for MSK clusters",
    "exporter": "the JMX exporter, for MSK clusters with open monitoring",
    "registry": "Apicurio Registry, for `localcloud registry`",
    "s3": "S3 for Spark, for jobs of EMR and EMR Serverless",
}
_MEGABYTE = 1e6
_PLUGINS = (".terraform.d/plugins", ".local/share/terraform/plugins")


def fetch(folder: Path, purposes: Sequence[str]) -> None:
    """Fetch the missing jars for some purposes or for all, and make what the first use needs.

    `folder` is that of an instance, which has no part in it.

    Raises:
        DownloadError: a jar cannot be fetched.
        LocalcloudError: a purpose is unknown.
    """
    for purpose in purposes:
        if purpose not in PURPOSES:
            raise LocalcloudError(f"found {purpose!r}, expected one of {', '.join(PURPOSES)}")
    jars = read_lock()
    for purpose in purposes or PURPOSES:
        missing = [jar for jar in jars if jar.purpose == purpose and jar.is_missing]
        what = f"{len(missing)} jars of {_measure(missing)}" if missing else "all jars are there"
        say(f"{PURPOSES[purpose]}: {what}")
        _fetch_all(missing)
    if not purposes or "broker" in purposes:
        say("Kafka's classes, and the packages of Lambda's runtime")
        prepare()
    say(f"Terraform's provider for AWS: {find_provider(os.environ, Path.home())}")


def prepare() -> None:
    """Make what the first use needs. It imports moto, which fails with an unknown AWS_PROFILE."""
    from localcloud.command.prepare import prepare as fill_cache  # noqa: PLC0415

    fill_cache()


def list_missing() -> str:
    """Return in words what `fetch` would fetch; empty if nothing."""
    missing = [jar for jar in read_lock() if jar.is_missing]
    purposes = [PURPOSES[each] for each in dict.fromkeys(jar.purpose for jar in missing)]
    return f"{'; '.join(purposes)} ({_measure(missing)})" if missing else ""


def find_provider(environ: Mapping[str, str], home: Path) -> str:
    """Return in words where `terraform init` finds the provider."""
    config = Path(environ.get("TF_CLI_CONFIG_FILE") or home / ".terraformrc")
    if config.is_file():
        return f"`terraform init` finds it as {config} says"
    folder = next((home / name for name in _PLUGINS if (home / name).is_dir()), None)
    if folder is not None:
        return f"`terraform init` finds it in {folder}, if it is there"
    return "`terraform init` fetches it from Terraform's registry"


def _fetch_all(jars: Sequence[Jar]) -> None:
    total, done = sum(jar.size for jar in jars), 0
    shown = sys.stderr.isatty()

    def add(count: int) -> None:
        nonlocal done
        done += count
        if shown:
            sys.stderr.write(f"\r  {done / _MEGABYTE:.1f} of {total / _MEGABYTE:.1f} MB")

    for jar in jars:
        fetch_jar(jar, add)
    if shown and jars:
        sys.stderr.write("\n")


def _measure(jars: Sequence[Jar]) -> str:
    return f"{sum(jar.size for jar in jars) / _MEGABYTE:.0f} MB"
