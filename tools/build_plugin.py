"""Build the custom plugin of MSK Connect: Debezium for PostgreSQL, and what it needs on AWS.

That is Apicurio's Avro converter and the provider that reads passwords from Secrets Manager. All
are in one zip, as a connector names them by class. Reproducible, like the other zips.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.build_zip import list_files, write_zip

_ROOT = Path(__file__).resolve().parents[1]
_FOLDER = _ROOT / "jars/debezium"
ZIP = "debezium-postgres-plugin.zip"
_RELEASE = "17"  # of Java, as Debezium needs
# The worker's own, which a plugin must not bring.
_OF_THE_WORKER = ("connect-api-", "kafka-clients-", "lz4-java-", "slf4j-api-", "snappy-", "zstd-")
_PROVIDER = "penstock.connect.SecretConfigProvider"
_SERVICES = "META-INF/services/org.apache.kafka.common.config.provider.ConfigProvider"


def main(argv: Sequence[str] | None = None) -> int:
    """Build the zip and print its size; return 1 when the jars are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", default=_ROOT / "build", type=Path, help="folder [build]")
    into = parser.parse_args(argv).into
    if not list(_FOLDER.glob("lib/*.jar")):
        print(f"Nothing was built: no jars in {_FOLDER}/lib; run `make install`", file=sys.stderr)
        return 1
    print(build_plugin(into / ZIP))
    return 0


def build_plugin(path: Path) -> str:
    """Write the zip and return a line with its size."""
    with tempfile.TemporaryDirectory() as scratch:
        for archive in _FOLDER.glob("lib/*.tar.gz"):
            shutil.unpack_archive(archive, scratch, filter="data")
        jars = [*_FOLDER.glob("lib/*.jar"), *Path(scratch).rglob("*.jar")]
        own = Path(scratch, "penstock-connect.jar")
        _compile(own, Path(scratch, "classes"), jars)
        shipped = [jar for jar in jars if not jar.name.startswith(_OF_THE_WORKER)]
        return write_zip(path, {jar.name: jar for jar in [*shipped, own]})


def _compile(jar: Path, classes: Path, against: Sequence[Path]) -> None:
    """Compile the sources into a jar."""
    path = ":".join(map(str, against))
    sources = sorted(map(str, _FOLDER.glob("src/**/*.java")))
    javac = ["javac", "--release", _RELEASE, "-cp", path, "-d", str(classes)]
    subprocess.run([*javac, *sources], check=True)
    write_zip(jar, list_files(classes) | {_SERVICES: f"{_PROVIDER}\n".encode()})


if __name__ == "__main__":
    sys.exit(main())
