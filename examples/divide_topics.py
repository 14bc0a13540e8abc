"""Divide topics among Spark jobs, and write the jobs as Terraform's variables of the consumer.

    python examples/divide_topics.py jobs.auto.tfvars.json < topics.txt

Each line of the input is the name of a topic, or TOPIC SCHEMA if its schema has another name. A
job reads at most 50 topics, and each schema has a table of its own. Run it again after topics came
or went: topics that have a job keep it, since its checkpoint has their offsets.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

_Jobs = dict[str, dict[str, Any]]
_MOST = 50  # of a job; docs/sizing.md has the memory of its driver


def main() -> None:
    """Read the topics, and write the file."""
    parser = argparse.ArgumentParser(description="Divide topics among Spark jobs.")
    parser.add_argument("file", type=Path, help="jobs.auto.tfvars.json of the consumer's root")
    parser.add_argument("--most", type=int, default=_MOST, help="topics of a job [%(default)s]")
    arguments = parser.parse_args()
    file: Path = arguments.file
    known = json.loads(file.read_text()) if file.exists() else {}
    schemas = {words[0]: words[-1] for words in map(str.split, sys.stdin) if words}
    jobs = divide(schemas, known.get("jobs", {}), arguments.most)
    file.write_text(json.dumps({**known, "jobs": jobs}, indent=2) + "\n")


def divide(schemas: Mapping[str, str], jobs: Mapping[str, Any], most: int = _MOST) -> _Jobs:
    """Return the jobs of topics, whose schemas are named; topics keep the job that they have."""
    found = {name: _keep(job, schemas) for name, job in jobs.items()}
    taken = {topic for job in found.values() for topic in job["reads"]}
    for topic in sorted(schemas.keys() - taken):
        name = _find_room(found, most)
        job = found.setdefault(name, {"reads": [], "writes": {}})
        job["reads"].append(topic)
        job["writes"][schemas[topic]] = _name_table(schemas[topic])
    _check(found.values())
    return found


def _keep(job: Mapping[str, Any], schemas: Mapping[str, str]) -> dict[str, Any]:
    """Return a job with those of its topics that are still there; what else it has stays."""
    reads = [topic for topic in job["reads"] if topic in schemas]
    return {**job, "reads": reads, "writes": {**job["writes"]}}


def _find_room(jobs: _Jobs, most: int) -> str:
    """Return the first job that has room, or the name of a new one."""
    room = (name for name, job in jobs.items() if len(job["writes"]) < most)
    names = (f"part-{number:02d}" for number in count(1))
    return next(room, next(name for name in names if name not in jobs))


def _name_table(schema: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", schema.lower()).strip("_")


def _check(jobs: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a table that two schemas or two jobs would write."""
    tables = [table for job in jobs for table in job["writes"].values()]
    if twice := sorted({each for each in tables if tables.count(each) > 1}):
        raise SystemExit(f"found more than one schema or job for {', '.join(twice)}, expected one")


if __name__ == "__main__":
    main()
