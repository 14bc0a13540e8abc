"""A transform: a function of a user's own that changes decoded rows before every sink.

It is in a file of Python, which `--transform` names for the job and for its replay.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

from penstock.errors import SettingsError

Transform = Callable[[DataFrame], DataFrame]

_FUNCTION: Final = "transform"


def load_transform(spark: SparkSession, file: str) -> Transform | None:
    """Return the function of a file, which executors get too; None without a file.

    Raises:
        SettingsError: there is no such file, its code fails or has no such function, or Python
            knows another module by its name.
    """
    if not file:
        return None
    path = Path(urlsplit(file).path).absolute()
    if path.suffix != ".py" or "." in path.stem:
        raise _refuse(file, ", expected a file of Python, as NAME.py")
    known = find_spec(path.stem)
    # A file beside the program is known without Spark.
    if known and known.origin not in {SparkFiles.get(path.name), str(path)}:
        raise _refuse(file, f", and Python has a module {path.stem}: rename the file")
    try:
        spark.sparkContext.addPyFile(file)
    except Py4JJavaError as error:
        raise _refuse(file, f", which cannot be read: {error.java_exception}") from error
    try:
        module = import_module(path.stem)  # by its name, as executors import what it gives them
    except Exception as error:  # whatever its code raises
        said = f"{type(error).__name__}: {error}"
        raise _refuse(file, f", which cannot be loaded: {said}") from error
    function = getattr(module, _FUNCTION, None)
    if not callable(function):
        raise _refuse(file, f", expected a file of Python with {_FUNCTION}(rows)")
    found: Transform = function
    return found


def _refuse(file: str, why: str) -> SettingsError:
    return SettingsError([f"--transform is {file}{why}"])
