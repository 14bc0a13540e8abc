"""The process from which Spark forks its Python workers; saves most of what a worker computes.

At each task a worker reads the directory of every archive that it has imported from, PySpark's a
dozen times, which takes a tenth of a second; it imports Penstock at its first task; and after each
task it looks through all that was imported for garbage.
"""

from __future__ import annotations

import gc
import sys

_ARCHIVES = (".zip", ".jar")

if __name__ == "__main__":
    # PySpark is installed too, so nothing is in the archives that Spark puts in front of it.
    sys.path[:] = [path for path in sys.path if not path.endswith(_ARCHIVES)]
    for path in [path for path in sys.path_importer_cache if path.endswith(_ARCHIVES)]:
        del sys.path_importer_cache[path]

    from pyspark.daemon import manager

    import penstock.spark.failures  # noqa: F401

    gc.collect()
    gc.freeze()
    manager()
