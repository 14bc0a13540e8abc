"""Terraform keeps the rules that can be read from its files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.hcl import Block, read_blocks, read_file

_ROOT = Path(__file__).parents[3]
_INFRA = _ROOT / "infra"
_PARTS = [_INFRA / "modules", _INFRA / "extensions"]
_MODULES = sorted(path for part in _PARTS for path in part.iterdir() if path.is_dir())
_ROOTS = [_INFRA / "producer", _INFRA / "consumer"]
_FILES = {"main.tf", "variables.tf", "outputs.tf", "versions.tf"}
_ROOT_FILES = {"providers.tf", "backend.tf"}
_CASES = {"smallest", "full", "invalid"}
_MOST_INPUTS = 15
_MOST_INPUTS_OF_A_ROOT = 22  # it has some of its own: the account, its quotas, a company's rules
# Data sources that ask AWS for nothing.
_DATA = {"aws_iam_policy_document", "aws_region", "aws_partition"}
_OF_TERRAFORM = "terraform_data"  # a part of Terraform itself
# What AWS is asked for in a plan, by module; each has its ADR.
_LOOKED_UP = {
    "broker-exposure-privatelink": {"aws_msk_broker_nodes"},
    "lake_formation": {"aws_lakeformation_data_lake_settings"},
    "network": {"aws_availability_zones", "aws_subnet", "aws_vpc"},
    "quotas": {"aws_servicequotas_service_quota", "aws_vpcs"},
}
# An extension hands on the platform, or takes the boundary out of it; the root hands on its own.
_BOUNDARIES = {
    "local.base_platform",
    "var.permissions_boundary",
    "var.platform",
    "var.platform.permissions_boundary",
}
_LONGEST = 200
_COMMENT = re.compile(r"#.*")
_LOCAL = re.compile(r"\blocal\.(\w+)")

every_folder = pytest.mark.parametrize("folder", [*_MODULES, *_ROOTS], ids=lambda path: path.name)
every_module = pytest.mark.parametrize("module", _MODULES, ids=lambda path: path.name)
every_root = pytest.mark.parametrize("root", _ROOTS, ids=lambda path: path.name)


@every_module
def test_a_module_has_its_files_and_none_of_a_root(module: Path) -> None:
    names = {path.name for path in module.iterdir()}

    assert {*_FILES, "README.md"} - names == set()
    assert names & _ROOT_FILES == set()


@every_module
def test_a_module_shows_its_inputs_and_outputs(module: Path) -> None:
    page = (module / "README.md").read_text()

    assert "```hcl\n" in page
    assert "<!-- inputs and outputs: made by tools/check_docs.py --write -->\n" in page


@every_module
def test_the_map_of_modules_shows_a_module(module: Path) -> None:
    assert (
        f"| [{module.name}]({module.parent.name}/{module.name}/README.md) |"
        in (_INFRA / "README.md").read_text()
    )


@every_module
def test_a_module_has_its_plan_cases(module: Path) -> None:
    files = (_ROOT / "tests/infra" / module.name).glob("*.tfvars*")

    assert _CASES - {path.name.split(".")[0] for path in files} == set()


@every_folder
def test_every_role_gets_the_permissions_boundary(folder: Path) -> None:
    roles = [one for one in read_blocks(folder, "resource") if one.labels[0] == "aws_iam_role"]
    calls = [
        one
        for one in read_blocks(folder, "module")
        if _takes_a_boundary(folder / one.arguments["source"].strip('"'))
    ]
    given = [
        one.arguments.get("permissions_boundary", one.arguments.get("platform"))
        for one in (*roles, *calls)
    ]

    assert set(given) <= _BOUNDARIES
    assert bool(given) == _takes_a_boundary(folder)


@every_folder
def test_objects_have_no_tags(folder: Path) -> None:
    """S3 takes ten of them, and the policies of deployers have no right to any."""
    objects = [one for one in read_blocks(folder, "resource") if one.labels[0] == "aws_s3_object"]

    assert [one.name for one in objects if "override_provider" not in one.body] == []


@pytest.mark.parametrize(
    "extension", sorted((_INFRA / "extensions").iterdir()), ids=lambda it: it.name
)
def test_the_consumers_root_knows_no_extension(extension: Path) -> None:
    files = (_INFRA / "consumer").glob("*.tf")
    word = re.compile(rf"\b{extension.name}\b")

    assert [path.name for path in files if word.search(_COMMENT.sub("", path.read_text()))] == []


@every_root
def test_a_root_only_wires(root: Path) -> None:
    assert _FILES | _ROOT_FILES <= {path.name for path in root.iterdir()}
    assert [block.labels for block in read_blocks(root, "resource")] == []


@every_folder
def test_the_only_provider_is_that_of_aws(folder: Path) -> None:
    text = (folder / "versions.tf").read_text()

    assert re.findall(r'source += "(.*)"', text) == ["hashicorp/aws"]
    assert re.findall(r'  version += "(.*)"', text) == ["~> 5.100"]
    used = {block.labels[0] for block in read_blocks(folder, "resource", "data")}
    assert {kind.split("_")[0] for kind in used - {_OF_TERRAFORM}} <= {"aws"}


@every_folder
def test_nothing_is_run_and_nothing_else_is_looked_up(folder: Path) -> None:
    looked_up = {block.labels[0] for block in read_blocks(folder, "data")}

    assert not any("provisioner " in block.body for block in read_blocks(folder, "resource"))
    assert looked_up - _DATA == _LOOKED_UP.get(folder.name, set())


@every_folder
def test_inputs_are_few_and_typed(folder: Path) -> None:
    types = {
        block.name: block.arguments.get("type", "") for block in read_blocks(folder, "variable")
    }

    assert len(types) <= (_MOST_INPUTS_OF_A_ROOT if folder in _ROOTS else _MOST_INPUTS)
    assert [name for name, kind in types.items() if not kind or re.search(r"\bany\b", kind)] == []


@every_folder
@pytest.mark.parametrize("kind", ["variable", "output"])
def test_inputs_and_outputs_are_in_order_and_described(folder: Path, kind: str) -> None:
    blocks = list(read_blocks(folder, kind))
    names = [block.name for block in blocks]

    assert names == sorted(names)
    assert [block.name for block in blocks if not _is_sentence(block)] == []
    assert {
        path.name for path in folder.glob("*.tf") if f'\n{kind} "' in f"\n{path.read_text()}"
    } <= {f"{kind}s.tf"}


@every_folder
def test_descriptions_are_short(folder: Path) -> None:
    texts = {
        one.name: one.arguments["description"] for one in read_blocks(folder, "variable", "output")
    }
    long = {name for name, text in texts.items() if len(text.strip('"')) > _LONGEST}

    assert long == set()


@every_folder
def test_a_resource_is_not_named_after_its_type(folder: Path) -> None:
    resources = [block.labels for block in read_blocks(folder, "resource")]

    assert [(kind, name) for kind, name in resources if f"_{kind}".endswith(f"_{name}")] == []


@every_folder
def test_locals_come_in_order_of_derivation(folder: Path) -> None:
    for path in folder.glob("*.tf"):
        names = [name for name, _ in _locals(path)]
        for index, (name, value) in enumerate(_locals(path)):
            assert set(_LOCAL.findall(value)) & set(names[index:]) == set(), name


@every_folder
def test_locals_for_other_locals_alone_begin_with_an_underscore(folder: Path) -> None:
    names = {name for path in folder.glob("*.tf") for name, _ in _locals(path)}
    others = "".join(block.body for block in read_blocks(folder) if block.kind != "locals")
    used = set(_LOCAL.findall(others))

    assert {name for name in names - used if not name.startswith("_")} == set()
    assert {name for name in used if name.startswith("_")} == set()


def _takes_a_boundary(folder: Path) -> bool:
    return any(
        "permissions_boundary" in (block.name, *block.body.split())
        for block in read_blocks(folder, "variable")
    )


def _is_sentence(block: Block) -> bool:
    text = block.arguments.get("description", "").strip('"')
    return text[:1] == text[:1].upper() and text.endswith(".") and ". " not in text


def _locals(path: Path) -> Iterator[tuple[str, str]]:
    """Go through the locals of a file in their order."""
    for block in read_file(path):
        if block.kind == "locals":
            yield from block.arguments.items()
