"""The eight compatibility modes of Glue's schema registry.

Source: AWS Glue Developer Guide, "AWS Glue Schema registry", "Schema versioning and compatibility".

| mode         | AWS's sentence                                                                    |
| ------------ | --------------------------------------------------------------------------------- |
| NONE         | "Any new version added will be accepted without undergoing a compatibility check" |
| DISABLED     | "No new versions can be added."                                                   |
| BACKWARD     | "allows consumers to read both the current and the previous schema version"       |
| BACKWARD_ALL | "allows consumers to read both the current and all previous schema versions"      |
| FORWARD      | "consumers to be able to read data produced with the new schema by using the      |
|              | previous version"                                                                 |
| FORWARD_ALL  | "allows consumers to read data written by producers of any new registered schema  |
|              | ... check compatibility against all previous schema versions"                     |
| FULL         | "allows consumers to read data written by producers using the previous or next    |
|              | version of the schema"                                                            |
| FULL_ALL     | "allows consumers to read data written by producers using all previous schema     |
|              | versions", "when you add or remove optional fields": both directions              |

Where its sentences allow two readings, localcloud/docs/glue-compatibility.md says what is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from localcloud.services.glue.registry.avro_resolution import can_read
from localcloud.services.glue.registry.avro_types import AvroType


class Mode(StrEnum):
    """The compatibility mode of a schema."""

    NONE = "NONE"
    DISABLED = "DISABLED"
    BACKWARD = "BACKWARD"
    BACKWARD_ALL = "BACKWARD_ALL"
    FORWARD = "FORWARD"
    FORWARD_ALL = "FORWARD_ALL"
    FULL = "FULL"
    FULL_ALL = "FULL_ALL"

    @property
    def reads_earlier(self) -> bool:
        """Return whether the new version must read data of earlier ones."""
        return self.startswith(("BACKWARD", "FULL"))

    @property
    def is_read_by_earlier(self) -> bool:
        """Return whether earlier versions must read data of the new one."""
        return self.startswith(("FORWARD", "FULL"))


class ComparedWith(StrEnum):
    """The version that the modes other than _ALL compare with.

    "A schema version that is marked as a checkpoint is used to determine the compatibility of
    registering new versions", says AWS, and "check compatibility against the previous schema
    version".
    """

    CHECKPOINT = "checkpoint"
    PREVIOUS = "previous"
    BOTH = "both"


def accepts(
    mode: Mode,
    new: AvroType,
    earlier: Mapping[int, AvroType],
    checkpoint: int,
    compared_with: ComparedWith,
) -> bool:
    """Return whether a mode accepts a new version; `earlier` has the available ones by number."""
    if mode is Mode.DISABLED:
        return False
    since = [earlier[number] for number in sorted(earlier) if number >= checkpoint]
    if not mode.endswith("_ALL"):
        first, last = since[:1], since[-1:]
        since = {
            ComparedWith.CHECKPOINT: first,
            ComparedWith.PREVIOUS: last,
            ComparedWith.BOTH: first + last,
        }[compared_with]
    return all(
        (not mode.reads_earlier or can_read(new, old))
        and (not mode.is_read_by_earlier or can_read(old, new))
        for old in since
    )
