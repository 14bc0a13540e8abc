"""Every validation of a module fails in one of its cases, with what it says."""

from __future__ import annotations

import re

import pytest

from tests.infra.plans import ROOT, find_cases, module_folder

# The first test that is run waits until all cases are planned.
pytestmark = [pytest.mark.terraform, pytest.mark.timeout(900)]

_INVALID = [case for case in find_cases() if "errors:" in case.expected.read_text()]
_PLACE = re.compile(r"checked by the validation rule at [^/]+/(\S+?:\d+),")
_BY_MODULE = {
    module: [case for case in _INVALID if case.module == module]
    for module in sorted({case.module for case in _INVALID})
}


@pytest.mark.parametrize(("module", "cases"), _BY_MODULE.items(), ids=_BY_MODULE)
def test_every_validation_fails_once(module, cases, plan_case):
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
