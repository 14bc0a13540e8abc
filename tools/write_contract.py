"""Hand a consumer what it needs to know: its contract, out of the producer's outputs.

Usage: tools/write_contract.py CONSUMER [--producer FOLDER] [--to FILE]

The file is read by Terraform in infra/consumer by itself, and by the jobs (`--contract FILE`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.outputs import OutputError, read_output

_INFRA = Path(__file__).parents[1] / "infra"
CONTRACT_FILE = "contract.auto.tfvars.json"  # in the consumer's root: Terraform reads it by itself
_CONSUMER_READS = _INFRA / "consumer" / CONTRACT_FILE


def main() -> int:
    """Write one contract; 1 when there is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("consumer", nargs="?", help="its name in the producer's `consumers`")
    parser.add_argument("--producer", type=Path, default=_INFRA / "producer", help="its root")
    parser.add_argument("--to", type=Path, default=_CONSUMER_READS, help="the file to write")
    given = parser.parse_args()
    try:
        if not given.consumer:
            raise OutputError("found no name of a consumer, expected CONSUMER=analytics or such")
        hand_over(given.producer, given.consumer, given.to)
    except OutputError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"wrote the contract of {given.consumer} to {given.to}")
    return 0


def hand_over(producer: Path, consumer: str, to: Path) -> None:
    """Write one consumer's contract, out of the outputs of the producer's root.

    Raises:
        OutputError: there is none.
    """
    contract = choose_contract(read_output(producer, "contracts"), consumer)
    to.write_text(json.dumps({"contract": contract}, indent=2) + "\n")


def choose_contract(contracts: Mapping[str, Any], consumer: str) -> Any:
    """Choose one consumer's contract.

    Raises:
        OutputError: there is none of that name; which there are.
    """
    if consumer not in contracts:
        known = ", ".join(sorted(contracts)) or "none"
        raise OutputError(
            f"the producer has no consumer {consumer!r}, only {known}; add it to `consumers` in "
            "infra/producer/terraform.tfvars and apply"
        )
    return contracts[consumer]


if __name__ == "__main__":
    sys.exit(main())
