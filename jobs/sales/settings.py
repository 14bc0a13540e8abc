"""Settings of the sales jobs: flags, then SSM parameters, then the environment.

`--parameters /sales` reads the parameters below that prefix. A parameter has the name of a flag
with underscores (`topics`, `output_topic`), or one of these:

| parameter | flag |
| --- | --- |
| kafka_servers | --bootstrap-servers |
| kafka_demo_bucket | --bucket |
| schema_registry_url_int, schema_resistry_url_int | --registry-url |
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from penstock.credentials import load_session
from penstock.errors import SettingsError
from penstock.kafka import KafkaSettings
from penstock.settings import (
    Settings,
    describe_settings,
    nested,
    parse_count,
    parse_match,
    parse_moment,
    setting,
)
from penstock.spark import ReadSettings, parse_trigger, trigger_options

_NAMES: Final = {
    "kafka_servers": "bootstrap_servers",
    "kafka_demo_bucket": "bucket",
    "schema_registry_url_int": "registry_url",
    "schema_resistry_url_int": "registry_url",
}
_INTERVAL: Final = re.compile("[1-9][0-9]* (second|minute|hour)s?")
_CONFIG: Final = Config(
    connect_timeout=3, read_timeout=10, retries={"mode": "standard", "total_max_attempts": 4}
)


class Key(StrEnum):
    """The column by which sales are summarised."""

    COUNTRY = "country"
    REGION = "region"


def _parse_rate(text: str) -> float:
    rate = float(text)
    if not 0 < rate <= 10_000:
        raise ValueError(text)
    return rate


@dataclass(frozen=True, slots=True)
class FileSettings(Settings):
    """The folder of the files of sales and regions."""

    parameters: str = setting(
        "SALES_PARAMETERS", "prefix of SSM parameters, such as /sales", default=""
    )
    bucket: str = setting(
        "SALES_BUCKET",
        "bucket, or URL of a folder, with the files in spark/ and results in spark_output/",
        default="",
    )
    sales_file: str = setting("SALES_FILE", "name of the file of sales", default="sales_seed.csv")
    regions_file: str = setting(
        "SALES_REGIONS_FILE", "name of the file of regions", default="sales_regions.csv"
    )

    def locate(self, name: str, folder: str = "spark") -> str:
        """Return the URL of a file.

        Raises:
            SettingsError: the bucket is missing.
        """
        if not self.bucket:
            raise SettingsError(
                [f"SALES_BUCKET (--bucket) is missing, expected the bucket of {folder}/{name}"]
            )
        start = self.bucket if "://" in self.bucket else f"s3://{self.bucket}"
        return f"{start.rstrip('/')}/{folder}/{name}"


@dataclass(frozen=True, slots=True)
class ProduceSettings(Settings):
    """Settings of `seed` and `produce`."""

    kafka: KafkaSettings = nested(KafkaSettings)
    files: FileSettings = nested(FileSettings)
    topic: str = setting("SALES_TOPIC", "topic to write to, created if it is missing")
    rate: float = setting(
        "SALES_RATE", "for produce: messages per second", parse=_parse_rate, default=2.0
    )
    since: datetime | None = setting(
        "SALES_SINCE",
        "time of the first message, such as 2026-11-23T12:00:00+00:00; the timestamps advance at"
        " the rate and nothing waits. Without it, messages have the time at which they are sent",
        parse=parse_moment,
        default=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings(Settings):
    """Settings of the jobs that summarise sales."""

    files: FileSettings = nested(FileSettings)
    by: Key = setting("SALES_BY", "country or region", parse=Key, default=Key.COUNTRY)
    rows: int = setting("SALES_ROWS", "rows to print at most", parse=parse_count, default=25)


@dataclass(frozen=True, slots=True)
class SummarySettings(ReportSettings):
    """Settings of those that read sales, or results, from topics."""

    kafka: KafkaSettings = nested(KafkaSettings)
    read: ReadSettings = nested(ReadSettings)


@dataclass(frozen=True, slots=True)
class TimeSettings(Settings):
    """The times of sales that count."""

    ahead: str = setting(
        "SALES_AHEAD",
        "how far in the future the time of a sale may be, by the clock of this machine; a sale that"
        " is further does not count in windows, and does not end the wait for others",
        parse=partial(parse_match, _INTERVAL),
        default="5 minutes",
    )


@dataclass(frozen=True, slots=True)
class RunSettings(Settings):
    """The checkpoint and the trigger of a stream."""

    checkpoint: str = setting(
        "SALES_CHECKPOINT", "folder for the checkpoint, such as s3://..., which only this job uses"
    )
    trigger: str = setting(
        "SALES_TRIGGER",
        "available-now to read what is available and end, or an interval like '30 seconds'",
        parse=parse_trigger,
        default="1 minute",
    )

    def when(self) -> dict[str, Any]:
        """Return the arguments of Spark's `trigger`."""
        return trigger_options(self.trigger)


@dataclass(frozen=True, slots=True)
class StreamSettings(Settings):
    """Settings of the streaming jobs."""

    summary: SummarySettings = nested(SummarySettings)
    times: TimeSettings = nested(TimeSettings)
    run: RunSettings = nested(RunSettings)
    output_topic: str = setting(
        "SALES_OUTPUT_TOPIC", "topic for the results, created if it is missing", default=""
    )
    output_table: str = setting(
        "SALES_OUTPUT_TABLE",
        "Iceberg table for the results, as DATABASE.TABLE, created if it is missing",
        default="",
    )

    def problems(self) -> Iterator[str]:
        """Yield a problem if it is unknown which windows would lack sales."""
        if not self._is_earliest() and self.begins() is None:
            yield (
                "--starting is not earliest or a time, expected one of them: the first windows"
                " would lack the sales before it"
            )

    def begins(self) -> datetime | None:
        """Return the time before which no sales are read, None if all are."""
        starting = self.summary.read.starting
        return starting if isinstance(starting, datetime) else None

    def _is_earliest(self) -> bool:
        return self.summary.read.starting in {"earliest", None}  # None could not be read


@dataclass(frozen=True, slots=True)
class TotalsSettings(StreamSettings):
    """Settings of `totals`."""

    def problems(self) -> Iterator[str]:
        """Yield a problem if totals would lack sales."""
        if not self._is_earliest():
            yield (
                "--starting is not earliest, expected it for totals of all sales: they would lack"
                " those before it"
            )


def add_parameters(
    kind: type[Settings],
    words: Sequence[str],
    environ: Mapping[str, str],
    read: Callable[[str], Mapping[str, str]] | None = None,
) -> list[str]:
    """Return the flags of a job with those of its SSM parameters before them; the last one counts.

    Parameters that this job does not use are ignored, since all jobs share a prefix.

    Raises:
        SettingsError: the parameters cannot be read, or there are none.
    """
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--parameters", default=environ.get("SALES_PARAMETERS", ""))
    prefix = parser.parse_known_args(words)[0].parameters
    if not prefix:
        return [*words]
    flags = {row.flag for row in describe_settings(kind)}
    given = [
        word
        for name, value in sorted((read or read_parameters)(prefix).items())
        if (flag := "--" + _NAMES.get(name, name).replace("_", "-")) in flags
        for word in (flag, value)
    ]
    return [*given, *words]


def read_parameters(prefix: str) -> dict[str, str]:
    """Return the SSM parameters below a prefix, by their names without it.

    Raises:
        SettingsError: they cannot be read, or there are none.
    """
    path = "/" + prefix.strip("/")
    try:
        client = load_session().create_client("ssm", config=_CONFIG)
        found = dict(_list_parameters(client, path))
    except (ClientError, BotoCoreError) as error:
        raise SettingsError(
            [f"the SSM parameters below {path} cannot be read: {str(error).rstrip('.')}"]
        ) from error
    if not found:
        raise SettingsError(
            [f"--parameters is {prefix!r}, expected a prefix with SSM parameters below it"]
        )
    return found


def _list_parameters(client: Any, path: str) -> Iterator[tuple[str, str]]:
    for page in client.get_paginator("get_parameters_by_path").paginate(
        Path=path, WithDecryption=True
    ):
        for each in page["Parameters"]:
            yield each["Name"].rpartition("/")[2], each["Value"]
