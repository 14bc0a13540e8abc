"""The deployment that is examined: the contract, and the outputs of both accounts' roots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.contract import describe_misfit
from penstock.errors import OperationError
from penstock.extensions.doctor.findings import Side
from penstock.operations import CONTRACT_FILE, choose_entry, read_json, read_outputs

_Outputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Deployment:
    """A contract, the outputs of the roots that were named, and their folders for commands.

    `outputs` lacks the account whose root was not named.
    """

    contract: Mapping[str, Any]
    outputs: Mapping[Side, _Outputs] = field(default_factory=dict)
    folders: Mapping[Side, str] = field(default_factory=dict)

    @property
    def region(self) -> str:
        """Return the region of both accounts."""
        return str(self.contract["region"])

    def account_of(self, side: Side) -> str:
        """Return the id of an account, empty if it is not known."""
        if side is Side.PRODUCER:
            return str(self.contract["producer_account_id"])
        return str(self.outputs.get(side, {}).get("platform", {}).get("account_id", ""))


def read_deployment(
    consumer: Path | None, contract: Path | None, producer: Path | None, name: str | None
) -> Deployment:
    """Read the outputs of Terraform roots, and the contract from one of them or from a file.

    Args:
        consumer: the consumer's root, which has the contract too.
        contract: the file of a contract, as `penstock contract` writes it.
        producer: the producer's root, which has the contracts of all consumers.
        name: the consumer, if the producer's root alone is named and has several.

    Raises:
        OperationError: a root or file cannot be read, or the consumer is not the only one.
    """
    outputs: dict[Side, _Outputs] = {}
    folders: dict[Side, str] = {}
    for side, root in ((Side.PRODUCER, producer), (Side.CONSUMER, consumer)):
        if root is not None:
            outputs[side], folders[side] = read_outputs(root), str(root)
    if contract is None and consumer is not None:
        contract = consumer / CONTRACT_FILE
    if contract is not None:
        return Deployment(_read_contract(contract), outputs, folders)
    contracts = outputs.get(Side.PRODUCER, {}).get("contracts", {})
    if name is None and len(contracts) == 1:
        (name,) = contracts
    if name is None:
        known = ", ".join(sorted(contracts)) or "none"
        raise OperationError(f"found the consumers {known}, expected one; choose it with --name")
    found = choose_entry(contracts, name, "consumer", "choose another one with --name")
    return Deployment(found, outputs, folders)


def _read_contract(path: Path) -> Mapping[str, Any]:
    given = read_json(path)
    try:
        found = given["contract"]
        found["brokers"], found["registry"], found["producer_account_id"]
    except (KeyError, TypeError) as error:
        raise OperationError(
            f"the contract {path} cannot be used, expected what `penstock contract` writes: "
            f"{describe_misfit(error)}"
        ) from error
    contract: Mapping[str, Any] = found
    return contract
