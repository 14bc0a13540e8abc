"""Fills the cache for the first cluster and the first function; `localcloud fetch` runs it.

`python -m localcloud.command.prepare` returns quickly if the cache is full.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from localcloud.brokers import prepare_brokers
from localcloud.door.errors import AwsError
from localcloud.functions import load_runtime


def prepare() -> None:
    """Record the JVM archive of the brokers and install Lambda's own packages."""
    with ThreadPoolExecutor() as pool:
        recorded = pool.submit(prepare_brokers)
        try:
            load_runtime(f"python3.{sys.version_info.minor}")
        except AwsError as error:  # only functions need it, and they report it again
            sys.stderr.write(f"{error}\n")
        recorded.result()


if __name__ == "__main__":
    prepare()
