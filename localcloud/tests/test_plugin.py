"""The fixtures of the pytest plug-in, by the examples of its page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from localcloud.testing import plugin

pytestmark = pytest.mark.kafka

_PAGE = Path(__file__).parents[1] / "docs/testing.md"
_EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_page_pass(tmp_path):
    examples = _EXAMPLE.findall(_PAGE.read_text())
    for number, example in enumerate(examples):
        (tmp_path / f"test_example_{number}.py").write_text(example)

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3_000:]
    assert f"{len(examples)} passed" in done.stdout
    assert len(examples) >= 5


def test_the_page_names_every_fixture():
    fixtures = {
        name
        for name, value in vars(plugin).items()
        if type(value).__name__ == "FixtureFunctionDefinition"
    }
    headings = "\n".join(re.findall(r"^## (.*)$", _PAGE.read_text(), re.MULTILINE))

    assert len(fixtures) == 7
    assert {name for name in fixtures if f"`{name}" not in headings} == set()


def test_an_example_is_short():
    lengths = [len(each.strip().splitlines()) for each in _EXAMPLE.findall(_PAGE.read_text())]

    assert max(lengths) <= 12
