"""A crawler: its settings, its state and its last crawl."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


class CrawlerState(StrEnum):
    """The states of a crawler; a crawl that ends goes through STOPPING."""

    READY = "READY"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"


@dataclass(slots=True)
class Counts:
    """The tables that the last crawl created, updated and deleted."""

    created: int = 0
    updated: int = 0
    deleted: int = 0


@dataclass(slots=True)
class Crawler:
    """A crawler of an account; `settings` are the parameters of its request, with defaults."""

    account: str
    region: str
    endpoint: str
    settings: dict[str, Any]
    state: CrawlerState = CrawlerState.READY
    version: int = 1
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated: datetime = field(default_factory=lambda: datetime.now(UTC))
    last_crawl: dict[str, Any] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    runtimes: list[float] = field(default_factory=list)
    started: float = 0.0
    over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def name(self) -> str:
        """The name, which is unique in an account and region."""
        return str(self.settings["Name"])

    @property
    def role_arn(self) -> str:
        """The ARN of the role that it works with."""
        return role_arn(self.account, self.settings["Role"])

    def describe(self) -> dict[str, Any]:
        """Return the crawler as GetCrawler does."""
        schedule = self.settings.get("Schedule")
        elapsed = 0.0 if self.state is CrawlerState.READY else time.monotonic() - self.started
        return {
            **{name: value for name, value in self.settings.items() if name != "Schedule"},
            **({"LastCrawl": self.last_crawl} if self.last_crawl else {}),
            **(
                {"Schedule": {"ScheduleExpression": schedule, "State": "SCHEDULED"}}
                if schedule
                else {}
            ),
            # Roles are shown without the ARN's beginning, as the console and the API do.
            "Role": self.role_arn.partition(":role/")[2],
            "State": str(self.state),
            "CrawlElapsedTime": int(elapsed * 1_000),
            "CreationTime": self.created.timestamp(),
            "LastUpdated": self.updated.timestamp(),
            "Version": self.version,
        }


class Crawlers:
    """The crawlers of an account and region."""

    def __init__(self) -> None:
        self.by_name: dict[str, Crawler] = {}
        self.lock = threading.Lock()


def role_arn(account: str, role: str) -> str:
    """Return the ARN of a role that is given by its ARN, or by its name with its path."""
    return role if role.startswith("arn:") else f"arn:aws:iam::{account}:role/{role}"
