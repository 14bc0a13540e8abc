"""Runs of jobs by `penstock submit`, and the end of an application of EMR Serverless."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from localcloud.testing import wait_until

_ENDED = ("SUCCESS", "FAILED", "CANCELLED")
_PENSTOCK = Path(sys.executable).with_name("penstock")
_SECONDS = 900


class Submitted:
    """Runs of a root, submitted at once."""

    def __init__(self, folder: Path, environ: dict[str, str], runs: Iterable[str]) -> None:
        words = [_PENSTOCK, "submit", "--consumer", folder, "--wait"]
        self._processes = {
            run: subprocess.Popen(
                [*words, run],
                cwd=folder,  # not the clone, where a demo may have left its profiles
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for run in runs
        }

    def wait(self) -> dict[str, str]:
        """Wait for their ends; what each command said, by run."""
        return {
            run: process.communicate(timeout=_SECONDS)[0]
            for run, process in self._processes.items()
        }


def stop_application(emr: Any, application: str) -> None:
    """Wait until its jobs have ended, and stop it if one had started it.

    Terraform cannot delete one that is started, or that still stops.
    """
    asked = {"applicationId": application}
    wait_until(
        "no job runs any more",
        lambda: all(run["state"] in _ENDED for run in emr.list_job_runs(**asked)["jobRuns"]),
        60,
    )

    def state() -> str:
        return str(emr.get_application(**asked)["application"]["state"])

    if state() == "STARTED":
        emr.stop_application(**asked)
    wait_until("it is stopped", lambda: state() in {"CREATED", "STOPPED"}, 60)
