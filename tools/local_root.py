"""Copy a root into a folder for its state, and run Terraform there against a localcloud."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tools.terraform import child_environ

EXTENSIONS_FILE = "extensions.tf"  # the user's own, in a root

_INSTALLING = frozenset({"TF_CLI_CONFIG_FILE", "TF_PLUGIN_CACHE_DIR"})
_PRIVATE = shutil.ignore_patterns(
    ".terraform*", "*.tfstate*", "*.tfvars*", "*_override.tf", EXTENSIONS_FILE
)


def copy_infra(infra: Path, to: Path) -> None:
    """Copy roots and modules without states, variables and extensions."""
    shutil.copytree(infra, to, ignore=_PRIVATE, dirs_exist_ok=True)


def renew_infra(infra: Path, to: Path) -> None:
    """Copy them over an older copy, whose other files go: Terraform reads every file."""
    for path in to.rglob("*.tf"):
        if not (infra / path.relative_to(to)).exists() and not _PRIVATE("", [path.name]):
            path.unlink()
    copy_infra(infra, to)


def allow_destroy(infra: Path) -> None:
    """Let a copy's cluster and registry be destroyed, as before a teardown on AWS."""
    for example in infra.rglob("destroyable_override.tf.example"):
        shutil.copy(example, example.with_suffix(""))


def local_environ(endpoint: str, account: str, region: str) -> dict[str, str]:
    """Return the environment that points SDKs, `aws` and Terraform to an account on localcloud.

    The user's settings for AWS are left out; of those for Terraform, only the installation stays.
    """
    kept = {
        name: value
        for name, value in child_environ(os.environ).items()
        if name in _INSTALLING or not name.startswith(("AWS_", "TF_"))
    }
    return kept | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "localcloud",  # localcloud accepts any
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CHECKPOINT_DISABLE": "1",
        # A plan mostly reads the provider's schema, and collecting garbage is a fifth of the work.
        "GOGC": "off",
        "GOMEMLIMIT": "1GiB",
    }


def run_terraform(
    root: Path, environ: Mapping[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    """Run Terraform in a root, and return its result even if it fails."""
    return subprocess.run(
        ["terraform", *words, "-no-color"],
        cwd=root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
