"""Names of schemas, and their subjects: the names in registries of Confluent and Apicurio.

| naming         | subject                | schema name of Penstock         |
| -------------- | ---------------------- | ------------------------------- |
| `topic`        | `TOPIC-value`          | the topic                       |
| `record`       | the record's full name | the record's full name          |
| `topic-record` | `TOPIC-RECORD`         | the record's full name          |

A subject of another naming has the name `:SUBJECT`, so that no two subjects have the same name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

# A name that every registry takes.
SCHEMA_NAME: Final = re.compile(r"[a-zA-Z0-9_$#.-]{1,255}")
NAMINGS: Final = ("topic", "record", "topic-record")
OTHER_NAMING: Final = ":"


@dataclass(frozen=True, slots=True)
class SubjectNaming:
    """The text before and after a schema name in its subject."""

    prefix: str = ""
    suffix: str = "-value"

    @classmethod
    def of(cls, naming: str, topic: str = "") -> Self:
        """Return the naming with this name; `topic` is needed for `topic-record` only."""
        if naming == "topic":
            return cls()
        return cls(f"{topic}-" if naming == "topic-record" else "", "")

    def subject_of(self, name: str) -> str:
        """Return the name of the subject that has the versions of a schema."""
        if name.startswith(OTHER_NAMING):
            return name.removeprefix(OTHER_NAMING)
        return f"{self.prefix}{name}{self.suffix}"

    def name_of(self, subject: str) -> str:
        """Return the schema name of a subject."""
        name = subject.removeprefix(self.prefix).removesuffix(self.suffix)
        return name if self.matches(subject) else f"{OTHER_NAMING}{subject}"

    def matches(self, subject: str) -> bool:
        """Return whether a subject is of this naming."""
        ends = len(self.prefix) + len(self.suffix)
        return (
            len(subject) > ends
            and subject.startswith(self.prefix)
            and subject.endswith(self.suffix)
        )
