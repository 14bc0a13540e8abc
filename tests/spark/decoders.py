"""The two ways to decode: Spark's SQL, and the optional jar."""

from __future__ import annotations

import os

from penstock.spark.decoding.function import CATALOG, CATALOG_CLASS

# What decodes in tests that do not ask for `each_decoder`.
CHOSEN = os.environ.get("DECODER", "sql")


def set_decoder(spark, kind=CHOSEN):
    """Let a session decode with `sql` or `java`."""
    if kind == "java":
        spark.conf.set(CATALOG, CATALOG_CLASS)
    else:
        spark.conf.unset(CATALOG)
