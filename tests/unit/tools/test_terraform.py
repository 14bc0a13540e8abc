"""A mirror of the provider is found by its shape; without one Terraform asks the internet."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tools import terraform
from tools.terraform import child_environ, find_mirror, init_words, usual_places

_VERSION = "5.100.0"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a machine of a known kind."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def _unpack(mirror: Path, version: str = _VERSION, target: str = "linux_amd64") -> Path:
    (mirror / "registry.terraform.io/hashicorp/aws" / version / target).mkdir(parents=True)
    return mirror


@pytest.mark.parametrize("below", ["", "plugins", "terraform/plugins", ".terraform.d/plugins"])
def test_a_mirror_is_found_at_most_two_levels_below(tmp_path: Path, below: str) -> None:
    mirror = _unpack(tmp_path / below)

    assert find_mirror(_VERSION, [tmp_path / "absent", tmp_path]) == mirror


@pytest.mark.parametrize(
    "elsewhere",
    ["one/two/three", ".terraform/providers", ".terraform", "root/.terraform"],
)
def test_deeper_trees_and_those_of_a_root_are_no_mirrors(tmp_path: Path, elsewhere: str) -> None:
    _unpack(tmp_path / elsewhere)

    assert find_mirror(_VERSION, [tmp_path]) is None


@pytest.mark.parametrize(
    "other",
    [{"version": "5.99.0"}, {"target": "darwin_arm64"}],
    ids=["version", "machine"],
)
def test_a_mirror_of_something_else_is_passed_over(tmp_path: Path, other: dict[str, str]) -> None:
    _unpack(tmp_path / "a", **other)
    fitting = _unpack(tmp_path / "b")

    assert find_mirror(_VERSION, [tmp_path]) == fitting


def test_the_nearest_of_the_first_place_is_taken(tmp_path: Path) -> None:
    _unpack(tmp_path / "first/a/b")
    near = _unpack(tmp_path / "first/z")
    _unpack(tmp_path / "second")

    assert find_mirror(_VERSION, [tmp_path / "first", tmp_path / "second"]) == near


def test_machines_are_named_as_terraform_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    mirror = _unpack(tmp_path, target="darwin_arm64")

    assert find_mirror(_VERSION, [tmp_path]) == mirror


def test_the_users_own_folders_are_places_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert {tmp_path, tmp_path / ".local/share", tmp_path / ".terraform.d"} < set(usual_places())
    assert Path("/usr/local/share") in usual_places()


def test_init_takes_the_given_folder_then_a_mirror_then_the_internet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ["init", "-input=false"]
    monkeypatch.setattr(terraform, "usual_places", lambda: [tmp_path])

    assert init_words(_VERSION, {}) == plain
    assert init_words(_VERSION, {"TF_PLUGIN_DIR": "given"}) == [*plain, "-plugin-dir=given"]
    _unpack(tmp_path)
    assert init_words(_VERSION, {}) == [*plain, f"-plugin-dir={tmp_path}"]
    assert init_words(_VERSION, {"TF_PLUGIN_DIR": "given"}) == [*plain, "-plugin-dir=given"]


def test_a_configuration_file_that_is_absent_is_not_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "terraformrc"
    environ = {"TF_CLI_CONFIG_FILE": str(file), "PATH": "/bin"}

    assert child_environ(environ) == {"PATH": "/bin"}
    file.touch()
    assert child_environ(environ) == environ
    assert child_environ({"PATH": "/bin"}) == {"PATH": "/bin"}
