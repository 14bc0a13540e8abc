"""Print the `moved` blocks by which jobs of sales keep their resources in the extension `sales`.

Usage: terraform -chdir=infra/consumer state list | tools/moved_sales.py JOB ... >> extensions.tf

Before an upgrade from `jobs.JOB.sales`: Terraform cannot move what has a name that a user gave.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator

_JOBS = "module.jobs"
_OF_A_JOB = re.compile(
    r'module\.spark\["spark"\]\.(?:module\.jobs\.)?'
    r"((?:aws_iam_role\.job|aws_iam_role_policy\.(?:runtime|work)|aws_ssm_parameter\.this"
    r'|module\.(?:long_policy|schedule))\["([^"]+)"\].*)'
)
_ALARM = re.compile(
    r'module\.alarms\.(?:module\.metrics\.)?(aws_cloudwatch_metric_alarm\.this\["run-([^"]+)"\])'
)
_PROGRAM = 'module.spark["spark"].aws_s3_object.upload["jobs/sales.py"]'


def main() -> int:
    """Read the addresses of a state, and print blocks for the jobs that are named."""
    jobs = sys.argv[1:]
    if not jobs or jobs[0] in {"-h", "--help"}:
        print(__doc__)
        return 0
    print("\n".join(make_blocks(sys.stdin.read().splitlines(), jobs)))
    return 0


def make_blocks(addresses: Iterable[str], jobs: Iterable[str]) -> Iterator[str]:
    """Make a block for each resource of the jobs."""
    names = tuple(jobs)
    for address in addresses:
        if found := _OF_A_JOB.fullmatch(address):
            new, key = found.groups()
            if _is_of(key, names):
                yield _block(f'module.spark["spark"].{_JOBS}.{new}', f"module.sales.{_JOBS}.{new}")
        elif found := _ALARM.fullmatch(address):
            new, key = found.groups()
            if _is_of(key, names):
                yield _block(
                    f"module.alarms.module.metrics.{new}", f"module.sales.module.alarms.{new}"
                )
        elif address == _PROGRAM:
            yield _block(address, "module.sales.aws_s3_object.program")


def _is_of(key: str, jobs: tuple[str, ...]) -> bool:
    """Return whether a key is a job, a parameter of it (JOB/NAME) or a run of it (JOB-COMMAND)."""
    return any(key == job or key.startswith((f"{job}/", f"{job}-")) for job in jobs)


def _block(old: str, new: str) -> str:
    return f"moved {{\n  from = {old}\n  to   = {new}\n}}"


if __name__ == "__main__":
    sys.exit(main())
