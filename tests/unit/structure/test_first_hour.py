"""The commands of docs/first-hour.md name what exists; its times and its cost are those elsewhere.

Its commands are run by bash in a copy of infra/, with programs that only note how they are called;
`make nightly` runs them on localcloud (tests/e2e/test_first_hour.py).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.loaders import Loader
from botocore.model import ServiceModel

from tests.fixtures.walks import Page, read_page, walk
from tools.aws_check.__main__ import PROBES
from tools.local_root import copy_infra

_ROOT = Path(__file__).parents[3]
_PAGE = _ROOT / "docs/first-hour.md"
_FIELD, _CALL = "\x1f", "\x1e"
_PROGRAMS = ("aws", "make", "terraform")
_STUBS = f"""
note() {{ printf '%s{_FIELD}' "${{AWS_PROFILE:-}}" "$@" >> calls; printf '{_CALL}' >> calls; }}
aws() {{ note aws "$@"; touch out.json; echo arn:aws:iam::111111111111:policy/noted; }}
make() {{ note make "$@"; mkdir -p .localcloud; }}
terraform() {{ note terraform "$@"; }}
grep() {{ cat > noted; }}
"""
# Of the AWS CLI alone: their words, and the options besides those of all commands.
_OWN_COMMANDS = {("configure", "set"), ("s3", "mb")}
_OPTIONS = {"output", "profile", "query"}
_HOURS = 730  # of a month, as in docs/cost.md


@dataclass(frozen=True, slots=True)
class Call:
    """A program that the page calls, expanded by bash, and the profile that it gets."""

    profile: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Walked:
    """The page, what it called in its order, and the folder that it wrote to."""

    page: Page
    calls: tuple[Call, ...]
    folder: Path

    def of(self, program: str) -> list[Call]:
        """Return the calls of a program, without its name."""
        return [
            Call(call.profile, call.words[1:]) for call in self.calls if call.words[0] == program
        ]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    return _walk(read_page(_PAGE), tmp_path_factory.mktemp("clone"))


def _walk(page: Page, folder: Path, stubs: str = _STUBS) -> Walked:
    copy_infra(_ROOT / "infra", folder / "infra")
    for name in ("docs/deploy-policies", "lambdas/producer/events"):
        shutil.copytree(_ROOT / name, folder / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    walk([page.rehearsal, *page.steps], folder, {"PATH": path}, prelude=stubs)
    calls = (folder / "calls").read_text().split(_CALL)[:-1]
    words = [call.split(_FIELD)[:-1] for call in calls]
    return Walked(page, tuple(Call(profile, tuple(rest)) for profile, *rest in words), folder)


def test_it_calls_each_program(walked: Walked) -> None:
    assert {call.words[0] for call in walked.calls} == {*_PROGRAMS}


def test_every_operation_of_aws_and_every_option_exists(walked: Walked) -> None:
    faults = {call.words: _find_fault(call.words, walked.folder) for call in walked.of("aws")}

    assert {words: fault for words, fault in faults.items() if fault} == {}


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("ec3", "describe-vpcs"), "no service ec3"),
        (("ec2", "describe-vpc"), "ec2 knows no describe-vpc"),
        (("s3", "make"), "s3 knows no make"),
        (("iam", "create-role", "--name", "deploy"), "iam create-role knows no --name"),
        (("iam", "create-policy", "--policy-document", "file://no.json"), "no file no.json"),
        (("iam", "create-policy", "--policy-document", "{"), "policy-document is no JSON"),
        (("iam", "create-role", "--role-name", "deploy", "--query", "Role.Arn"), ""),
    ],
)
def test_a_call_of_aws_that_would_fail_is_found(words: tuple[str, ...], fault: str) -> None:
    assert _find_fault(words, _ROOT) == fault


def test_every_target_root_and_command_of_terraform_exists(walked: Walked) -> None:
    targets = re.findall(r"^([a-z%-]+):", (_ROOT / "Makefile").read_text(), re.MULTILINE)
    made = {word for call in walked.of("make") for word in call.words if "=" not in word}
    asked = {word for call in walked.of("make") for word in call.words if word.startswith("ASK=")}
    roots = {call.words[0].removeprefix("-chdir=") for call in walked.of("terraform")}
    commands = {call.words[1] for call in walked.of("terraform")}

    assert made - {*targets} == set()
    assert asked <= {f"ASK={probe.name}" for probe in PROBES}
    assert asked
    assert roots == {"infra/producer", "infra/consumer"}
    assert commands == {"init", "workspace", "apply", "destroy"}


def test_terraform_runs_as_the_deployer_of_its_own_account_alone(walked: Walked) -> None:
    profiles = {(call.words[0], call.profile) for call in walked.of("terraform")}

    assert profiles == {
        ("-chdir=infra/producer", "producer-deploy"),
        ("-chdir=infra/consumer", "consumer-deploy"),
    }


def test_the_consumer_goes_first_and_nothing_is_left(walked: Walked) -> None:
    order = [
        (call.words[1], call.words[0].rpartition("/")[2])
        for call in walked.of("terraform")
        if call.words[1] in ("apply", "destroy")
    ]

    assert order == [
        ("apply", "producer"),
        ("apply", "consumer"),
        ("destroy", "consumer"),
        ("destroy", "producer"),
    ]
    assert [*walked.folder.rglob("destroyable_override.tf")] == []


@pytest.mark.parametrize("side", ["producer", "consumer"])
def test_a_deployer_gets_each_policy_of_its_side(walked: Walked, side: str) -> None:
    made = [
        dict(zip(call.words[2::2], call.words[3::2], strict=True))
        for call in walked.of("aws")
        if call.words[:2] == ("iam", "create-policy")
    ]
    files = sorted((_ROOT / "docs/deploy-policies").glob(f"{side}-*.json"))

    given = [one["--policy-document"] for one in made if one["--profile"] == f"{side}-admin"]
    assert given == [path.read_text().strip() for path in files]
    # The names of a deployer's policies must not be ones that it may change.
    assert not any(one["--policy-name"].startswith("penstock") for one in made)


def test_in_govcloud_all_names_are_in_its_partition(tmp_path: Path) -> None:
    text, page = _PAGE.read_text(), tmp_path / "page.md"
    assert text.count("PARTITION=aws\n") == 1
    page.write_text(text.replace("PARTITION=aws\n", "PARTITION=aws-us-gov\n"))
    stubs = _STUBS.replace("arn:aws:", "arn:aws-us-gov:")

    calls = _walk(read_page(page), tmp_path, stubs).calls

    assert set(re.findall("arn:[a-z-]+:", str(calls))) == {"arn:aws-us-gov:"}


@pytest.mark.parametrize("side", ["producer", "consumer"])
def test_every_variable_is_one_of_the_root(walked: Walked, side: str) -> None:
    written = (walked.folder / "infra" / side / "terraform.tfvars").read_text()
    names = re.findall(r"^(\w+) +=", written, re.MULTILINE)
    declared = (_ROOT / "infra" / side / "variables.tf").read_text()

    assert names
    assert [name for name in names if f'variable "{name}" {{' not in declared] == []
    assert "$" not in written


@pytest.mark.parametrize(("side", "account"), [("producer", "1" * 12), ("consumer", "2" * 12)])
def test_each_state_has_the_bucket_of_its_account(walked: Walked, side: str, account: str) -> None:
    written = (walked.folder / "infra" / side / "backend_override.tf").read_text()

    assert f'"terraform-state-{account}-eu-central-1"' in written
    assert "acme" not in written
    buckets = [call.words[2] for call in walked.of("aws") if call.words[:2] == ("s3", "mb")]
    assert f"s3://terraform-state-{account}-eu-central-1" in buckets


def test_the_cost_is_that_of_the_page_of_costs() -> None:
    month = re.search(r"\*\*([\d.]+) US dollars a month\*\*", (_ROOT / "docs/cost.md").read_text())
    assert month is not None
    hour = float(month[1]) / _HOURS
    page = " ".join(_PAGE.read_text().split())

    assert f"it costs {hour:.2f} US dollars an hour**, or {hour * 24:.2f} a day" in page
    assert f"[{round(float(month[1]))} US dollars a month]" in (_ROOT / "README.md").read_text()
    assert f"two to three hours, so about {round(hour * 3)} US dollars" in page


def test_the_cluster_takes_what_the_page_of_durations_says() -> None:
    durations = (_ROOT / "docs/deploying.md").read_text()
    page = _PAGE.read_text()

    assert "| create a cluster | 30 to 40 minutes |" in durations
    assert "of which the cluster takes 30 to 40 |" in page
    assert "or its security group | 20 to 45 minutes" in durations
    assert "20 to 45 minutes for each account" in page


def _find_fault(words: tuple[str, ...], folder: Path) -> str:
    """Return what is wrong with the words behind `aws`, or nothing."""
    service, operation, *rest = words
    if (service, operation) in _OWN_COMMANDS:
        return ""
    if service in {"s3", "configure"}:
        return f"{service} knows no {operation}"
    model = _load_model("s3" if service == "s3api" else service)
    if model is None:
        return f"no service {service}"
    operations = {xform_name(each, "-"): each for each in model.operation_names}
    if operation not in operations:
        return f"{service} knows no {operation}"
    shape = model.operation_model(operations[operation]).input_shape
    known = _OPTIONS | {xform_name(member, "-") for member in shape.members}
    options = [word.removeprefix("--") for word in rest if word.startswith("--")]
    if unknown := [option for option in options if option not in known]:
        return f"{service} {operation} knows no --{unknown[0]}"
    return _find_bad_value(rest, folder)


@cache
def _load_model(service: str) -> ServiceModel | None:
    loader = Loader()
    if service not in loader.list_available_services("service-2"):
        return None
    return ServiceModel(loader.load_service_model(service, "service-2"))


def _find_bad_value(words: list[str], folder: Path) -> str:
    for option, value in pairwise(words):
        kind, _, path = value.partition("://")
        if kind in ("file", "fileb"):
            if not (folder / path).is_file():
                return f"no file {path}"
        elif option.endswith("policy-document"):
            try:
                json.loads(value)
            except ValueError:
                return f"{option.removeprefix('--')} is no JSON"
    return ""
