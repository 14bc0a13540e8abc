"""A job whose Python lacks a package ends with one sentence that names it."""

from __future__ import annotations

import subprocess
import venv
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from penstock.errors import JobError
from penstock.packages import explain_missing_packages

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """An interpreter with PySpark and nothing else: EMR's may be one."""
    home = tmp_path_factory.mktemp("bare")
    venv.EnvBuilder(symlinks=True).create(home)
    (target,) = home.glob("lib/python3*/site-packages")
    for name in ("pyspark", "py4j", "kafka"):  # kafka-python travels with the job
        (target / name).symlink_to(Path(find_spec(name).origin).parent)
    return home / "bin" / "python3"


@pytest.mark.parametrize(
    "job", sorted((_ROOT / "jobs").glob("[!_]*.py")), ids=lambda path: path.stem
)
def test_each_job_names_the_package_that_its_python_lacks(job, bare_python):
    run = subprocess.run(
        [bare_python, job],
        env={"PYTHONPATH": str(_ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )

    start = "penstock.errors.JobError: found no package botocore for the job in Python"
    said = run.stderr.splitlines()[-1]
    assert said.startswith(f"{start} 3.")
    assert f" at {bare_python} with Spark 4" in said


def test_a_submodule_is_named_by_its_package():
    with pytest.raises(JobError, match=r"^found no package nowhere for the job in"):
        with explain_missing_packages():
            import_module("nowhere.here")


def test_other_errors_are_passed_on():
    with pytest.raises(ImportError, match="DLL"), explain_missing_packages():
        raise ImportError("DLL")
