"""The version is told once: package, pyproject and changelog agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import localcloud
import penstock

_ROOT = Path(__file__).parents[3]


def test_package_pyproject_and_changelog_agree() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    released = re.findall(r"^## \[(\d.*?)\]", (_ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)

    assert penstock.__version__ == project["version"] == released[0]


def test_localcloud_has_a_version_of_its_own() -> None:
    project = tomllib.loads((_ROOT / "localcloud/pyproject.toml").read_text())["project"]
    released = re.findall(
        r"^## (\d\S*)", (_ROOT / "localcloud/CHANGELOG.md").read_text(), re.MULTILINE
    )

    assert localcloud.__version__ == project["version"] == released[0]
