"""Build the decoder and the source in Java into the package, against the jars of the jobs."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from tools.build_zip import list_files, write_zip

_ROOT = Path(__file__).resolve().parents[1]
_SOURCES = _ROOT / "jars/decoder/src"
_JAR = _ROOT / "src/penstock/spark/decoding/penstock-decoder.jar"
_KAFKA = _ROOT / "jars/spark/lib"  # has Spark's Kafka source
_RELEASE = "17"  # of Java, the oldest that Spark runs on


def main() -> int:
    """Compile the sources, write the jar and print its size; return 1 if they do not compile."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    spark = Path(pyspark.__file__).parent / "jars"
    sources = sorted(map(str, _SOURCES.rglob("*.java")))
    with tempfile.TemporaryDirectory() as classes:
        javac = ["javac", "--release", _RELEASE, "-cp", f"{spark}/*:{_KAFKA}/*", "-d", classes]
        if subprocess.run([*javac, *sources], check=False).returncode:
            return 1
        print(write_zip(_JAR, list_files(Path(classes))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
