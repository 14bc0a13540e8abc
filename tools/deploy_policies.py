"""Write docs/deploy-policies/*.json: the IAM policies of the roles that deploy and operate.

Usage: tools/deploy_policies.py [--write]   without --write: list what is not up to date

docs/deploy-policies/actions has the data:
  seen.json      what deployers and the operator called in the tests of both accounts, written by
                 `REWRITE=1 .venv/bin/pytest tests/e2e`
  unseen.json    what AWS needs besides: options and changes that no test of the day has, and
                 actions that services do in the caller's name, each with its reason and source
  services.json  by service the resources that its actions are narrowed to, the actions that AWS
                 judges without a resource (`whole`), and the statements with conditions
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs/deploy-policies"
SEEN = "actions/seen.json"
KINDS = ("producer", "consumer", "cdc", "lake-formation", "services", "operator", "doctor")
MOST_CHARACTERS = 6144  # of a managed policy, without white space
# What README.md lets a user put in the place of ours, at its longest.
_LONGEST = {"penstock": "a" * 24, "arn:aws:": "arn:aws-us-gov:"}

_Statement = dict[str, Any]


def main() -> int:
    """Write the policies, or list those that differ."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return 0
    wanted = make_files()
    found = {path.name: path.read_text() for path in FOLDER.glob("*.json")}
    if "--write" in sys.argv[1:]:
        for name in found.keys() - wanted.keys():
            (FOLDER / name).unlink()
        for name, text in wanted.items():
            (FOLDER / name).write_text(text)
        return 0
    stale = sorted({*found.items()} ^ {*wanted.items()})
    for name in sorted({name for name, _ in stale}):
        print(f"docs/deploy-policies/{name}: run tools/deploy_policies.py --write")
    return 1 if stale else 0


def read_policies(kind: str) -> list[dict[str, Any]]:
    """Return the published policies of a kind, one of KINDS."""
    return [json.loads(path.read_text()) for path in sorted(FOLDER.glob(f"{kind}-*.json"))]


def read_unseen(kind: str) -> set[str]:
    """Return the actions of a kind that AWS needs and that the tests cannot see."""
    return {
        action
        for one in _read("actions/unseen.json")
        if kind in one["for"]
        for action in one["actions"]
    }


def make_files() -> dict[str, str]:
    """Return the policies by file name."""
    return {
        f"{kind}-{number}.json": json.dumps(policy, indent=2) + "\n"
        for kind in KINDS
        for number, policy in enumerate(_split(_list_statements(kind)), start=1)
    }


def _list_statements(kind: str) -> Iterator[_Statement]:
    services = _read("actions/services.json")
    special = {
        action: statement
        for statement in services["statements"]
        if kind in statement["for"]
        for action in statement["Action"]
    }
    scoped: dict[str, list[str]] = defaultdict(list)
    whole = []
    for action in sorted(_list_actions(kind)):
        service, _, name = action.partition(":")
        if action in special:
            continue
        if service not in services["resources"]:
            raise SystemExit(f"{action}: add {service} to {FOLDER / 'actions/services.json'}")
        if name in services["whole"].get(service, []):
            whole.append(action)
        else:
            scoped[service].append(action)
    for service, actions in scoped.items():
        yield _allow(_sid(service), actions, services["resources"][service])
    if whole:
        yield _allow("WithoutResource", whole, "*")
    for statement in services["statements"]:
        if kind in statement["for"]:
            rest = {name: value for name, value in statement.items() if name not in {"for", "why"}}
            yield {"Sid": rest.pop("Sid"), "Effect": "Allow", **rest}


def _list_actions(kind: str) -> set[str]:
    return {*_read(SEEN).get(kind, [])} | read_unseen(kind)


def _split(statements: Iterator[_Statement]) -> Iterator[dict[str, Any]]:
    """Pack the statements into as few policies as their limit allows."""
    packed: list[_Statement] = []
    for statement in statements:
        if packed and _count_characters([*packed, statement]) > MOST_CHARACTERS:
            yield _policy(packed)
            packed = []
        packed.append(statement)
    yield _policy(packed)


def _count_characters(statements: list[_Statement]) -> int:
    text = re.sub(r"\s", "", json.dumps(_policy(statements)))
    for ours, longest in _LONGEST.items():
        text = text.replace(ours, longest)
    return len(text)


def _policy(statements: list[_Statement]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def _allow(sid: str, actions: list[str], resources: list[str] | str) -> _Statement:
    return {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}


def _sid(service: str) -> str:
    return "".join(part.capitalize() for part in service.split("-"))


def _read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text())


if __name__ == "__main__":
    sys.exit(main())
