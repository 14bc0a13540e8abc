"""docs/first-hour.md, walked by its own commands in two accounts that nothing else uses."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.leftovers import list_everything, list_usable_keys
from tests.fixtures.walks import Step, find_missing, read_page, walk
from tools.local_root import local_environ
from tools.terraform import VERSION, init_words

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.kafka,
    pytest.mark.e2e,
    pytest.mark.nightly,
    pytest.mark.timeout(3_600),
]

_ROOT = Path(__file__).parents[2]
_ACCOUNTS = ("111111111111", "222222222222")
_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS")
_OWN = ("docs", "infra", "lambdas", "src", "tools")
_SHARED = (".cache", ".venv", "Makefile", "jars", "pyproject.toml", "requirements.lock")
_NOT_IN_A_CLONE = shutil.ignore_patterns(
    *("*.auto.tfvars*", "*.tfstate*", "*_override.tf", ".terraform*", "__pycache__"),
    "terraform.tfvars",
)
# What differs from a rehearsal by hand: localcloud runs already, and nobody is there to say yes.
_PRELUDE = """
make() {
  case "$1" in
    up) mkdir -p .localcloud ;;
    build) command make build PYTHON=host ARCH=host ;;
    *) command make "$@" ;;
  esac
}
"""


@pytest.fixture
def clone(tmp_path):
    """A clone after `make install`, in which nobody has applied anything."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in _OWN:
        shutil.copytree(_ROOT / name, folder / name, ignore=_NOT_IN_A_CLONE)
    for name in _SHARED:
        (folder / name).symlink_to(_ROOT / name)
    (folder / "tools/install.sh").write_text("#!/bin/sh\n")  # it is installed, and not its own
    return folder


@pytest.fixture
def environ(cloud):
    """The environment of a person without any settings for AWS, who says yes to Terraform."""
    kept = local_environ(cloud.endpoint, "", "")
    yes = "-auto-approve -input=false -no-color"
    return {name: value for name, value in kept.items() if not name.startswith("AWS_")} | {
        "TF_CLI_ARGS_apply": yes,
        "TF_CLI_ARGS_destroy": yes,
        "TF_CLI_ARGS_plan": "-input=false -no-color",
        "TF_CLI_ARGS_init": " ".join([*init_words(VERSION, os.environ)[1:], "-no-color"]),
    }


def test_the_page_leads_from_empty_accounts_to_a_row_and_back(cloud, client, clone, environ):
    page = read_page(_ROOT / "docs/first-hour.md")
    before = {account: list_everything(client, account) for account in _ACCOUNTS}
    endpoints = (f"{name}={cloud.endpoint}" for name in _ENDPOINTS)

    steps = [page.rehearsal, Step(f"export {' '.join(endpoints)}\n")]
    for step in page.steps:
        steps.append(step)
        if "workspace select" in step.commands:
            steps.append(Step(f"! {page.failure.commands}", page.failure.shown))
    said = walk(steps, clone, environ, prelude=_PRELUDE)

    missing = {
        step.commands: (lines, told)
        for step, told in zip(steps, said, strict=True)
        if (lines := find_missing(step, told))
    }
    assert missing == {}
    for account in _ACCOUNTS:
        left = list_everything(client, account) - before[account]
        assert left == {"iam deploy", f"s3 terraform-state-{account}-eu-central-1"}
        assert list_usable_keys(client, account) == []
        assert _count_waiting_keys(client("kms", account)) == 4  # as the page says


def _count_waiting_keys(kms):
    shown = (kms.describe_key(KeyId=key["KeyId"]) for key in kms.list_keys()["Keys"])
    return sum(key["KeyMetadata"]["KeyState"] == "PendingDeletion" for key in shown)
