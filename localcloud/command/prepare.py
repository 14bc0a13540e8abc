"""What the first cluster and the first function would wait for; `make install` runs it.

`python -m localcloud.command.prepare` fills `.cache/`, and is quick where that is full.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from localcloud.brokers import prepare_brokers
from localcloud.door.operations import AwsError
from localcloud.functions import load_runtime


def main() -> None:
    """Record the JVM archive of the brokers, and install what Lambda puts beside a function."""
    with ThreadPoolExecutor() as pool:
        recorded = pool.submit(prepare_brokers)
        try:
            load_runtime(f"python3.{sys.version_info.minor}")
        except AwsError as error:  # only functions need it, and they say so again
            sys.stderr.write(f"{error}\n")
        recorded.result()


if __name__ == "__main__":
    main()
