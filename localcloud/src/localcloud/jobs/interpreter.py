"""The Python of jobs: PySpark alone.

The virtual environment of localcloud has everything a developer needs. A job would find there what
its own files lack, and fail on AWS.

spark-submit puts PySpark's archives on PYTHONPATH, before the same modules in the packages. Python
compiles what it imports from an archive at each start, and a worker reads their directories again
at each task, so `sitecustomize` removes them.

On a cluster of EMR, driver and containers have two users. Here they have one, and the containers of
`local[*]` get the driver's variables. So `sitecustomize` closes the folder that CLOSED names to the
Python of containers.
"""

from __future__ import annotations

import hashlib
import re
import sys
import sysconfig
import tempfile
import venv
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from localcloud.errors import MissingToolError
from localcloud.folders import CACHE

_CACHE = CACHE / "spark-python"
CLOSED = "LOCALCLOUD_CLOSED_TO_CONTAINERS"
_PACKAGES = ("pyspark",)
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SITE = f"""\
import os, re, sys
for path in [*sys.path, *sys.path_importer_cache]:
    if re.search(r"/pyspark/(python/lib/[^/]+[.]zip|jars/[^/]+[.]jar)$", path):
        sys.path[:] = [other for other in sys.path if other != path]
        sys.path_importer_cache.pop(path, None)

closed = os.environ.get("{CLOSED}")
if closed and {{"pyspark.daemon", "pyspark.worker"}} & {{*sys.orig_argv}}:
    sys.path[:] = [path for path in sys.path if not path.startswith(closed)]
    os.environ["HOME"] = "/home/"

    def refuse(event, args):
        if event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], str):
            if os.path.abspath(args[0]).startswith(closed):
                raise PermissionError(13, "Permission denied", args[0])

    sys.addaudithook(refuse)
"""


@dataclass(frozen=True, slots=True)
class SparkPython:
    """An interpreter and the Spark in its packages."""

    interpreter: Path
    spark_home: Path


def load_spark_python() -> SparkPython:
    """Create the environment, once: links to the packages of the current one.

    Raises:
        MissingToolError: PySpark is not installed beside localcloud.
    """
    packages = _close_over(_PACKAGES)
    if "pyspark" not in packages:
        raise MissingToolError("jobs need PySpark: pip install 'localcloud[spark]'")
    pins = sorted(f"{name}=={found.version}" for name, found in packages.items())
    place = f"{sys.base_prefix} {sysconfig.get_path('purelib')} {pins} {_SITE}"
    home = _CACHE / hashlib.sha256(place.encode()).hexdigest()[:12]
    if not home.exists():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_CACHE) as scratch:
            made = Path(scratch) / "made"
            _make(made, packages)
            if not home.exists():  # in one step: nobody sees an incomplete folder
                made.rename(home)
    spark = Path(str(packages["pyspark"].locate_file("pyspark"))).resolve()
    return SparkPython(home / "bin" / "python3", spark)


def _close_over(names: tuple[str, ...]) -> dict[str, metadata.Distribution]:
    """Return packages and their installed dependencies."""
    found: dict[str, metadata.Distribution] = {}
    wanted = list(names)
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # for another platform or Python
            continue
        needs = [line for line in found[name].requires or [] if "extra ==" not in line]
        wanted += [match[0].lower() for match in map(_NAME.match, needs) if match]
    return found


def _make(home: Path, packages: dict[str, metadata.Distribution]) -> None:
    venv.EnvBuilder(symlinks=True).create(home)
    (target,) = home.glob("lib/python3*/site-packages")
    for package in packages.values():
        tops = {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}
        for top in tops:
            (target / top).symlink_to(Path(str(package.locate_file(top))).resolve())
    (target / "sitecustomize.py").write_text(_SITE)
