"""The operations on crawlers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from moto.glue.models import glue_backends

from localcloud.door.errors import AwsError, unknown_operation
from localcloud.door.operations import Call, operation
from localcloud.door.pages import Pages
from localcloud.services.glue.crawlers.model import Crawler, Crawlers, CrawlerState
from localcloud.services.glue.crawlers.requests import check_role, read_request
from localcloud.services.glue.crawlers.runner import RunningCrawls

_PAGES = Pages("NextToken", "MaxResults", 100, "InvalidInputException")


@operation("glue", "CreateCrawler")
def create_crawler(call: Call) -> dict[str, Any]:
    """Create a crawler."""
    crawlers = _crawlers(call)
    settings = read_request(call)
    crawler = Crawler(call.account, call.region, call.cloud.endpoint, settings)
    with crawlers.lock:
        if crawler.name in crawlers.by_name:
            raise AwsError(
                "AlreadyExistsException", f"Crawler with name {crawler.name} already exists"
            )
        crawlers.by_name[crawler.name] = crawler
    # The tags of crawlers are moto's, as those of tables.
    glue_backends[call.account][call.region].tag_resource(
        f"arn:aws:glue:{call.region}:{call.account}:crawler/{crawler.name}",
        call.params.get("Tags") or {},
    )
    return {}


@operation("glue", "GetCrawler")
def get_crawler(call: Call) -> dict[str, Any]:
    """Describe a crawler."""
    return {"Crawler": _find_crawler(call).describe()}


@operation("glue", "GetCrawlers")
def get_crawlers(call: Call) -> dict[str, Any]:
    """Describe all crawlers, in pages."""
    return _page(call, "Crawlers", (each.describe() for each in _sorted(call)))


@operation("glue", "ListCrawlers")
def list_crawlers(call: Call) -> dict[str, Any]:
    """List the names of the crawlers, in pages."""
    if call.params.get("Tags"):
        raise AwsError("InvalidInputException", "localcloud lists crawlers without Tags only")
    return _page(call, "CrawlerNames", (each.name for each in _sorted(call)))


@operation("glue", "BatchGetCrawlers")
def batch_get_crawlers(call: Call) -> dict[str, Any]:
    """Describe crawlers by name."""
    known, names = _crawlers(call).by_name, call.params["CrawlerNames"]
    return {
        "Crawlers": [known[name].describe() for name in names if name in known],
        "CrawlersNotFound": [name for name in names if name not in known],
    }


@operation("glue", "UpdateCrawler")
def update_crawler(call: Call) -> dict[str, Any]:
    """Change the settings of a crawler that does not run."""
    crawlers = _crawlers(call)
    crawler = _find_crawler(call)
    settings = read_request(call, crawler.settings)
    with crawlers.lock:
        _check_ready(crawler)
        crawler.settings = settings
        crawler.version += 1
        crawler.updated = datetime.now(UTC)
    return {}


@operation("glue", "DeleteCrawler")
def delete_crawler(call: Call) -> dict[str, Any]:
    """Delete a crawler that does not run; its tables stay."""
    crawlers = _crawlers(call)
    crawler = _find_crawler(call)
    with crawlers.lock:
        _check_ready(crawler)
        crawlers.by_name.pop(crawler.name, None)
    return {}


@operation("glue", "StartCrawler")
def start_crawler(call: Call) -> dict[str, Any]:
    """Start a crawl in the background."""
    crawlers = _crawlers(call)
    crawler = _find_crawler(call)
    check_role(call.account, crawler.settings["Role"])
    with crawlers.lock:
        _check_ready(crawler, "has already started")
        crawler.state, crawler.started = CrawlerState.RUNNING, time.monotonic()
        crawler.over.clear()
    call.cloud.state(RunningCrawls).start(call.cloud, crawler)
    return {}


@operation("glue", "StopCrawler")
def stop_crawler(call: Call) -> dict[str, Any]:
    """Stop a crawl: what it has written stays."""
    crawlers = _crawlers(call)
    crawler = _find_crawler(call)
    with crawlers.lock:
        if crawler.state is CrawlerState.STOPPING:
            raise AwsError(
                "CrawlerStoppingException", f"Crawler with name {crawler.name} is stopping"
            )
        if crawler.state is CrawlerState.READY:
            raise AwsError(
                "CrawlerNotRunningException", f"Crawler with name {crawler.name} isn't running"
            )
        crawler.state = CrawlerState.STOPPING
    return {}


@operation("glue", "GetCrawlerMetrics")
def get_crawler_metrics(call: Call) -> dict[str, Any]:
    """Describe the last crawls of crawlers, all by default."""
    wanted = call.params.get("CrawlerNameList") or list(_crawlers(call).by_name)
    found = (each for each in _sorted(call) if each.name in wanted)
    return _page(call, "CrawlerMetricsList", map(_measure, found))


@operation("glue", "ListCrawls")
def list_crawls(call: Call) -> dict[str, Any]:
    """Refuse to list crawls: moto knows none of them."""
    raise unknown_operation(call.name, call.protocol)


def _measure(crawler: Crawler) -> dict[str, Any]:
    times = sorted(crawler.runtimes)
    return {
        "CrawlerName": crawler.name,
        "TimeLeftSeconds": 0.0,
        "StillEstimating": crawler.state is not CrawlerState.READY,
        "LastRuntimeSeconds": crawler.runtimes[-1] if times else 0.0,
        "MedianRuntimeSeconds": times[len(times) // 2] if times else 0.0,
        "TablesCreated": crawler.counts.created,
        "TablesUpdated": crawler.counts.updated,
        "TablesDeleted": crawler.counts.deleted,
    }


def _crawlers(call: Call) -> Crawlers:
    return call.cloud.state(Crawlers, call.account, call.region)


def _sorted(call: Call) -> list[Crawler]:
    known = dict(_crawlers(call).by_name)
    return [known[name] for name in sorted(known)]


def _find_crawler(call: Call) -> Crawler:
    name = call.params["Name"]
    found = _crawlers(call).by_name.get(name)
    if found is None:
        raise AwsError("EntityNotFoundException", f"Crawler with name {name} does not exist")
    return found


def _check_ready(crawler: Crawler, what: str = "is currently running") -> None:
    if crawler.state is not CrawlerState.READY:
        said = f"Crawler with name {crawler.name} {what}"
        raise AwsError("CrawlerRunningException", said)


def _page(call: Call, name: str, found: Iterable[Any]) -> dict[str, Any]:
    page, more = _PAGES.cut(call, list(found))
    return {name: page, **more}
