"""Every validation of a module fails in one of its cases, with what it says."""

from __future__ import annotations

import re

import pytest

from tests.infra.plans import ROOT, find_cases, module_folder

pytestmark = pytest.mark.terraform

_INVALID = [case for case in find_cases() if "errors:" in case.expected.read_text()]
_PLACE = re.compile(r"checked by the validation rule at ../../(\S+?:\d+),")


@pytest.mark.parametrize("module", sorted({case.module for case in _INVALID}))
def test_every_validation_fails_once(module, plan_case):
    cases = [case for case in _INVALID if case.module == module]
    failed = {
        place for case in cases for text in plan_case(case).errors for place in _PLACE.findall(text)
    }

    assert _validations(module) - failed == set()


def _validations(module):
    return {
        f"{path.relative_to(ROOT)}:{number}"
        for path in module_folder(module).glob("*.tf")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line == "  validation {"
    }
