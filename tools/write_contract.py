"""Hand a consumer what it needs to know: its contract, out of the producer's outputs.

Usage: tools/write_contract.py CONSUMER [--producer FOLDER] [--to FILE]

The file is read by Terraform in infra/consumer by itself, and by the jobs (`--contract FILE`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.terraform import child_environ

_INFRA = Path(__file__).parents[1] / "infra"
CONTRACT_FILE = "contract.auto.tfvars.json"  # in the consumer's root: Terraform reads it by itself
_CONSUMER_READS = _INFRA / "consumer" / CONTRACT_FILE


class ContractError(Exception):
    """There is no such contract, and why."""


def main() -> int:
    """Write one contract; 1 when there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("consumer", nargs="?", help="its name in the producer's `consumers`")
    parser.add_argument("--producer", type=Path, default=_INFRA / "producer", help="its root")
    parser.add_argument("--to", type=Path, default=_CONSUMER_READS, help="the file to write")
    given = parser.parse_args()
    try:
        if not given.consumer:
            raise ContractError("found no name of a consumer, expected CONSUMER=analytics or such")
        hand_over(given.producer, given.consumer, given.to)
    except ContractError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"wrote the contract of {given.consumer} to {given.to}")
    return 0


def hand_over(producer: Path, consumer: str, to: Path) -> None:
    """Write one consumer's contract, out of the outputs of the producer's root.

    Raises:
        ContractError: there is none.
    """
    contract = choose_contract(read_contracts(producer), consumer)
    to.write_text(json.dumps({"contract": contract}, indent=2) + "\n")


def read_contracts(producer: Path) -> dict[str, Any]:
    """Ask Terraform for the output `contracts` of the producer's root.

    Raises:
        ContractError: Terraform cannot read it.
    """
    done = subprocess.run(
        ["terraform", f"-chdir={producer}", "output", "-json", "-no-color"],
        env=child_environ(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ContractError(f"terraform output of {producer} failed: {done.stderr.strip()}")
    outputs = json.loads(done.stdout)
    if "contracts" not in outputs:
        raise ContractError(f"{producer} has no output `contracts`; apply it first")
    found: dict[str, Any] = outputs["contracts"]["value"]
    return found


def choose_contract(contracts: Mapping[str, Any], consumer: str) -> Any:
    """Choose one consumer's contract.

    Raises:
        ContractError: there is none of that name; which there are.
    """
    if consumer not in contracts:
        known = ", ".join(sorted(contracts)) or "none"
        raise ContractError(
            f"the producer has no consumer {consumer!r}, only {known}; add it to `consumers` in "
            "infra/producer/terraform.tfvars and apply"
        )
    return contracts[consumer]


if __name__ == "__main__":
    sys.exit(main())
