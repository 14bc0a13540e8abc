"""Plan cases: a module, the arguments it is called with, and what Terraform would make of them.

A case is a pair of files in tests/infra/MODULE: CASE.tfvars (or CASE.tfvars.json) holds the
arguments, CASE.yaml what is expected. An argument may be `terraform_data.later.output`, which is
known after apply only, `data.aws_vpc.existing.id` of existing.hcl, `local.contract` of
contract.hcl, and a path such as `../../tests/data/tiny.zip`, as in a module's README.
The two roots are called like modules. Their `full` and `smallest` configure the providers
themselves; other cases take those of all cases, since each is a process. Extensions take
`local.platform` of platform.hcl, or of producer_platform.hcl in the producer's account.

The cases of a run are modules of a few roots for each account and are planned together: one root
for each case takes far more CPU time, and one root for all cases half as much again. One provider
for all (`TF_REATTACH_PROVIDERS`) keeps only one configuration, and `terraform test` with mocks
loses what the provider checks in a plan.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures.terraform import Diagnostic, read_errors
from tests.infra.planned import Plan, read_plans
from tools.hcl import read_blocks
from tools.local_root import copy_infra, local_environ, run_terraform
from tools.terraform import VERSION, init_words

ROOT = Path(__file__).parents[2]

_CASES = Path(__file__).parent
_EXTENSIONS = ROOT / "infra/extensions"
_EXISTING = (_CASES / "existing.hcl").read_text()
CONTRACT = (_CASES / "contract.hcl").read_text()
_PLATFORM = (_CASES / "platform.hcl").read_text()
_PRODUCERS_PLATFORM = (_CASES / "producer_platform.hcl").read_text()
# Cases of extensions in the producer's account.
_OF_PRODUCER = re.compile(r"cdc(-|$)|dashboard-full")
_BY_IAM = "invalid-by-iam"
_EXTENDED = "extended"  # by the calls of the root's example
# Roots with and without all arguments: each provider of their own is two processes.
_WITH_PROVIDERS = ("full", "smallest")
_SUFFIXES = (".tfvars", ".tfvars.json")
# Terraform compares the edges of all nodes with each other: in a root with all cases, that and
# collecting garbage are more than half of the work.
_CASES_IN_A_ROOT = 40
_TERRAFORM_AT_ONCE = 2
_EXTENDING = ROOT / "docs/extending.md"
_FILE = re.compile(r"# (infra/extensions/\S+)\n")
_HCL = re.compile(r"^```hcl\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PRODUCER, _CONSUMER = "111111111111", "222222222222"
_BUILT = (
    "access-lambda",
    "consumer-lambda",
    "debezium-postgres-glue-plugin",
    "debezium-postgres-plugin",
    "penstock-packages",
    "penstock-pyfiles",
    "producer-lambda",
    "quality-lambda",
    "retry-lambda",
    "status-lambda",
    "sync-lambda",
)
_PROVIDERS = """
provider "aws" {
  region = "eu-central-1"
}

provider "aws" {
  alias  = "producer"
  region = "eu-central-1"
}
"""
_CALL = """
module "{name}" {{
  source    = "./{name}/roots/this"
  providers = {{ aws = aws, aws.producer = aws.producer }}
}}

output "{name}" {{
  value     = module.{name}
  sensitive = true
}}
"""
_SHARED = """
terraform {
  required_providers {
    aws = {
      source                = "hashicorp/aws"
      configuration_aliases = [aws, aws.producer]
    }
  }
}
"""
_GROUND = f"""{_SHARED}
resource "terraform_data" "later" {{
  input = "known after apply"
}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """The arguments of one call of a module, in a file."""

    module: str
    name: str
    arguments: Path

    def __str__(self) -> str:
        return f"{self.module}-{self.name}"

    @property
    def root(self) -> str:
        """A module that calls the case's with the arguments and shows all its outputs."""
        module = module_folder(self.module)
        blocks = list(read_blocks(module))
        both = self.shares_providers or any("configuration_aliases" in one.body for one in blocks)
        lines = [
            'module "this" {',
            f'  source = "../../{module.relative_to(ROOT)}"',
            *(["  providers = { aws = aws, aws.producer = aws.producer }"] if both else []),
            _read_arguments(self.arguments),
            "}",
        ]
        for output in (one.name for one in blocks if one.kind == "output"):
            value = f"  value = module.this.{output}"
            lines += [f'output "{output}" {{', value, "  sensitive = true", "}"]
        lines += [_find_platform(str(self))[0]] if self.takes_platform else []
        lines += [_EXISTING] if "data.aws_vpc.existing" in self.arguments.read_text() else []
        lines += [CONTRACT] if "local.contract" in self.arguments.read_text() else []
        return "\n".join(lines)

    @property
    def takes_platform(self) -> bool:
        """Return whether the module is an extension, or is for extensions only."""
        return "local.platform" in self.arguments.read_text()

    @property
    def is_root(self) -> bool:
        """Return whether the module is one of the two roots."""
        return (ROOT / "infra" / self.module).is_dir()

    @property
    def is_refused(self) -> bool:
        """Return whether an argument is refused."""
        return self.name.startswith("invalid")

    @property
    def shares_providers(self) -> bool:
        """Whether it is a root that is planned with the providers of all cases, not its own."""
        return self.is_root and self.name not in _WITH_PROVIDERS

    @property
    def account(self) -> str:
        """Whose plan it is.

        The consumer's root refuses all accounts but its own. In the producer's, IAM alone decides
        on the Glue catalog.
        """
        if self.name == _BY_IAM:
            return _PRODUCER
        if self.takes_platform:
            return _find_platform(str(self))[1]
        return _CONSUMER if self.module == "consumer" else _PRODUCER

    @property
    def expected(self) -> Path:
        """Where the expected values, counts, outputs or errors are written."""
        return self.arguments.parent / f"{self.name}.yaml"

    @property
    def policies(self) -> Path:
        """Where the expected policies are written."""
        return self.arguments.parent / f"{self.name}.policies.yaml"


@dataclass(frozen=True, slots=True)
class Example:
    """A block of HCL in a README."""

    readme: Path
    number: int
    root: str
    account: str = _PRODUCER
    is_refused: bool = False
    shares_providers: bool = False

    def __str__(self) -> str:
        return f"readme-{self.readme.parent.name}-{self.number}"


_Cases = Mapping[str, Case | Example]


class Planner:
    """Plans cases of an account in a root, where each is a module, in a copy of infra."""

    def __init__(self, folder: Path, endpoint: str) -> None:
        """Copy what a case may refer to into the folder; all calls go to the endpoint."""
        self._folder = folder
        self._endpoint = endpoint
        self._pool = ThreadPoolExecutor(_TERRAFORM_AT_ONCE)
        self._plans: dict[str, Future[dict[str, Plan]]] = {}
        self._numbers = itertools.count()
        copy_infra(ROOT / "infra", folder / "infra")
        for path, text in _read_worked_extension().items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text)
        shutil.copytree(ROOT / "tests/data", folder / "tests/data")
        (folder / "build").mkdir()  # where the roots look for what `make build` makes
        for name in _BUILT:
            shutil.copy(ROOT / "tests/data/tiny.zip", folder / f"build/{name}.zip")
        (folder / "jars/spark/lib").mkdir(parents=True)
        shutil.copy(ROOT / "tests/data/tiny.zip", folder / "jars/spark/lib/tiny-1.0.jar")
        for programs in ("examples", "jobs"):
            shutil.copytree(ROOT / programs, folder / programs)

    def start(self, cases: Iterable[Case | Example]) -> None:
        """Begin to plan the cases, but for those that were begun already."""
        fresh = {str(case): case for case in cases if str(case) not in self._plans}
        for part in _divide(fresh):
            self._plans |= dict.fromkeys(part, self._pool.submit(self._plan, part))

    def plan(self, case: Case | Example) -> Plan:
        """Return a case's plan, as soon as it is made."""
        self.start([case])
        return self._plans[str(case)].result()[str(case)]

    def stop(self) -> None:
        """Plan no more."""
        self._pool.shutdown(cancel_futures=True)

    def _plan(self, cases: _Cases) -> dict[str, Plan]:
        """Plan cases in one root; a case that has errors keeps no other from its plan."""
        root = self._write(cases)
        account = next(iter(cases.values())).account
        init = [*init_words(VERSION, os.environ), "-json"]
        errors = self._try(root, account, *init) or self._try(
            root, account, "plan", "-out=plan", "-json"
        )
        told: dict[str, tuple[str, ...]] = {}
        for error in errors:
            name, _, place = error.place.partition("/")
            for mine in [name] if name in cases else cases:  # an error of no case is told by all
                text = f"{place or error.place or 'terraform'}: {error.text}"
                told[mine] = (*told.get(mine, ()), text)
        failed = {name: Plan({}, {}, {}, texts) for name, texts in told.items()}
        rest = {name: case for name, case in cases.items() if name not in failed}
        if rest and (root / "plan").exists():  # of what is independent of the errors
            shown = self._run(root, account, "show", "-json", "plan").stdout
            return read_plans(json.loads(shown)) | failed
        return (self._plan(rest) if rest else {}) | failed

    def _write(self, cases: _Cases) -> Path:
        """Write a root that calls cases, each in a copy of infra that its errors name."""
        root = self._folder / f"roots/{next(self._numbers)}"
        for name, case in cases.items():
            shutil.copytree(self._folder / "infra", root / name / "infra", copy_function=os.link)
            if case.shares_providers:
                own = root / name / "infra" / case.module
                for file in (own / "providers.tf", own / "versions.tf"):
                    file.unlink()  # a link, whose file stays
                (own / "versions.tf").write_text(_SHARED)
                if case.name == _EXTENDED:
                    shutil.copy(own / "extensions.tf.example", own / "extensions.tf")
            module = root / name / "roots/this/main.tf"
            module.parent.mkdir(parents=True)
            module.write_text(f"{case.root}\n{_GROUND}")
        calls = [_CALL.format(name=name) for name in cases]
        (root / "main.tf").write_text("".join([_PROVIDERS, *calls]))
        return root

    def _try(self, root: Path, account: str, *words: str) -> list[Diagnostic]:
        done = self._run(root, account, *words)
        errors = read_errors(done.stdout)
        return errors or [Diagnostic(done.stderr, "")] * (done.returncode != 0)

    def _run(self, root: Path, account: str, *words: str) -> subprocess.CompletedProcess[str]:
        return run_terraform(root, local_environ(self._endpoint, account, "eu-central-1"), *words)


def _divide(cases: _Cases) -> Iterator[_Cases]:
    """Divide cases into those of a root each. One with errors is planned again without them."""
    by_kind: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name, case in cases.items():
        by_kind[case.account, case.is_refused].append(name)
    for names in by_kind.values():
        roots = math.ceil(len(names) / _CASES_IN_A_ROOT)
        for number in range(roots):
            yield {name: cases[name] for name in names[number::roots]}


def find_cases() -> list[Case]:
    """List the cases of all modules."""
    files = [path for suffix in _SUFFIXES for path in _CASES.glob(f"*/*{suffix}")]
    cases = [Case(path.parent.name, path.name.split(".")[0], path) for path in files]
    return sorted(cases, key=str)


def find_examples() -> list[Example]:
    """List the blocks of HCL in the READMEs of the clone and of its modules, and a worked call."""
    readmes = [ROOT / "README.md", _EXTENDING, *sorted(ROOT.glob("infra/*/*/README.md"))]
    return [
        _read_example(readme, number, block)
        for readme in readmes
        for number, block in enumerate(_HCL.findall(readme.read_text()))
        if not _FILE.match(block)
    ]


def _read_worked_extension() -> dict[str, str]:
    """Read the files of the extension that a page works out, by path."""
    blocks = _HCL.findall(_EXTENDING.read_text())
    return {found[1]: block for block in blocks if (found := _FILE.match(block))}


def module_folder(name: str) -> Path:
    """Find a module, an extension, or one of the two roots, which can be called like one."""
    folders = [ROOT / "infra/modules" / name, _EXTENSIONS / name, ROOT / "infra" / name]
    return next(folder for folder in folders if folder.is_dir())


def rewrite_command(case: Case) -> str:
    """Write the command that brings a case's YAML files up to date."""
    test = Path(__file__).with_name("test_plans.py").relative_to(ROOT)
    return f"REWRITE=1 .venv/bin/pytest {test} -k {case}"


def rewriting() -> bool:
    """Say whether expectations are to be rewritten instead of compared."""
    return os.environ.get("REWRITE") == "1"


def _read_example(readme: Path, number: int, block: str) -> Example:
    """Read a block, as it stands in a module's page, or in extensions.tf with the platform."""
    if "local.platform" not in block:
        return Example(readme, number, block)
    call = block.replace('"../extensions/', '"../../infra/extensions/')
    platform, account = _find_platform(readme.parent.name)
    return Example(readme, number, f"{call}\n{platform}", account)


def _find_platform(name: str) -> tuple[str, str]:
    """Return the platform that an extension takes in a case, and whose it is."""
    if _OF_PRODUCER.match(name):
        return _PRODUCERS_PLATFORM, _PRODUCER
    return _PLATFORM, _CONSUMER


def _read_arguments(path: Path) -> str:
    if path.suffix != ".json":
        return path.read_text()
    values = json.loads(path.read_text())
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in values.items())
