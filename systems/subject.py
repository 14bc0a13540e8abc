"""One system under a fault, as a program that is begun again whenever its process ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from systems.place import Place

DATABASE: Final = "proof"


class Subject(Protocol):
    """A system that reads one topic and writes one table of its own account's lake."""

    account: str

    @property
    def restarts(self) -> int:
        """How often it was begun again because its process had ended by itself."""

    @property
    def pid(self) -> int:
        """The id of the process that reads the topic."""

    def start(self) -> None:
        """Wait until it runs, if it must be told to."""

    def kill(self) -> bool:
        """Kill its process with -9 and begin it again; return whether that ended it."""

    def stall(self, seconds: float) -> bool:
        """Stop its process while a second one takes over, and wake it; return whether it was."""

    def tend(self) -> None:
        """Begin a process again that has ended by itself."""

    def letters(self) -> Sequence[bytes]:
        """Return the bytes of its dead letters."""

    def describe_trouble(self) -> str:
        """Return the error that it shows now, or nothing."""

    def close(self) -> None:
        """End all processes."""


def s3_settings(place: Place, account: str) -> dict[str, str]:
    """Return the properties of Iceberg's catalog in Glue, with files on S3, but for prefixes."""
    return {
        "warehouse": f"s3://lake-{account}/{DATABASE}",
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "client.region": "eu-central-1",
        "glue.endpoint": place.aws,
        "s3.endpoint": place.aws,
        "s3.path-style-access": "true",
    }
