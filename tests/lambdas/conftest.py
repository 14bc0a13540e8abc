"""One broker, and the zips that ship, each built once for all functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.testing.mappings import broker
from tests.fixtures.snapshots import SNAPSHOT_PYTHON
from tools.build_zip import build
from tools.lambda_packages import Target

__all__ = ["broker"]


@pytest.fixture(scope="session")
def zips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zips for this machine, as localcloud takes them."""
    folder = tmp_path_factory.mktemp("zips")
    build(Target.of_host(), folder)
    return folder


@pytest.fixture(scope="session")
def snapshot_zips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zips with bytecode, for a Python that has snapshots."""
    folder = tmp_path_factory.mktemp("snapshot-zips")
    build(Target(str(SNAPSHOT_PYTHON), Target.of_host().arch), folder, with_bytecode=True)
    return folder
