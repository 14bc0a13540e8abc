"""A transform: a function of a user's own that changes decoded rows before every sink.

It is in a file of Python, which `--transform` names for the job and for its replay.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

from penstock.errors import SettingsError

Transform = Callable[[DataFrame], DataFrame]

_FUNCTION: Final = "transform"


def load_transform(spark: SparkSession, file: str) -> Transform | None:
    """Return the function of a file, which executors get too; None without a file.

    Raises:
        SettingsError: there is no such file, it has no such function, or Python knows another
            module by its name.
    """
    if not file:
        return None
    path = Path(file)
    try:
        spark.sparkContext.addPyFile(file)
    except Py4JJavaError as error:
        problem = f"--transform is {file}, which cannot be read: {error.java_exception}"
        raise SettingsError([problem]) from error
    return _find_function(file, SparkFiles.get(path.name), path.stem)


def _find_function(file: str, copy: str, name: str) -> Transform:
    """Import the copy of a file by its name, as executors do for functions that it gives them."""
    module = sys.modules.get(name) or import_module(name)
    if getattr(module, "__file__", None) != copy:
        problem = f"--transform is {file}, which Python takes for its own {name}: rename the file"
        raise SettingsError([problem])
    function = getattr(module, _FUNCTION, None)
    if not callable(function):
        problem = f"--transform is {file}, expected a file of Python with {_FUNCTION}(rows)"
        raise SettingsError([problem])
    found: Transform = function
    return found
