"""The first command of the README prints what the README shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.kafka

_ROOT = Path(__file__).parents[2]
_FIRST_TRY = re.compile(
    r"^\S+ (examples/\S+ [^\n]*)\n```\n\n```text\n(.*?)```", re.MULTILINE | re.DOTALL
)


def test_the_first_try_prints_what_the_readme_shows() -> None:
    shown = _FIRST_TRY.search((_ROOT / "README.md").read_text())
    assert shown is not None

    ran = subprocess.run(
        [sys.executable, *shlex.split(shown[1])],
        cwd=_ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert ran.returncode == 1, ran.stderr  # one of the events is refused
    assert _masked(ran.stdout) == _masked(shown[2])


def _masked(text: str) -> str:
    return re.sub(r"'timestamp': \d+", "'timestamp': NOW", text)
