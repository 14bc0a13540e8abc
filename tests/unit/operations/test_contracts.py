"""A consumer's contract is what the producer's root put out for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.errors import OperationError
from penstock.operations import CONTRACT_FILE, WrittenContract, write_contract
from tests.fixtures.outputs import put_out

__all__ = ["put_out"]

PutOut = Callable[..., Path]
_CONTRACTS = {"ann": {"region": "eu-central-1"}, "bob": {"region": "eu-west-1"}}


def test_a_contract_is_written_as_a_variable_of_the_consumers_root(
    put_out: PutOut, tmp_path: Path
) -> None:
    to = tmp_path / CONTRACT_FILE

    written = write_contract(put_out(contracts=_CONTRACTS), "bob", to)

    assert written == WrittenContract("bob", to)
    assert json.loads(to.read_text()) == {"contract": {"region": "eu-west-1"}}


@pytest.mark.parametrize(("contracts", "known"), [(_CONTRACTS, "ann, bob"), ({}, "none")])
def test_an_unknown_consumer_is_rejected_with_the_known_ones(
    put_out: PutOut, tmp_path: Path, contracts: object, known: str
) -> None:
    root = put_out(contracts=contracts)

    with pytest.raises(OperationError) as caught:
        write_contract(root, "ben", tmp_path / "contract")

    assert str(caught.value) == (
        f"found no consumer 'ben', expected one of: {known}; add it to `consumers` of {root} and "
        "apply"
    )


def test_a_file_that_cannot_be_written_is_an_error(put_out: PutOut, tmp_path: Path) -> None:
    with pytest.raises(
        OperationError, match=r"no/contract.* cannot be written: No such file or directory$"
    ):
        write_contract(put_out(contracts=_CONTRACTS), "ann", tmp_path / "no" / "contract")
