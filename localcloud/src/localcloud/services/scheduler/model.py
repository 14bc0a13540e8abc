"""The state of EventBridge Scheduler: groups with their schedules."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from localcloud.services.scheduler.expressions import At, Expression

DEFAULT_GROUP = "default"


@dataclass(frozen=True, slots=True)
class Place:
    """The account and region of a schedule."""

    account: str
    region: str

    def arn(self, end: str) -> str:
        """Return the ARN of something here."""
        return f"arn:aws:scheduler:{self.region}:{self.account}:{end}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule; `settings` are those of CreateSchedule with the defaults filled in."""

    place: Place
    settings: dict[str, Any] = field(repr=False)
    expression: Expression
    created: datetime
    modified: datetime
    token: str = field(repr=False)

    @property
    def key(self) -> tuple[str, str]:
        """The names of its group and of itself."""
        return self.settings["GroupName"], self.settings["Name"]

    @property
    def arn(self) -> str:
        """The schedule's ARN."""
        return self.place.arn("schedule/" + "/".join(self.key))

    @property
    def target(self) -> dict[str, Any]:
        """The target, as in the API."""
        target: dict[str, Any] = self.settings["Target"]
        return target

    @property
    def ends(self) -> bool:
        """Return whether it is deleted after its last invocation."""
        return bool(self.settings["ActionAfterCompletion"] == "DELETE")

    def next_after(self, moment: datetime) -> datetime | None:
        """Return its first occurrence after a moment, None if it has none."""
        start = self.settings.get("StartDate") or self.modified
        found = self.expression.next_after(moment, start)
        end = self.settings.get("EndDate")
        over = found is not None and end is not None and found > end
        return None if over and not isinstance(self.expression, At) else found

    def describe(self) -> dict[str, Any]:
        """Describe it as GetSchedule does."""
        dates = {"CreationDate": self.created, "LastModificationDate": self.modified}
        return {"Arn": self.arn, **self.settings, **dates}

    def summarize(self) -> dict[str, Any]:
        """Describe it as ListSchedules does."""
        names = ("Arn", "Name", "GroupName", "State", "CreationDate", "LastModificationDate")
        described = self.describe()
        return {name: described[name] for name in names} | {"Target": {"Arn": self.target["Arn"]}}

    def changed_to(self, settings: dict[str, Any], expression: Expression) -> Schedule:
        """Return it with other settings."""
        now = datetime.now(UTC)
        return replace(self, settings=settings, expression=expression, modified=now)


@dataclass(frozen=True, slots=True)
class Group:
    """A schedule group."""

    name: str
    arn: str
    token: str = field(default="", repr=False)
    tags: dict[str, str] = field(default_factory=dict)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    def describe(self) -> dict[str, Any]:
        """Describe it as GetScheduleGroup does."""
        return {
            "Arn": self.arn,
            "Name": self.name,
            "State": "ACTIVE",
            "CreationDate": self.created,
            "LastModificationDate": self.created,
        }


class Schedules:
    """The groups of an account and region, and their schedules by group and name."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.groups: dict[str, Group] = {}
        self.by_key: dict[tuple[str, str], Schedule] = {}

    def list_groups(self, place: Place) -> dict[str, Group]:
        """Return the groups by name; `default` is always there."""
        with self.lock:
            arn = place.arn(f"schedule-group/{DEFAULT_GROUP}")
            self.groups.setdefault(DEFAULT_GROUP, Group(DEFAULT_GROUP, arn))
            return self.groups
