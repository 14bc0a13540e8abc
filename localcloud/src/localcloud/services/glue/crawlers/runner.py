"""Crawls in the background, each with the permissions of the crawler's role."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from datetime import UTC, datetime
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from localcloud.cloud import Cloud
from localcloud.door.control import describe
from localcloud.errors import LocalcloudError
from localcloud.identity.credentials import SessionKey, credentials_for_role
from localcloud.services.glue.crawlers.model import Counts, Crawler, Crawlers, CrawlerState
from localcloud.services.glue.crawlers.requests import COMBINE, read_options

_log = logging.getLogger(__name__)
_GROUP: Final = "/aws-glue/crawlers"
_STOP_SECONDS: Final = 10
_session: Any = boto3.Session()
_building = threading.Lock()


class RunningCrawls:
    """The crawls that run, which end with localcloud."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._adding = threading.Lock()

    def start(self, cloud: Cloud, crawler: Crawler) -> None:
        """Crawl in the background."""
        thread = threading.Thread(target=_run, args=(cloud, crawler), name="crawl", daemon=True)
        with self._adding:
            if not self._threads:
                cloud.on_stop(self.stop)
            self._threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """Wait for the crawls."""
        for thread in self._threads:
            thread.join(_STOP_SECONDS)


@describe("crawlers")
def describe_crawlers(cloud: Cloud) -> list[dict[str, Any]]:
    """List the crawlers with their state and how the last crawl ended."""
    return [
        {
            "name": each.name,
            "account": account,
            "state": str(each.state),
            "last": each.last_crawl.get("Status", ""),
            "error": each.last_crawl.get("ErrorMessage", ""),
        }
        for account, _, crawlers in cloud.states(Crawlers)
        for each in list(crawlers.by_name.values())
    ]


def _run(cloud: Cloud, crawler: Crawler) -> None:
    prefix, started = str(uuid.uuid4()), datetime.now(UTC)
    key = credentials_for_role(cloud, crawler.role_arn, "AWS-Crawler")
    lines = [f"BENCHMARK : Running Start Crawl for Crawler {crawler.name}"]
    error = ""
    try:
        _crawl(cloud, crawler, key, lines)
    except ClientError as failure:
        error = _write_failure(failure)
    except LocalcloudError as failure:
        error = str(failure)
    except Exception as failure:  # a bug of ours: it must be visible in the crawler
        _log.exception("crawler %s failed", crawler.name)
        error = f"localcloud failed: {type(failure).__name__}: {failure}"
    crawlers = cloud.state(Crawlers, crawler.account, crawler.region)
    with crawlers.lock:
        stopped = crawler.state is CrawlerState.STOPPING
        crawler.state = CrawlerState.STOPPING
    status = "FAILED" if error else "CANCELLED" if stopped else "SUCCEEDED"
    lines.append(f"ERROR : {error}" if error else "BENCHMARK : Crawler has finished running")
    _write_log(cloud, crawler, key, [f"[{prefix}] {line}" for line in lines])
    with crawlers.lock:
        crawler.last_crawl = {
            "Status": status,
            **({"ErrorMessage": error} if error else {}),
            "LogGroup": _GROUP,
            "LogStream": crawler.name,
            "MessagePrefix": prefix,
            "StartTime": started.timestamp(),
        }
        crawler.runtimes.append(time.monotonic() - crawler.started)
        crawler.state = CrawlerState.READY
    crawler.over.set()


def _crawl(cloud: Cloud, crawler: Crawler, key: SessionKey, lines: list[str]) -> None:
    # pyarrow takes a second to import, which only crawls and queries need.
    from localcloud.services.glue.crawlers.catalog import CatalogWriter  # noqa: PLC0415
    from localcloud.services.glue.crawlers.files import read_folders  # noqa: PLC0415
    from localcloud.services.glue.crawlers.grouping import group_folders  # noqa: PLC0415

    settings = crawler.settings
    crawler.counts = Counts()
    s3 = _open_client(cloud, crawler, key, "s3")
    glue = _open_client(cloud, crawler, key, "glue")
    writer = CatalogWriter(glue, settings, crawler.counts, lines)
    writer.glue.get_database(Name=settings["DatabaseName"])
    combine = COMBINE in read_options(settings)
    names = set()
    for target in settings["Targets"]["S3Targets"]:
        for found in group_folders(read_folders(s3, target), combine=combine):
            if crawler.state is CrawlerState.STOPPING:
                return
            names.add(writer.write(found, target["Path"]))
    writer.remove_others(names)


def _open_client(cloud: Cloud, crawler: Crawler, key: SessionKey, service: str) -> Any:
    # One session for all: each would read the model of a service again.
    with _building:
        return _session.client(
            service,
            region_name=crawler.region,
            endpoint_url=cloud.endpoint,
            aws_access_key_id=key.access_key,
            aws_secret_access_key=key.secret_key,
            aws_session_token=key.session_token,
        )


def _write_failure(failure: ClientError) -> str:
    error, meta = failure.response["Error"], failure.response["ResponseMetadata"]
    return (
        f"{error['Message']} (Service: {failure.operation_name}; Status Code: "
        f"{meta['HTTPStatusCode']}; Error Code: {error['Code']})"
    )


def _write_log(cloud: Cloud, crawler: Crawler, key: SessionKey, lines: list[str]) -> None:
    """Write the lines of a crawl; without the permission there are none, and the crawl stands."""
    logs = _open_client(cloud, crawler, key, "logs")
    place = {"logGroupName": _GROUP, "logStreamName": crawler.name}
    now = int(time.time() * 1_000)
    events = [{"timestamp": now, "message": line} for line in lines]
    try:
        for create, names in (
            (logs.create_log_group, {"logGroupName": _GROUP}),
            (logs.create_log_stream, place),
        ):
            try:
                create(**names)
            except logs.exceptions.ResourceAlreadyExistsException:
                continue
        logs.put_log_events(**place, logEvents=events)
    except ClientError as error:
        _log.warning("crawler %s writes no log: %s", crawler.name, error)
