"""Profiles: settings for the programs of an account, from its Terraform root or a contract."""

from __future__ import annotations

from pathlib import Path

from penstock.contract import contract_environ
from penstock.errors import SettingsError
from penstock.operations.files import read_text
from penstock.operations.outputs import read_output


def read_root_profiles(root: Path) -> dict[str, dict[str, str]]:
    """Return the profiles of a Terraform root by name, each with values of environment variables.

    Raises:
        OperationError: Terraform does not run or fails, or the root has not been applied.
    """
    return read_output(root, "profiles")


def read_contract_profile(path: Path) -> dict[str, str]:
    """Return the settings in a contract, which has none of the consumer's own account.

    Raises:
        OperationError: the file cannot be read.
        SettingsError: the file is not a contract.
    """
    text = read_text(path)
    try:
        return contract_environ(text)
    except SettingsError as error:
        raise SettingsError([f"{path}: {problem}" for problem in error.problems]) from error
