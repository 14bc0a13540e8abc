"""`localcloud fetch`: what localcloud needs beside its Python packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from localcloud.command.terminal import say
from localcloud.errors import LocalcloudError
from localcloud.jars import Jar, fetch_jars, read_lock

PURPOSES: Final = {
    "broker": "Kafka, for MSK clusters",
    "connect": "Kafka Connect, for connectors of MSK Connect",
    "exporter": "the JMX exporter, for MSK clusters with open monitoring",
    "registry": "Apicurio Registry, for `localcloud registry`",
    "s3": "S3 for Spark, for jobs of EMR and EMR Serverless",
}
_MEGABYTE = 1e6
_BAR_LENGTH = 30
_PLUGINS = (".terraform.d/plugins", ".local/share/terraform/plugins")


def fetch(folder: Path, purposes: Sequence[str]) -> None:
    """Fetch the missing jars for some purposes or for all, and make what the first use needs.

    `folder` is that of an instance, which has no part in it.

    Raises:
        MissingToolError: this machine has no JDK or no Maven.
        DownloadError: the jars cannot be fetched.
        LocalcloudError: a purpose is unknown.
    """
    for purpose in purposes:
        if purpose not in PURPOSES:
            raise LocalcloudError(f"found {purpose!r}, expected one of {', '.join(PURPOSES)}")
    fetched = list[Jar]()
    for purpose in purposes or PURPOSES:
        jars = [jar for jar in read_lock() if jar.purpose == purpose]
        missing = any(jar.is_missing for jar in jars)
        what = f"{_measure(jars)} from Maven" if missing else "all jars are there"
        say(f"{PURPOSES[purpose]}: {what}")
        fetched += jars if missing else []
    if fetched:
        with _shown_progress(fetched) as progress:
            fetch_jars(fetched, progress)
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
    return (
        "`terraform init` fetches it from Terraform's registry; without a network, "
        "`terraform init -plugin-dir=DIR` takes it unpacked from a folder"
    )


@contextmanager
def _shown_progress(jars: Sequence[Jar]) -> Iterator[Callable[[Jar], None]]:
    """Show a bar in a terminal, which is full once the jars are in their folders."""
    done, total, shown = 0, sum(jar.size for jar in jars), sys.stderr.isatty()

    def show(count: int, what: str) -> None:
        bar = "#" * (_BAR_LENGTH * count // total)
        size = f"{count / _MEGABYTE:.1f} of {total / _MEGABYTE:.1f} MB"
        sys.stderr.write(f"\r  [{bar:.<{_BAR_LENGTH}}] {size}  {what}\033[K")

    def add(jar: Jar) -> None:
        nonlocal done
        done += jar.size
        if shown:
            show(done, jar.file)

    if shown:
        show(0, "Maven starts")
    yield add
    if shown:
        show(total, "all checked")
        sys.stderr.write("\n")


def _measure(jars: Sequence[Jar]) -> str:
    return f"{sum(jar.size for jar in jars) / _MEGABYTE:.0f} MB"
