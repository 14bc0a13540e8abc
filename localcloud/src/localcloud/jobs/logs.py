"""The destinations of a job's output on AWS: a bucket, a log group, or both."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from localcloud.errors import LocalcloudError

_GROUP = "/aws/emr-serverless"
_WORKER = "SPARK_DRIVER"
# PutLogEvents takes a megabyte, counting 26 bytes for each event besides its text.
_EVENT_BYTES, _BATCH_BYTES, _BATCH_EVENTS = 26, 1_000_000, 10_000
_MAX_LINE = 250_000


@dataclass(frozen=True, slots=True)
class LogPlaces:
    """The places of a monitoring configuration; `owner` is the run's part of every name."""

    owner: str
    s3: Mapping[str, Any]
    cloudwatch: Mapping[str, Any]
    by_attempt: bool = False
    worker: str = _WORKER

    def of_attempt(self, number: int) -> LogPlaces:
        """Return the places of one attempt, if a run may have several."""
        return replace(self, owner=f"{self.owner}/attempts/{number}") if self.by_attempt else self


def read_places(owner: str, monitoring: Mapping[str, Any], *, by_attempt: bool) -> LogPlaces:
    """Return the log places of a monitoringConfiguration."""
    watched = monitoring.get("cloudWatchLoggingConfiguration", {})
    s3 = monitoring.get("s3MonitoringConfiguration", {})
    return LogPlaces(owner, s3, watched if watched.get("enabled") else {}, by_attempt)


def deliver_logs(
    places: LogPlaces, open_client: Callable[[str], Any], outputs: Mapping[str, Path]
) -> list[str]:
    """Deliver {stdout, stderr} with the job's role, from its VPC; return the problems."""
    problems = []
    for wanted, send in ((places.s3.get("logUri"), _to_s3), (places.cloudwatch, _to_cloudwatch)):
        try:
            if wanted:
                send(places, open_client, outputs)
        except (BotoCoreError, ClientError, LocalcloudError) as error:
            problems.append(f"the log was not delivered: {error}")
    return problems


def _to_s3(
    places: LogPlaces, open_client: Callable[[str], Any], outputs: Mapping[str, Path]
) -> None:
    place, s3 = urlsplit(places.s3["logUri"]), open_client("s3")
    key = places.s3.get("encryptionKeyArn")
    sealed = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": key} if key else {}
    start = "/".join(filter(None, [place.path.strip("/"), places.owner, places.worker]))
    for name, path in outputs.items():
        body = gzip.compress(path.read_bytes())
        s3.put_object(Bucket=place.netloc, Key=f"{start}/{name}.gz", Body=body, **sealed)


def _to_cloudwatch(
    places: LogPlaces, open_client: Callable[[str], Any], outputs: Mapping[str, Path]
) -> None:
    settings, logs = places.cloudwatch, open_client("logs")
    group = settings.get("logGroupName", _GROUP)
    wanted = settings.get("logTypes", {}).get(_WORKER, ["STDOUT", "STDERR"])
    found = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]
    if group not in [one["logGroupName"] for one in found]:
        logs.create_log_group(logGroupName=group)
    start = "/".join(filter(None, [settings.get("logStreamNamePrefix"), places.owner, _WORKER]))
    for name, path in outputs.items():
        if name.upper() in wanted:
            stream = f"{start}/{name}"
            logs.create_log_stream(logGroupName=group, logStreamName=stream)
            for batch in _batches(path.read_text(errors="replace").splitlines()):
                logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=batch)


def _batches(lines: list[str]) -> Iterator[list[dict[str, Any]]]:
    now, size = int(time.time() * 1000), 0
    batch: list[dict[str, Any]] = []
    for line in filter(None, (line[:_MAX_LINE] for line in lines)):
        length = len(line.encode()) + _EVENT_BYTES
        if batch and (size + length > _BATCH_BYTES or len(batch) == _BATCH_EVENTS):
            yield batch
            batch, size = [], 0
        batch.append({"timestamp": now, "message": line})
        size += length
    if batch:
        yield batch
