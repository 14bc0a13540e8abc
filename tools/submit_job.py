"""Submit a Spark job of a consumer to EMR Serverless, by the command that Terraform put out.

Usage: tools/submit_job.py [--consumer FOLDER] RUN [FLAG VALUE ...]

The flags go to the job, behind those that Terraform gives it. Takes the credentials and the region
of the environment, as `aws` does.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.outputs import OutputError, read_output

_CONSUMER = Path(__file__).parents[1] / "infra" / "consumer"
_OUR_PROGRAMS = Path(sys.executable).parent  # where `aws` is, if it is nowhere else


class SubmitError(Exception):
    """The job was not taken, and why."""


def main() -> int:
    """Submit one job; 1 when that cannot be done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--consumer", type=Path, default=_CONSUMER, help="the root")
    parser.add_argument("run", help="its name in the output `submit_commands`")
    parser.add_argument("flags", nargs=argparse.REMAINDER, help="more of what the job is told")
    given = parser.parse_args()
    try:
        command = choose_command(read_output(given.consumer, "submit_commands"), given.run)
        run = submit(add_flags(command, given.flags), os.environ)
    except (OutputError, SubmitError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"submitted {given.run} as job run {run['jobRunId']} of {run['applicationId']}")
    return 0


def choose_command(commands: Mapping[str, str], run: str) -> str:
    """Choose the command of one run.

    Raises:
        OutputError: there is none of that name; which there are.
    """
    if run not in commands:
        known = ", ".join(sorted(commands)) or "none"
        raise OutputError(f"the consumer has no run {run!r} of a Spark job, only {known}")
    return commands[run]


def add_flags(command: str, flags: Sequence[str]) -> str:
    """Tell the job of a command more; of a flag that comes twice the last counts."""
    words = shlex.split(command)
    place = words.index("--job-driver") + 1
    driver = json.loads(words[place])
    driver["sparkSubmit"]["entryPointArguments"] += flags
    words[place] = json.dumps(driver)
    return shlex.join(words)


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
