"""The policies of a root, as far as they differ from those of its modules.

A root hands names and statements to modules, whose own cases list their policies. A right that a
plan of the root has as a module's case has it, but for prefix, account, region, name and key, is
only counted, by module. The rest is listed; what several roles have stands there once, by its Sid.
A case may begin with what another case of the root lists (`like`), `without` some of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from tests.infra.planned import Plan
from tests.infra.plans import CONTRACT, ROOT, Case, find_cases
from tests.infra.policies import compare_policies, list_policies
from tools.hcl import read_blocks

# By address: statements, or a text.
Policies: TypeAlias = dict[str, Any]

_CALL = re.compile(r'(module\.(\w+)(?:\["[^"]+"\])?)\.(.+)')
_KEY = re.compile(r'\["([^"]+)"\]')
_CONSTANT = re.compile(r'^ *(account_id|consumer|name|prefix|region) += "([^"]+)"', re.MULTILINE)
_SHORTEST = 4  # a shorter text is in other words


def find_policy_differences(said: dict[str, Any], case: Case, plan: Plan) -> list[str]:
    """List what a root's plan has otherwise than its case says, both ways."""
    alike, rest = _divide(case, plan)
    counted = said.get("as_in_modules", {})
    return [
        *(
            f"{call}\n  got      {alike.get(call, 0)} rights as in its module\n"
            f"  expected {counted.get(call, 0)}"
            for call in sorted({*alike, *counted})
            if alike.get(call, 0) != counted.get(call, 0)
        ),
        *compare_policies(_expand(said, case), rest),
    ]


def describe_policies(said: dict[str, Any], case: Case, plan: Plan) -> dict[str, Any]:
    """Return what a root's case has to say of a plan; it begins as before (`like`)."""
    alike, rest = _divide(case, plan)
    like = said.get("like")
    base = _expand(_read(case, like), case) if like else {}
    rights = _read(case, like).get("rights", {}) if like else {}
    own = {address: policy for address, policy in rest.items() if base.get(address) != policy}
    shared = rights | _find_shared(own, rights)
    return {
        part: value
        for part, value in {
            "like": like,
            "as_in_modules": dict(sorted(alike.items())),
            "rights": {sid: right for sid, right in shared.items() if sid not in rights},
            "policies": {
                address: policy
                if isinstance(policy, str)
                else [_shorten(it, shared) for it in policy]
                for address, policy in own.items()
            },
            "without": sorted(base.keys() - rest.keys()),
        }.items()
        if value
    }


def _divide(case: Case, plan: Plan) -> tuple[Counter[str], Policies]:
    """Divide the rights in a plan: how many are as in their module, by call, and the others."""
    modules = _modules(case.module)
    constants = _read_constants(case.arguments)
    alike: Counter[str] = Counter()
    rest: Policies = {}
    for address, policy in list_policies(plan, with_sids=True).items():
        found = _CALL.fullmatch(address)
        if not found or isinstance(policy, str):
            rest[address] = policy
            continue
        call, name, inner = found.groups()
        named = constants | _own_name(plan, call)
        for right in policy:
            if _canonical(inner, right, named) in _known(modules[name]):
                alike[f"{call} denies" if "deny" in right else call] += 1
            else:
                rest.setdefault(address, []).append(right)
    return alike, rest


def _expand(said: dict[str, Any], case: Case) -> Policies:
    """Return the policies that a case lists, each right in its place."""
    like = _read(case, said["like"]) if "like" in said else {}
    rights = like.get("rights", {}) | said.get("rights", {})
    listed = _expand(like, case) if like else {}
    for address, policy in said.get("policies", {}).items():
        listed[address] = (
            policy if isinstance(policy, str) else [_lengthen(it, rights) for it in policy]
        )
    return {
        address: policy
        for address, policy in listed.items()
        if address not in said.get("without", [])
    }


def _lengthen(right: Any, rights: Mapping[str, Any]) -> Any:
    return {"sid": right, **rights[right]} if isinstance(right, str) else right


def _shorten(right: dict[str, Any], rights: Mapping[str, Any]) -> Any:
    sid = right.get("sid")
    return sid if sid in rights and _lengthen(sid, rights) == right else right


def _find_shared(policies: Policies, rights: Mapping[str, Any]) -> dict[str, Any]:
    """Find the rights that several policies have, by Sid: of those with one Sid the most common."""
    count = Counter(
        json.dumps(right)
        for policy in policies.values()
        if isinstance(policy, list)
        for right in policy
        if right.get("sid", "") not in ("", *rights)
    )
    shared: dict[str, Any] = {}
    for text, times in count.most_common():
        right = json.loads(text)
        if times > 1 and right["sid"] not in shared:
            shared[right.pop("sid")] = right
    return dict(sorted(shared.items()))


@cache
def _modules(root: str) -> dict[str, str]:
    """Return the module of each call of a root."""
    calls = read_blocks(ROOT / "infra" / root, "module")
    return {one.name: Path(one.arguments["source"].strip('"')).name for one in calls}


@cache
def _known(module: str) -> frozenset[str]:
    """Return the rights that the cases of a module list."""
    return frozenset(
        _canonical(address, right, _read_constants(case.arguments))
        for case in find_cases()
        if case.module == module and case.policies.exists()
        for address, policy in (yaml.safe_load(case.policies.read_text()) or {}).items()
        if isinstance(policy, list)
        for right in policy
    )


def _canonical(address: str, right: dict[str, Any], constants: Mapping[str, str]) -> str:
    """Write a right without its Sid, with placeholders for what a caller of the module chooses."""
    keys = _KEY.findall(address)
    named = constants | ({"key": keys[-1]} if keys else {})
    places = {text: f"{{{name}}}" for name, text in named.items() if len(text) >= _SHORTEST}
    return json.dumps([_KEY.sub("[]", address), _replace(right, places)])


def _replace(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {word: _replace(part, places) for word, part in value.items() if word != "sid"}
    if isinstance(value, list):
        return sorted((_replace(part, places) for part in value), key=json.dumps)
    for text in sorted(places, key=len, reverse=True):
        value = value.replace(text, places[text])
    return value


def _read_constants(arguments: Path) -> dict[str, str]:
    """Read what a case calls its prefix and name, and where it is."""
    text = arguments.read_text()
    text += CONTRACT if "local.contract" in text else ""
    found = dict(reversed(_CONSTANT.findall(text)))
    consumer = found.pop("consumer", None)
    prefix = found.setdefault("prefix", f"penstock-{consumer}" if consumer else "penstock")
    return found | {"database": prefix.replace("-", "_")}


def _own_name(plan: Plan, call: str) -> dict[str, str]:
    """Return the name that a call gives what it makes: that of its role."""
    name = plan.resources.get(f"{call}.aws_iam_role.this", {}).get("name")
    return {"name": name} if name else {}


def _read(case: Case, name: str) -> dict[str, Any]:
    path = case.arguments.parent / f"{name}.policies.yaml"
    said: dict[str, Any] = yaml.safe_load(path.read_text())
    return said
