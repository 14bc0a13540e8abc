"""Every command that the README and its kin tell a reader to type exists, and the costs add up."""

from __future__ import annotations

import importlib.util
import math
import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from botocore import xform_name
from botocore.loaders import Loader
from botocore.model import ServiceModel

from penstock.cli.command import _TASKS
from penstock.cli.commands import find_commands

_ROOT = Path(__file__).parents[3]
_COMMANDS = {command for commands in _TASKS.values() for command in commands}
_KNOWN = {*_COMMANDS, *find_commands()}
_PAGES = [
    page
    for pattern in ("*.md", "docs/*.md", "docs/operate/*.md", "infra/**/*.md", "lambdas/*/*.md")
    for page in sorted(_ROOT.glob(pattern))
    if "```sh\n" in page.read_text()
]
_TERRAFORM = {"init", "plan", "apply", "destroy", "output", "state", "untaint", "workspace"}
_TARGETS = [
    target.replace("%", "?*")
    for target in re.findall(r"^([a-z%-]+):", (_ROOT / "Makefile").read_text(), re.MULTILINE)
]


def _commands(text: str) -> list[str]:
    """The lines of the README's `sh` blocks, without comments."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    text = "".join(blocks).replace("\\\n", " ")
    lines = [line.split("  #")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def _fault(command: str) -> str:
    """What is wrong with a command, or nothing."""
    fault = ""
    match shlex.split(command):
        case ["git", "clone", *_] | ["cd" | "jq", *_] | ["kubectl", "create" | "logs", *_]:
            pass
        case ["penstock", "rejected", "list" | "replay", *_] | ["python3", "-c", *_]:
            pass
        case ["eval", inner]:
            fault = _fault(inner.removeprefix("$(").removesuffix(")"))
        case ["make", *words]:
            targets = [word for word in words if "=" not in word]
            unknown = [
                target
                for target in targets
                if not any(fnmatchcase(target, known) for known in _TARGETS)
            ]
            fault = f"no target {unknown} in the Makefile" if unknown else ""
        case [".venv/bin/python", "tools/terraform.py", *words] | ["terraform", *words]:
            fault = _terraform_fault(words)
        case [".venv/bin/python", "-m", module, *_]:
            fault = "" if importlib.util.find_spec(module) else f"no module {module}"
        case (
            [".venv/bin/python" | "cp", path, *_]
            | ["docker", "build", "-f", path, *_]
            | ["kubectl", "apply", "-f", path]
        ):
            fault = "" if (_ROOT / path).is_file() else f"no file {path}"
        case ["aws" | ".venv/bin/aws", service, operation, *words]:
            fault = _aws_fault(service, operation, words)
        case ["penstock", command, *_]:
            fault = "" if command in _KNOWN else f"penstock knows no {command}"
        case [program, *_]:
            fault = f"{program} is not a program this test knows how to look up"
    return fault


def _terraform_fault(words: list[str]) -> str:
    chosen, *rest = words
    # The roots of the demo are copies.
    folder = chosen.removeprefix("-chdir=").replace(".localcloud/terraform/", "infra/")
    if not chosen.startswith("-chdir=") or not (_ROOT / folder / "backend.tf").is_file():
        return f"terraform needs -chdir= of a root, found {chosen}"
    return "" if rest[:1] and rest[0] in _TERRAFORM else f"terraform knows no {rest[:1]}"


def _aws_fault(service: str, operation: str, words: list[str]) -> str:
    loader, service = Loader(), "s3" if service == "s3api" else service
    if service not in loader.list_available_services("service-2"):
        return f"aws knows no service {service}"
    model = ServiceModel(loader.load_service_model(service, "service-2"))
    if operation.replace("-", "_") not in map(xform_name, model.operation_names):
        return f"aws {service} knows no {operation}"
    files = [word.partition("://")[2] for word in words if word.startswith(("file:", "fileb:"))]
    gone = [path for path in files if not (_ROOT / path).is_file()]
    return f"no file {gone[0]}" if gone else ""


@pytest.mark.parametrize("page", _PAGES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_every_command_exists(page: Path) -> None:
    commands = _commands(page.read_text())
    made = [f"no file {words[-1]}" for words in map(shlex.split, commands) if words[-2:-1] == [">"]]
    faults = {command: _fault(command) for command in commands}

    assert commands
    assert {each: fault for each, fault in faults.items() if fault and fault not in made} == {}


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("make nothing", "no target ['nothing'] in the Makefile"),
        ('make test ARGS="-k x"', ""),
        ("make submit-replay", ""),
        ("make submit-", "no target ['submit-'] in the Makefile"),
        (".venv/bin/python -m no_such_module", "no module no_such_module"),
        (".venv/bin/python examples/no_such_file.py x", "no file examples/no_such_file.py"),
        ('eval "$(make nothing)"', "no target ['nothing'] in the Makefile"),
        ("terraform -chdir=infra/producer apply", ""),
        ("terraform -chdir=infra/nowhere apply", "terraform needs -chdir= of a root"),
        ("terraform apply", "terraform needs -chdir= of a root, found apply"),
        ("terraform -chdir=infra/consumer aply", "terraform knows no ['aply']"),
        (".venv/bin/python tools/terraform.py -chdir=infra/consumer init", ""),
        (".venv/bin/python tools/terraform.py -chdir=infra/modules init", "terraform needs"),
        ("cp infra/nothing.example infra/nothing", "no file infra/nothing.example"),
        ("kubectl apply -f nothing.yaml", "no file nothing.yaml"),
        ("aws ec2 describe-availability-zones --region eu-central-1", ""),
        ("aws ec3 describe-availability-zones", "aws knows no service ec3"),
        ("aws ec2 describe-zones", "aws ec2 knows no describe-zones"),
        ("aws lambda invoke --payload fileb://no.json out.json", "no file no.json"),
        ("penstock read sensor", ""),
        ("penstock write sensor", "penstock knows no write"),
        ("curl x", "curl is not a program this test knows how to look up"),
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str, fault: str) -> None:
    found = _fault(command)

    assert found.startswith(fault)
    assert bool(found) == bool(fault)


def test_comments_and_other_blocks_are_not_commands() -> None:
    text = "```sh\n# a note\nmake test  # all\nmake \\\n  up\n```\n```text\nmake nothing\n```\n"

    assert _commands(text) == ["make test", "make    up"]


def test_the_readme_is_short() -> None:
    assert len((_ROOT / "README.md").read_text().split()) <= 1200


def test_the_costs_add_up() -> None:
    page = (_ROOT / "docs/cost.md").read_text()
    rows = re.findall(r"^\| .* \| (\d+ x .*) \| ([\d.]+) \|$", page, re.MULTILINE)
    totals = re.findall(r"\*\*([\d.]+) US dollars a month\*\*", page)

    assert len(rows) >= 5
    for factors, amount in rows:
        assert math.prod(map(float, factors.split(" x "))) == pytest.approx(
            float(amount), abs=0.005
        )
    assert totals == [f"{sum(float(amount) for _, amount in rows):.2f}"]
