"""How cases are planned together: each gets its own plan or errors, whatever becomes of others."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.infra import plans
from tests.infra.planned import Plan
from tests.infra.plans import Example, Planner

_README = plans.ROOT / "infra/README.md"


class _Pretended:
    """A Terraform that finds the errors that the texts of cases say."""

    def __init__(self):
        self.planned = []

    def __call__(self, root, environ, *words):
        names = re.findall(r'module "(.+)"', (root / "main.tf").read_text())
        texts = {
            name: (root / name / "roots/this/main.tf").read_text().split("\n")[0] for name in names
        }
        if words[0] == "show":
            calls = {name: {"module": {}} for name in names}
            return _done({"configuration": {"root_module": {"module_calls": calls}}})
        if words[0] == "init":
            self.planned.append(len(names))
            return _done(*_diagnostics(texts, "unreadable"))
        if "crash" in texts.values():
            return subprocess.CompletedProcess([], 2, "", "crashed")
        if not (found := _diagnostics(texts, "bad") + _diagnostics(texts, "everybody's")):
            (root / "plan").touch()
            found = _diagnostics(texts, "later")
        return _done(*found)


def _diagnostics(texts, wrong):
    places = [
        {"range": {"filename": f"{name}/infra/{file}.tf", "start": {"line": 3}}}
        for name, text in texts.items()
        for file in "xy"
        if text == wrong
    ]
    if wrong == "everybody's" and places:
        places = [{}]
    return [
        {"diagnostic": {"severity": "error", "summary": "Wrong", "detail": wrong} | place}
        for place in places
    ]


def _done(*said):
    return subprocess.CompletedProcess([], 0, "\n".join(map(json.dumps, said)), "")


@pytest.fixture
def terraform(monkeypatch):
    pretended = _Pretended()
    monkeypatch.setattr(plans, "run_terraform", pretended)
    return pretended


@pytest.fixture
def plan(tmp_path, terraform):
    """Plan cases of these texts; tells the errors of each, and how many were planned together."""
    planner = Planner(tmp_path, "http://127.0.0.1:9")

    def run(*texts):
        cases = [Example(_README, number, text) for number, text in enumerate(texts)]
        planner.start(cases)
        return [planner.plan(case) for case in cases], terraform.planned

    yield run
    planner.stop()


def _errors(wrong):
    return Plan({}, {}, {}, tuple(f"infra/{file}.tf:3: Wrong: {wrong}" for file in "xy"))


_FINE = Plan({}, {}, {})


def test_cases_are_planned_together(plan):
    assert plan("fine", "fine", "fine") == ([_FINE] * 3, [3])


@pytest.mark.parametrize("text", ["bad", "unreadable"])
def test_errors_before_anything_is_planned_leave_the_others_to_a_second_plan(plan, text):
    wrong = _errors(text)
    assert plan("fine", text, "fine", text) == ([_FINE, wrong, _FINE, wrong], [4, 2])


def test_errors_while_planning_leave_the_others_planned(plan):
    found = [_FINE, _errors("later"), _errors("bad")]
    assert plan("fine", "later", "bad") == (found, [3, 2])


def test_an_error_without_a_case_is_reported_by_all(plan):
    wrong = Plan({}, {}, {}, ("terraform: Wrong: everybody's",))
    assert plan("fine", "everybody's") == ([wrong, wrong], [2])


def test_output_of_a_crashed_terraform_is_reported_by_all(plan):
    wrong = Plan({}, {}, {}, ("terraform: crashed",))
    assert plan("fine", "crash") == ([wrong, wrong], [2])


def test_cases_of_two_accounts_are_planned_apart_and_each_once(terraform, tmp_path):
    planner = Planner(tmp_path, "http://127.0.0.1:9")
    one = Example(_README, 1, "fine", account="111111111111")
    two = Example(_README, 2, "bad", account="222222222222")

    planner.start([one, two, one])

    assert [planner.plan(case) for case in (one, two, one)] == [_FINE, _errors("bad"), _FINE]
    assert terraform.planned == [1, 1]
    planner.stop()
