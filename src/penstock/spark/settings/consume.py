"""Settings of the jobs that follow topics, and how jobs read settings and the contract."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, TypeVar

from penstock.contract import contract_environ
from penstock.errors import SettingsError
from penstock.kafka import KafkaSettings
from penstock.registry import RegistrySettings
from penstock.settings import Settings, nested, parse_count, parse_json, parse_moment, setting
from penstock.spark.settings.lease import LeaseSettings

_Read = TypeVar("_Read", bound=Settings)

_AVAILABLE_NOW = "available-now"
_NO_LIMIT = "none"
_EARLIEST = -2  # as an offset, to Spark
_INTERVAL = re.compile(r"[1-9][0-9]* (second|minute|hour)s?")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


class Starting(StrEnum):
    """The position at which a new checkpoint begins to read, if it is not a time."""

    EARLIEST = "earliest"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class StartingOffsets:
    """The first offset of each partition to read from; -1 is the latest, -2 the earliest one.

    Partitions that are not named begin with their earliest record.
    """

    offsets: tuple[tuple[str, int, int], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the offsets of a JSON object, by topic and partition, as Spark takes them."""
        topics = parse_json(text)
        return cls(
            tuple(
                (topic, parse_count(partition, 0), _check_offset(offset))
                for topic, partitions in topics.items()
                for partition, offset in partitions.items()
            )
        )

    def complete(self, partitions: Mapping[str, Collection[int]]) -> Self:
        """Return an offset for each partition there is, which Spark demands.

        Raises:
            SettingsError: an offset is of a partition that does not exist.
        """
        there = [(topic, each) for topic, numbers in partitions.items() for each in sorted(numbers)]
        named = {(topic, partition): offset for topic, partition, offset in self.offsets}
        if missing := [f"{topic}/{each}" for topic, each in named if (topic, each) not in there]:
            raise SettingsError(
                [
                    f"--starting has an offset for {', '.join(missing)}, expected partitions of the"
                    " topics that the job reads"
                ]
            )
        return type(self)(tuple((*place, named.get(place, _EARLIEST)) for place in there))

    def __str__(self) -> str:
        """Return the JSON object."""
        topics: dict[str, dict[str, int]] = {}
        for topic, partition, offset in self.offsets:
            topics.setdefault(topic, {})[str(partition)] = offset
        return json.dumps(topics)


class LostOffsets(StrEnum):
    """The policy for records that Kafka deleted before they were read."""

    STOP = "stop"
    GO_ON = "go-on"


def parse_trigger(text: str) -> str:
    """Return a trigger.

    Raises:
        ValueError: the text is not one.
    """
    if text != _AVAILABLE_NOW and not _INTERVAL.fullmatch(text):
        raise ValueError(text)
    return text


def _parse_starting(text: str) -> Starting | StartingOffsets | datetime:
    if text in set(Starting):
        return Starting(text)
    if not text.lstrip().startswith("{"):
        return parse_moment(text)
    try:
        return StartingOffsets.parse(text)
    except (AttributeError, TypeError) as error:  # JSON of another form
        raise ValueError(text) from error


def _check_offset(offset: Any) -> int:
    if type(offset) is not int or offset < _EARLIEST:
        raise ValueError(offset)
    return offset


def _parse_limit(text: str) -> int | None:
    return None if text == _NO_LIMIT else parse_count(text)


def _parse_topics(text: str) -> tuple[str, ...]:
    topics = tuple(topic.strip() for topic in text.split(","))
    if not all(_NAME.fullmatch(topic) for topic in topics):
        raise ValueError(text)
    return topics


def _parse_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(text) from error
    return text


@dataclass(frozen=True, slots=True)
class ReadSettings(Settings):
    """The topics to read, the position to start from, and the size of a batch."""

    topics: tuple[str, ...] = setting(
        "PENSTOCK_TOPICS", "topics, separated by commas", parse=_parse_topics, default=()
    )
    topic_pattern: str = setting(
        "PENSTOCK_TOPIC_PATTERN",
        "a regular expression that matches whole names of topics, instead of --topics",
        parse=_parse_pattern,
        default="",
    )
    group_prefix: str = setting(
        "PENSTOCK_GROUP_PREFIX",
        "prefix of the names of consumer groups, which the access lists allow",
        default="penstock-",
    )
    starting: Starting | StartingOffsets | datetime = setting(
        "PENSTOCK_STARTING",
        "position at which a new checkpoint begins: earliest, latest, a time like "
        '2026-11-21T08:00:00+00:00, or offsets like {"orders": {"0": 12}}, where other partitions'
        " begin with their earliest record",
        parse=_parse_starting,
        default=Starting.EARLIEST,
    )
    max_offsets_per_trigger: int | None = setting(
        "PENSTOCK_MAX_OFFSETS_PER_TRIGGER",
        f"the most records of one batch, a number from 1, or {_NO_LIMIT}. A batch with a limit is"
        " read from Kafka once for all sinks and tables, and executors keep it meanwhile",
        parse=_parse_limit,
        default=1_000_000,
    )
    on_lost_offsets: LostOffsets = setting(
        "PENSTOCK_ON_LOST_OFFSETS",
        "if Kafka has deleted records before they were read: stop, or go-on and report them",
        parse=LostOffsets,
        default=LostOffsets.STOP,
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if topics are missing, or given in two ways."""
        if self.topics == () and self.topic_pattern == "":
            yield "PENSTOCK_TOPICS (--topics) is missing, expected topics or --topic-pattern"
        if self.topics and self.topic_pattern:
            yield "--topics and --topic-pattern are both given, expected one of them"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings(Settings):
    """The settings of every job that follows topics."""

    kafka: KafkaSettings = nested(KafkaSettings)
    read: ReadSettings = nested(ReadSettings)
    lease: LeaseSettings = nested(LeaseSettings)
    schemas: RegistrySettings = nested(RegistrySettings)
    checkpoint: str = setting(
        "PENSTOCK_CHECKPOINT",
        "folder for the checkpoint, such as s3://..., which only this job uses",
    )
    trigger: str = setting(
        "PENSTOCK_TRIGGER",
        f"{_AVAILABLE_NOW} to read what is available and end, or an interval like '30 seconds'",
        parse=parse_trigger,
        default="10 seconds",
    )
    contract: str = setting(
        "PENSTOCK_CONTRACT",
        "path or URL of the file that `make contract` wrote; other flags override it",
        default="",
    )

    def when(self) -> dict[str, Any]:
        """Return the arguments of Spark's `trigger`."""
        return trigger_options(self.trigger)


def trigger_options(trigger: str) -> dict[str, Any]:
    """Return the arguments of Spark's `trigger`."""
    return {"availableNow": True} if trigger == _AVAILABLE_NOW else {"processingTime": trigger}


def name_service(default: str) -> Any:
    """Declare the setting with the name of a job."""
    return setting(
        "PENSTOCK_SERVICE",
        "name of the job in the lines that it prints, and dimension of its metrics",
        default=default,
    )


def read_settings(
    kind: type[_Read],
    argv: Sequence[str],
    environ: Mapping[str, str],
    read_text: Callable[[str], str],
) -> _Read:
    """Read a job's settings; flags override the contract, which overrides the environment.

    `read_text` returns the text at the path or URL of the contract.

    Raises:
        SettingsError: settings are invalid; the error lists every problem.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--contract", default=environ.get("PENSTOCK_CONTRACT", ""))
    parser.add_argument("--topic-pattern", default=environ.get("PENSTOCK_TOPIC_PATTERN", ""))
    given, _ = parser.parse_known_args(argv)
    contract = contract_environ(read_text(given.contract)) if given.contract else {}
    if given.topic_pattern:
        contract.pop("PENSTOCK_TOPICS", None)
    return kind.from_args(argv, {**environ, **contract})
