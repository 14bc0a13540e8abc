"""The calls of commands: those of AWS by localcloud's log, those of Kafka by a recorder's file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

RECORDER: Final = Path(__file__).with_name("recorder")
# Operations of AWS and requests of Kafka that change nothing.
_READS: Final = re.compile(
    r"(BatchGet|Describe|Filter|Get|Head|List|Query|Scan|Search)([A-Z]\w*)?"
    r"|AssumeRole|Decrypt|StartQueryExecution"
    r"|(ApiVersions|Fetch|FindCoordinator|ListOffsets|Metadata|OffsetFetch|Sasl\w*)Request\w*"
)


@dataclass(frozen=True, slots=True)
class Calls:
    """The names of calls since the last look: `service:operation`, or `kafka:request`."""

    aws: Path
    kafka: Path

    def read(self) -> set[str]:
        lines = map(json.loads, self.aws.read_text().splitlines())
        kafka = self.kafka.read_text().split() if self.kafka.exists() else []
        found = {f"{each['service']}:{each['operation']}" for each in lines}
        return found | {f"kafka:{each}" for each in kafka}


def find_writes(calls: set[str]) -> set[str]:
    """Return the calls that could change something."""
    return {each for each in calls if not _READS.fullmatch(each.partition(":")[2])}
