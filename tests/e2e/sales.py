"""The sales jobs of a consumer: a summary on EMR Serverless, and the same on a cluster of EMR.

Their settings are SSM parameters. The topic has events of sensors, and one sale.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.e2e.accounts import Root

SALE = {"payment_id": 1, "customer_id": 2, "amount": 4.99, "country": "Peru"}
_PENSTOCK = Path(sys.executable).with_name("penstock")
_SECONDS = 900
_SUMMARY = {"reads": ["sensor"], "sales": {"commands": ["summarize"]}}
SERVERLESS, STEP = "sales", "figures"
SALES_JOBS: dict[str, Any] = {SERVERLESS: _SUMMARY, STEP: _SUMMARY}
SALES_RUNS = {job: f"{job}-summarize" for job in SALES_JOBS}
CLUSTER: dict[str, Any] = {"jobs": [STEP]}


class Summaries:
    """The summaries of a consumer, submitted at once by whoever operates its jobs."""

    def __init__(self, consumer: Root) -> None:
        self._consumer = consumer
        environ = consumer.environ | consumer.operator_keys()
        words = [_PENSTOCK, "submit", "--consumer", consumer.folder, "--wait"]
        self._submitted = {
            job: subprocess.Popen(
                [*words, run],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for job, run in SALES_RUNS.items()
        }
        self.said: dict[str, str] = {}

    def wait(self) -> None:
        """Wait for their ends."""
        for job, submitted in self._submitted.items():
            self.said[job], _ = submitted.communicate(timeout=_SECONDS)

    def read_file(self, job: str) -> str:
        """Return the file that a summary wrote."""
        bucket = self._consumer.outputs()["lake"]["bucket"]
        key = f"sales/{job}/spark_output/sales_by_country.csv"
        found = self._consumer.client("s3").get_object(Bucket=bucket, Key=key)
        return str(found["Body"].read().decode())
