"""Contracts: the facts about the producer's account that a consumer's account needs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.operations.files import write_text
from penstock.operations.outputs import choose_entry, read_output

CONTRACT_FILE = "contract.auto.tfvars.json"  # Terraform loads `*.auto.tfvars.json` by itself


@dataclass(frozen=True, slots=True)
class WrittenContract:
    """The name of a consumer, and the file of its contract."""

    consumer: str
    path: Path


def read_contracts(producer: Path) -> dict[str, Any]:
    """Return the contracts by their consumers, from the outputs of the producer's Terraform root.

    Raises:
        OperationError: Terraform does not run or fails, or the root has not been applied.
    """
    return read_output(producer, "contracts")


def write_contract(producer: Path, consumer: str, to: Path) -> WrittenContract:
    """Write a consumer's contract from the outputs of the producer's Terraform root.

    Raises:
        OperationError: the producer has no such consumer, or the file cannot be written.
    """
    remedy = f"add it to `consumers` of {producer} and apply"
    contract = choose_entry(read_contracts(producer), consumer, "consumer", remedy)
    write_text(to, json.dumps({"contract": contract}, indent=2) + "\n")
    return WrittenContract(consumer, to)
