"""Run Terraform with the provider for AWS from a mirror on this machine, or from the internet.

Usage: tools/terraform.py check                      format, and validity of each root and module
       tools/terraform.py fetch                      the provider into .cache, without a mirror
       tools/terraform.py -chdir=infra/producer init  (or plan, apply, any other words)

A mirror is a folder with the unpacked provider in one of the usual places, or what TF_PLUGIN_DIR
names. Terraform then takes no provider from elsewhere: in a root that needs others, call
`terraform init` itself.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.hcl import read_blocks

VERSION = "5.100.0"  # of the provider, as in the roots

_ROOT = Path(__file__).parents[1]
_KEPT = _ROOT / ".cache/terraform"
_TERRAFORM_AT_ONCE = 2
_ALIASES = re.compile(r"configuration_aliases = \[(.*)\]")
_PROVIDER = Path("registry.terraform.io", "hashicorp", "aws")
_SYSTEM_PLACES = ("/opt", "/usr/local", "/usr/local/share", "/usr/share", "/var/lib")
_USER_PLACES = ("", ".local/share", ".terraform.d")
_DEPTHS = ("", "*", "*/*")
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_INIT = ("init", "-input=false")
_NEEDED = """terraform {{
  required_providers {{
    aws = {{ source = "hashicorp/aws", version = "{version}" }}
  }}
}}
"""
_OFFLINE = "Without Terraform's registry: set TF_PLUGIN_DIR to a folder with the unpacked provider"


def main() -> int:
    """Check everything, or pass the words to Terraform and return its exit code."""
    words = sys.argv[1:]
    if not words or words[0] in {"-h", "--help"}:
        print(__doc__)
        return 0
    if words == ["check"]:
        problems = check(_ROOT / "infra")
        print("\n\n".join(problems), end="\n" if problems else "", file=sys.stderr)
        return 1 if problems else 0
    if words == ["fetch"]:
        return fetch_provider(VERSION, os.environ)
    if "init" in words:
        at = words.index("init")
        words[at : at + 1] = init_words(VERSION, os.environ)
    environ = child_environ(os.environ)
    return subprocess.run(["terraform", *words], env=environ, check=False).returncode


def check(infra: Path) -> list[str]:
    """Return the problems that Terraform finds, in a copy, so that no `.terraform` stays behind.

    Each root is validated by itself, and modules and extensions, called by a generated root each.
    """
    problems = [
        f"{infra.name}/{name}: run `terraform fmt` on it"
        for name in _run("fmt", "-check", "-recursive", folder=infra)
    ]
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, infra.name)
        shutil.copytree(infra, copy, ignore=shutil.ignore_patterns(".terraform*", "*_override.tf"))
        for parts in (copy / "extensions", copy / "modules"):
            if parts.is_dir():
                (parts / "calls.tf").write_text(_call(sorted(parts.glob("*/"))))
        folders = sorted({path.parent for path in copy.glob("*/*.tf")})
        with ThreadPoolExecutor(_TERRAFORM_AT_ONCE) as pool:
            for folder, said in zip(folders, pool.map(_validate, folders), strict=True):
                name = folder.relative_to(temporary)
                problems += ["\n".join([f"{name}: invalid", *said])] if said else []
    return problems


def _call(modules: list[Path]) -> str:
    """Return a root that calls modules with arguments that are unknown at plan."""
    calls, passed = ['resource "terraform_data" "later" {}'], set()
    for module in modules:
        aliases = _ALIASES.findall((module / "versions.tf").read_text())
        names = {name.strip() for found in aliases for name in found.split(",")}
        passed |= names
        lines = [f'module "{module.name}" {{', f'  source = "./{module.name}"']
        if names:
            pairs = ", ".join(f"{name} = {name}" for name in sorted({"aws", *names}))
            lines.append(f"  providers = {{ {pairs} }}")
        inputs = (block.name for block in read_blocks(module, "variable"))
        lines += [f"  {name} = terraform_data.later.output" for name in inputs]
        calls.append("\n".join([*lines, "}"]))
    aliases = [name.partition(".")[2] for name in sorted(passed)]
    calls += [f'provider "aws" {{\n  alias = "{alias}"\n}}' for alias in aliases]
    return "\n".join([*calls, 'provider "aws" {}', ""])


def _validate(folder: Path) -> list[str]:
    init = [*init_words(VERSION, os.environ), "-backend=false", "-no-color"]
    return _run(*init, folder=folder) or _run("validate", "-no-color", folder=folder)


def _run(*words: str, folder: Path) -> list[str]:
    """Run Terraform in a folder, and return its output if it fails."""
    environ = {**child_environ(os.environ), "TF_DATA_DIR": ".terraform"}
    done = subprocess.run(
        ["terraform", *words], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip().splitlines() if done.returncode else []


def fetch_provider(version: str, environ: Mapping[str, str]) -> int:
    """Download the provider into this clone for all its roots, where no mirror has it.

    Returns:
        The exit code of Terraform.
    """
    words = init_words(version, environ)
    if len(words) > len(_INIT):
        return 0
    print("==> The AWS provider of Terraform into .cache/terraform", flush=True)
    shutil.rmtree(_KEPT, ignore_errors=True)
    _KEPT.mkdir(parents=True)
    (_KEPT / "main.tf").write_text(_NEEDED.format(version=version))
    if said := _run(*words, "-no-color", folder=_KEPT):
        print("\n".join(said), _OFFLINE, sep="\n", file=sys.stderr)
        return 1
    (_KEPT / ".terraform/providers").rename(_KEPT / "providers")
    return 0


def init_words(version: str, environ: Mapping[str, str]) -> list[str]:
    """Return the words of `terraform init`, with a mirror if one is found."""
    found = environ.get("TF_PLUGIN_DIR") or find_mirror(version, usual_places())
    return [*_INIT, f"-plugin-dir={found}"] if found else [*_INIT]


def find_mirror(version: str, places: Iterable[Path]) -> Path | None:
    """Return a folder with the unpacked provider, in the places or at most two levels below.

    A root's `.terraform` is not a mirror: it is deleted with that root.
    """
    machine = platform.machine().lower()
    target = f"{platform.system().lower()}_{_MACHINES.get(machine, machine)}"
    unpacked = _PROVIDER / version / target
    for place in places:
        for depth in _DEPTHS:
            for found in sorted(place.glob(str(Path(depth) / unpacked))):
                if ".terraform" not in found.parts:
                    return found.parents[len(unpacked.parts) - 1]
    return None


def usual_places() -> list[Path]:
    """Return the folders of the system, the user and this clone that may hold a mirror."""
    return [*map(Path, _SYSTEM_PLACES), *(Path.home() / place for place in _USER_PLACES), _KEPT]


def child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without a missing TF_CLI_CONFIG_FILE: each command would warn."""
    name = "TF_CLI_CONFIG_FILE"
    absent = name in environ and not Path(environ[name]).is_file()
    return {key: value for key, value in environ.items() if not (absent and key == name)}


if __name__ == "__main__":
    sys.exit(main())
