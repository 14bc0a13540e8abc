"""Build the custom plugins of MSK Connect: Debezium for PostgreSQL, and what it needs on AWS.

There is one for each registry of schemas, as the class paths of their converters do not mix. Each
is a zip that also has the classes of ours, which read passwords and name schemas. Reproducible,
like the other zips.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.build_zip import list_files, write_zip

_JARS = Path(__file__).resolve().parents[1] / "jars"
_RELEASE = "17"  # of Java, as Debezium needs
# The worker's own, which a plugin must not bring.
_OF_THE_WORKER = ("connect-api-", "kafka-clients-", "lz4-java-", "slf4j-api-", "snappy-", "zstd-")
_ARCHIVES = "debezium/lib/*.tar.gz"
_COMMON = "debezium/src/**/*.java"
# By zip: the jars of its converter, and the sources.
APICURIO, GLUE = "debezium-postgres-plugin.zip", "debezium-postgres-glue-plugin.zip"
_PLUGINS = {
    APICURIO: ("debezium/lib/*.jar", (_COMMON,)),
    GLUE: ("debezium-glue/lib/*.jar", (_COMMON, "debezium-glue/src/**/*.java")),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Build the zips and print their sizes; return 1 when the jars are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", default=_JARS.parent / "build", type=Path, help="folder [build]")
    into = parser.parse_args(argv).into
    for jars, _ in [(_ARCHIVES, ()), *_PLUGINS.values()]:
        if not list(_JARS.glob(jars)):
            print(
                f"Nothing was built: found no {_JARS / jars}; run `make install`", file=sys.stderr
            )
            return 1
    for name in _PLUGINS:
        print(build_plugin(into / name))
    return 0


def build_plugin(path: Path) -> str:
    """Write the zip of this name and return a line with its size."""
    jars_of_converter, sources = _PLUGINS[path.name]
    with tempfile.TemporaryDirectory() as scratch:
        for archive in _JARS.glob(_ARCHIVES):
            shutil.unpack_archive(archive, scratch, filter="data")
        jars = [*_JARS.glob(jars_of_converter), *Path(scratch).rglob("*.jar")]
        own = Path(scratch, "penstock-connect.jar")
        found = (file for pattern in sources for file in _JARS.glob(pattern))
        _compile(own, Path(scratch, "classes"), jars, found)
        shipped = [jar for jar in jars if not jar.name.startswith(_OF_THE_WORKER)]
        return write_zip(path, {jar.name: jar for jar in [*shipped, own]})


def _compile(jar: Path, classes: Path, against: Sequence[Path], sources: Iterable[Path]) -> None:
    """Compile the sources into a jar."""
    path = ":".join(map(str, against))
    javac = ["javac", "--release", _RELEASE, "-cp", path, "-d", str(classes)]
    subprocess.run([*javac, *sorted(map(str, sources))], check=True)
    write_zip(jar, list_files(classes))


if __name__ == "__main__":
    sys.exit(main())
