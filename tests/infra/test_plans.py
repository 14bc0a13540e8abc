"""Each module does, with each case's arguments, what the case's YAML says."""

from __future__ import annotations

import pytest
import yaml

from tests.infra.comparison import find_differences, rewrite
from tests.infra.plans import ROOT, find_cases, rewrite_command, rewriting
from tests.infra.policies import compare_policies, list_policies
from tests.infra.root_policies import describe_policies, find_policy_differences

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_CASES = find_cases()
_ALLOWING = [case for case in _CASES if case.name == "full" or case.policies.exists()]
_OF_ROOTS = [case for case in _ALLOWING if case.is_root]


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_a_module_plans_what_its_case_expects(case, plan_case):
    plan = plan_case(case)
    expected = _read(case.expected)

    if rewriting():
        return _write(case.expected, rewrite(expected, plan))
    _fail_with(find_differences(expected, plan), case, case.expected)


@pytest.mark.parametrize("case", [case for case in _ALLOWING if not case.is_root], ids=str)
def test_a_module_allows_what_its_case_lists_and_nothing_else(case, plan_case):
    plan = plan_case(case)
    got = list_policies(plan)

    if rewriting() and got:
        return _write(case.policies, got)
    differences = [*plan.errors, *compare_policies(_read(case.policies), got)]
    _fail_with(differences, case, case.policies)


@pytest.mark.parametrize("case", _OF_ROOTS, ids=str)
def test_a_root_allows_what_its_modules_and_its_case_list_and_nothing_else(case, plan_case):
    plan = plan_case(case)
    said = _read(case.policies)

    if rewriting():
        return _write(case.policies, describe_policies(said, case, plan), flow=None)
    differences = [*plan.errors, *find_policy_differences(said, case, plan)]
    _fail_with(differences, case, case.policies)


def _read(path):
    return (yaml.safe_load(path.read_text()) if path.exists() else None) or {}


def _write(path, content, flow=False):
    path.write_text(yaml.safe_dump(content, sort_keys=False, width=100, default_flow_style=flow))


def _fail_with(differences, case, path):
    __tracebackhide__ = True
    if differences:
        told = "\n".join(differences)
        pytest.fail(f"{path.relative_to(ROOT)} differs\n{told}\nrewrite: {rewrite_command(case)}")
