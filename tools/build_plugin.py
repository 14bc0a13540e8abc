"""Build the custom plugin of MSK Connect: Debezium for PostgreSQL and Apicurio's Avro converter.

Both are in one zip, as a connector names its converters by class. Reproducible, like the other
zips.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.build_zip import write_zip

_ROOT = Path(__file__).resolve().parents[1]
_JARS = _ROOT / "jars/debezium/lib"
ZIP = "debezium-postgres-plugin.zip"
# The worker's own, which a plugin must not bring.
_OF_THE_WORKER = ("connect-", "kafka-clients-", "lz4-java-", "slf4j-api-", "snappy-", "zstd-")


def main(argv: Sequence[str] | None = None) -> int:
    """Build the zip and print its size; return 1 when the jars are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", default=_ROOT / "build", type=Path, help="folder [build]")
    into = parser.parse_args(argv).into
    jars = find_jars()
    if not jars:
        print(f"Nothing was built: no jars in {_JARS}; run `make install`", file=sys.stderr)
        return 1
    print(write_zip(into / ZIP, jars))
    return 0


def find_jars() -> dict[str, Path]:
    """Return the jars of the plugin by name."""
    return {
        jar.name: jar
        for jar in sorted(_JARS.rglob("*.jar"))
        if not jar.name.startswith(_OF_THE_WORKER)
    }


if __name__ == "__main__":
    sys.exit(main())
