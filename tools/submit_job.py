"""Submit a Spark job of a consumer to EMR Serverless, by the command that Terraform put out.

Usage: tools/submit_job.py JOB [--consumer FOLDER]

Takes the credentials and the region of the environment, as `aws` does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.outputs import OutputError, read_output

_CONSUMER = Path(__file__).parents[1] / "infra" / "consumer"
_OUR_PROGRAMS = Path(sys.executable).parent  # where `aws` is, if it is nowhere else


class SubmitError(Exception):
    """The job was not taken, and why."""


def main() -> int:
    """Submit one job; 1 when that cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("job", help="its name in the output `submit_commands`")
    parser.add_argument("--consumer", type=Path, default=_CONSUMER, help="the root")
    given = parser.parse_args()
    try:
        command = choose_command(read_output(given.consumer, "submit_commands"), given.job)
        run = submit(command, os.environ)
    except (OutputError, SubmitError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"submitted {given.job} as job run {run['jobRunId']} of {run['applicationId']}")
    return 0


def choose_command(commands: Mapping[str, str], job: str) -> str:
    """Choose the command of one job.

    Raises:
        OutputError: there is none of that name; which there are.
    """
    if job not in commands:
        known = ", ".join(sorted(commands)) or "none"
        raise OutputError(f"the consumer has no Spark job {job!r}, only {known}")
    return commands[job]


def submit(command: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Run the command and return what names the job run.

    Raises:
        SubmitError: with what `aws` said.
    """
    path = f"{environ.get('PATH', os.defpath)}{os.pathsep}{_OUR_PROGRAMS}"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} --output json"],
        env={**environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SubmitError(f"the job was not submitted: {done.stderr.strip()}")
    found: dict[str, str] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
