"""The record of an event: read here, or by `penstock read` on a host that reaches the brokers."""

from __future__ import annotations

import json
import shlex
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from penstock.cli import describe_bytes
from penstock.errors import Failure, OperationError, Reason
from penstock.kafka import KafkaSettings
from penstock.operations import read_raw_records
from penstock.records import Record, Source

_HOST_SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a schema."""

    name: str
    version: int
    id: str


@dataclass(frozen=True, slots=True)
class Told:
    """What the host says of a record: its version and event, or why it cannot be decoded."""

    version: Version | None
    event: Any
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record, and what the host that read it says of it, since it may read the registry."""

    record: Record
    told: Told | None = None


class Topics(Protocol):
    """Where records are read."""

    def find(self, source: Source) -> FoundRecord | None:
        """Return the record at a place; None if the topic has none there.

        Raises:
            OperationError, BrokerError: the topic cannot be read.
        """

    def find_newest(self, topic: str, key: str, last: int) -> FoundRecord | None:
        """Return the newest record with a key among the `last` offsets of each partition.

        Raises:
            OperationError, BrokerError: the topic cannot be read.
        """


@dataclass(frozen=True, slots=True)
class BrokerTopics:
    """The topics of brokers that this process reaches."""

    settings: KafkaSettings

    def find(self, source: Source) -> FoundRecord | None:
        """Return the record at a place; see `Topics.find`."""
        topic, partition, offset = source.topic, source.partition, source.offset
        records = read_raw_records(self.settings, topic, offset, partition=partition)
        with closing(records):
            first = next(records, None)
        return FoundRecord(first) if first and first.source == source else None

    def find_newest(self, topic: str, key: str, last: int) -> FoundRecord | None:
        """Return the newest record with a key; see `Topics.find_newest`."""
        records = read_raw_records(self.settings, topic, -last)
        return _choose_newest(FoundRecord(each) for each in records if each.key == key.encode())


@dataclass(frozen=True, slots=True)
class HostTopics:
    """The topics that a host reaches: `command` runs a shell command there, as its last word."""

    command: str
    profile: str
    environ: Mapping[str, str]

    def find(self, source: Source) -> FoundRecord | None:
        """Return the record at a place; see `Topics.find`."""
        place = [f"--partition={source.partition}", f"--from={source.offset}", "--count=1"]
        records = self._read_lines(source.topic, *place)
        return next((each for each in records if each.record.source == source), None)

    def find_newest(self, topic: str, key: str, last: int) -> FoundRecord | None:
        """Return the newest record with a key; see `Topics.find_newest`."""
        literal = json.dumps(describe_bytes(key.encode())).replace("`", "\\`")
        return _choose_newest(
            self._read_lines(topic, f"--from=-{last}", f"--where=key == `{literal}`")
        )

    def _read_lines(self, topic: str, *words: str) -> Iterator[FoundRecord]:
        profile = [f"--profile={self.profile}"] if self.profile else []
        program = ["penstock", *profile, "read", *words, "--raw", "--output=json", "--", topic]
        try:
            done = subprocess.run(
                [*shlex.split(self.command), shlex.join(program)],
                env=self.environ,
                capture_output=True,
                text=True,
                check=False,
                timeout=_HOST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise OperationError(
                f"`penstock read` did not end on the host within {_HOST_SECONDS} s"
            ) from None
        except OSError as error:
            raise OperationError(
                f"the command of the host, {self.command!r}, cannot be run: {error.strerror}"
            ) from error
        said = done.stderr.strip().splitlines()
        # For a record that cannot be decoded it ends with 1 too, and says nothing.
        if done.returncode and (said or not done.stdout or done.returncode != 1):
            said = said or [f"it ended with {done.returncode}"]
            raise OperationError(f"`penstock read` failed on the host: {said[-1]}")
        return map(_read_record, done.stdout.splitlines())


def _choose_newest(found: Iterator[FoundRecord]) -> FoundRecord | None:
    return max(
        found, key=lambda each: (each.record.timestamp_ms, each.record.source.offset), default=None
    )


def _read_record(line: str) -> FoundRecord:
    """Return the record of a line of `penstock read --raw`."""
    found = json.loads(line)
    record = Record(
        Source(found["topic"], found["partition"], found["offset"]),
        _decode(found["rawKey"]),
        _decode(found["raw"]),
        tuple((each["name"], _to_bytes(each["value"])) for each in found["headers"]),
        _read_moment(found["timestamp"]),
    )
    version = found["schema"] and Version(**found["schema"])
    failure = found["failure"]
    if failure:
        failure = Failure(Reason(failure["reason"]), failure["detail"])
    return FoundRecord(record, Told(version, found["value"], failure))


def _read_moment(shown: str) -> int:
    """Return the milliseconds of a timestamp as `penstock read` shows it."""
    try:
        return int(shown)  # of a year that no calendar has
    except ValueError:
        return round(datetime.fromisoformat(shown).timestamp() * 1_000)


def _decode(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


def _to_bytes(described: Any) -> bytes | None:
    """Return the bytes that `describe_bytes` described."""
    if described is None:
        return None
    return described.encode() if isinstance(described, str) else b64decode(described["base64"])
