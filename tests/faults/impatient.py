"""The job that consumes, which takes five seconds of silence for an end, not twenty.

For a test whose other job is stopped for certain, and so silent however busy the machine is.
"""

from __future__ import annotations

import runpy

from penstock.spark.state import lease
from tests.faults.killing import JOB

if __name__ == "__main__":
    lease._PATIENCE_SECONDS = 5
    runpy.run_path(str(JOB), run_name="__main__")
