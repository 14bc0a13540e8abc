"""The demo reports a localcloud that does not run and a Terraform that fails."""

from __future__ import annotations

import os

import pytest

from demo.accounts import Account, Local
from demo.screen import StepFailedError

# It fails as Terraform does.
_PRETENDED = r"""#!/bin/sh
echo 'Creating...'
printf 'Error: no such zone\n\n  with this,\nError: another\n' >&2
exit 1
"""


@pytest.fixture
def account(tmp_path, monkeypatch):
    """An account on a localcloud that does not run, and a Terraform that fails."""
    program = tmp_path / "bin/terraform"
    program.parent.mkdir()
    program.write_text(_PRETENDED)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    made = Account("producer", "111111111111", Local(tmp_path / "local"), tmp_path / "infra")
    made.folder.mkdir(parents=True)
    return made


def test_a_localcloud_that_ended_is_reported_with_its_last_log_lines(account):
    account.local.folder.mkdir()
    (account.local.folder / "server.log").write_text("one\nthe last\n")
    with pytest.raises(StepFailedError, match="localcloud does not run") as caught:
        account.client("lambda")
    assert caught.value.lines == ("one", "the last")


def test_errors_of_terraform_are_reported_with_the_account(account, monkeypatch):
    monkeypatch.setattr(Local, "endpoint", "http://127.0.0.1:9")
    with pytest.raises(StepFailedError) as caught:
        account.apply(region="eu-central-1")
    assert str(caught.value) == "producer account 111111111111: terraform apply failed"
    assert caught.value.lines == ("Error: no such zone", "  with this,", "Error: another")
    assert account.variables == {"region": "eu-central-1"}


def test_a_missing_contract_is_reported_with_the_account(account):
    with pytest.raises(StepFailedError) as caught:
        account.take_contract(account, "analytics")
    assert str(caught.value).startswith("producer account 111111111111: the outputs of ")
