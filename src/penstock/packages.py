"""The message of a job whose Python lacks a package; nothing here imports one."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from penstock.errors import JobError


@contextmanager
def explain_missing_packages() -> Iterator[None]:
    """Name the missing package, the Python and its Spark if an import of a job fails.

    Raises:
        JobError: a package is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or str(error)).partition(".")[0]
        raise JobError(
            f"found no package {package} for the job in Python {platform.python_version()} at "
            f"{sys.executable} with Spark {_find_spark_version()}, expected it in the job's "
            "archives or EMR's image: submit the job as Terraform's submit_commands does, with "
            "penstock-packages.zip as an archive on PYTHONPATH, or add an archive that has the "
            "package"
        ) from error


def _find_spark_version() -> str:
    try:
        return str(import_module("pyspark").__version__)
    except ModuleNotFoundError:
        return "missing"
