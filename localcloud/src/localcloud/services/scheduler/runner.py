"""The clock of schedules: each target is invoked when its schedule is due."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from localcloud.cloud import Cloud
from localcloud.door.control import action, describe
from localcloud.services.scheduler.delivery import Delivery
from localcloud.services.scheduler.model import DEFAULT_GROUP, Schedule, Schedules

_JUST_BEFORE = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Planned:
    """The next occurrence of a schedule, and the moment within its window to invoke at."""

    schedule: Schedule
    occurrence: datetime
    invoke_at: datetime


@dataclass(slots=True)
class Runner:
    """Invokes the targets of all accounts, from the first schedule on."""

    results: dict[str, str] = field(default_factory=dict)
    _planned: dict[str, _Planned] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def plan(self, cloud: Cloud, schedule: Schedule, after: datetime | None = None) -> bool:
        """Plan the next occurrence of a schedule; return False if it has none."""
        enabled = schedule.settings["State"] == "ENABLED"
        occurrence = schedule.next_after(after or schedule.modified - _JUST_BEFORE)
        with self._changed:
            self._start(cloud)
            self._planned.pop(schedule.arn, None)
            if enabled and occurrence is not None:
                window = schedule.settings["FlexibleTimeWindow"].get("MaximumWindowInMinutes", 0)
                late = timedelta(minutes=window * random.random())  # noqa: S311 - any moment
                self._planned[schedule.arn] = _Planned(schedule, occurrence, occurrence + late)
                self._changed.notify()
        return occurrence is not None

    def forget(self, schedule: Schedule) -> None:
        """Stop a schedule that was deleted."""
        with self._changed:
            self._planned.pop(schedule.arn, None)
            self.results.pop(schedule.arn, None)

    def next_of(self, schedule: Schedule) -> datetime | None:
        """Return the next occurrence of a schedule."""
        planned = self._planned.get(schedule.arn)
        return planned.occurrence if planned else None

    def invoke(self, cloud: Cloud, schedule: Schedule, occurrence: datetime) -> Delivery:
        """Invoke a target; what failed and may be repeated goes on in the background."""
        delivery = Delivery(cloud, schedule, occurrence)
        settled = delivery.attempt()
        self.results[schedule.arn] = delivery.error or "invoked"
        if not settled:
            self._in_background(lambda: self._retry(delivery))
        return delivery

    def stop(self) -> None:
        """End the clock."""
        self._stopped.set()
        with self._changed:
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _start(self, cloud: Cloud) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(cloud,), daemon=True)
            self._thread.start()
            cloud.on_stop(self.stop)

    def _run(self, cloud: Cloud) -> None:
        while not self._stopped.is_set():
            for planned in self._take_due():
                self._in_background(lambda it=planned: self._fire(cloud, it))

    def _take_due(self) -> list[_Planned]:
        """Wait until something is due or the plan changes; return what is due."""
        with self._changed:
            now = datetime.now(UTC)
            due = [each for each in self._planned.values() if each.invoke_at <= now]
            for each in due:
                del self._planned[each.schedule.arn]
            if not due and not self._stopped.is_set():
                first = min((each.invoke_at for each in self._planned.values()), default=None)
                self._changed.wait((first - now).total_seconds() if first else None)
            return due

    def _fire(self, cloud: Cloud, planned: _Planned) -> None:
        schedule = planned.schedule
        place = schedule.place
        schedules = cloud.state(Schedules, place.account, place.region)
        with schedules.lock:
            if schedules.by_key.get(schedule.key) is not schedule:
                return  # deleted or updated in the meantime
            more = self.plan(cloud, schedule, after=max(planned.occurrence, datetime.now(UTC)))
            if not more and schedule.ends:
                del schedules.by_key[schedule.key]
        self.invoke(cloud, schedule, planned.occurrence)

    def _retry(self, delivery: Delivery) -> None:
        while not self._stopped.wait(delivery.pause_seconds):
            settled = delivery.attempt()
            self.results[delivery.schedule.arn] = delivery.error or "invoked"
            if settled:
                return

    def _in_background(self, work: Any) -> None:
        threading.Thread(target=work, name="schedule", daemon=True).start()


@action("fire-schedule")
def fire_schedule(
    cloud: Cloud, *, account: str, region: str, schedule: str, group: str = DEFAULT_GROUP
) -> dict[str, Any]:
    """Invoke the target of an enabled schedule now; its plan stays as it is."""
    found = cloud.state(Schedules, account, region).by_key.get((group, schedule))
    if found is None:
        raise LookupError(f"schedule {group}/{schedule} does not exist in {account}, {region}")
    if found.settings["State"] != "ENABLED":
        raise ValueError(f"schedule {group}/{schedule} is {found.settings['State']}")
    now = datetime.now(UTC).replace(microsecond=0)
    delivery = cloud.state(Runner).invoke(cloud, found, now)
    return {"execution_id": delivery.execution_id, "error": delivery.error}


@describe("schedules")
def describe_schedules(cloud: Cloud) -> list[dict[str, Any]]:
    """List the schedules with their next occurrence and how the last invocation ended."""
    runner = cloud.state(Runner)
    return [
        {
            "arn": each.arn,
            "state": each.settings["State"],
            "next": runner.next_of(each),
            "last": runner.results.get(each.arn, ""),
        }
        for _, _, schedules in cloud.states(Schedules)
        for each in list(schedules.by_key.values())
    ]
