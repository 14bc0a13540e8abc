"""The jar of the decoder: a file of this package, which Spark loads before it decodes."""

from __future__ import annotations

import tempfile
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from py4j.java_gateway import JavaClass
from pyspark.sql import SparkSession

from penstock.errors import SettingsError

CATALOG: Final = "spark.sql.catalog.penstock_decoder"
CATALOG_CLASS: Final = "penstock.spark.DecoderCatalog"
JAR: Final = "penstock-decoder.jar"
_LOADER: Final = "org.apache.spark.util.MutableURLClassLoader"


def load_jar(spark: SparkSession) -> None:
    """Load the jar into the driver and the executors of a session, unless it is loaded.

    Raises:
        SettingsError: the installation has no jar, or the session cannot load one after its start.
    """
    if spark.conf.get(CATALOG, None) == CATALOG_CLASS:
        return
    jvm: Any = spark.sparkContext._jvm
    # py4j takes the name of an unknown class for a package.
    if not isinstance(getattr(jvm, CATALOG_CLASS), JavaClass):
        path = find_jar()
        # SQL's ADD JAR is not used: it adds the jar only to the thread that runs it.
        _find_loader(jvm, path).addURL(jvm.java.io.File(path).toURI().toURL())
        context: Any = spark.sparkContext._jsc
        context.addJar(path)
    spark.conf.set(CATALOG, CATALOG_CLASS)


@cache
def find_jar() -> str:
    """Return the path of the jar, which is copied to a temporary folder if it is inside a zip.

    Raises:
        SettingsError: the installation has no jar.
    """
    found = files(__package__) / JAR
    if isinstance(found, Path) and found.is_file():
        return str(found)
    try:
        content = found.read_bytes()
    except OSError as error:
        raise SettingsError(
            [
                f"found no {JAR} in {__package__}, expected the one that a wheel,"
                " penstock-pyfiles.zip and `make install` put there"
            ]
        ) from error
    name = f"penstock-decoder-{sha256(content).hexdigest()[:16]}.jar"
    path = Path(tempfile.mkdtemp(prefix="penstock-")) / name
    path.write_bytes(content)
    return str(path)


def _find_loader(jvm: Any, path: str) -> Any:
    """Return the class loader that all threads of the driver use."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader is not None and loader.getClass().getName() != _LOADER:
        loader = loader.getParent()
    if loader is None:
        found = "a session that cannot load a jar after its start"
        raise SettingsError([f"found {found}, expected one that started with --jars {path}"])
    return loader
