"""Text that is no contract is refused with what is missing in it."""

from __future__ import annotations

import pytest

from penstock.contract import contract_environ
from penstock.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ("[" * 100_000, "it nests too deep"),
        ("[]", "a value in it has another type or form"),
        ('{"contract": {}}', "found no `brokers`"),
        ('{"contract": {"brokers": {}}}', "found no `region`"),
    ],
    ids=["text", "depth", "list", "brokers", "region"],
)
def test_an_invalid_contract(text: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        contract_environ(text)

    assert str(caught.value) == (
        f"the contract cannot be used, expected what `make contract` writes: {problem}"
    )
