"""Faults last until they have met a call."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from campaign.faults import inject
from campaign.senders import Fields
from localcloud.door.operations import Call, HttpAnswer
from localcloud.faults import Faults
from systems.killing import ROOT
from systems.supervised import Stall

_WRONG = {"service": "glue", "operation": "RegisterSchemaVersion", "kind": "throttle"}


class _Fields(Fields):
    """Fields of which only the third new one meets a registry that answers wrongly."""

    def __init__(self, set_: Faults) -> None:
        super().__init__()
        self._set = set_

    def grow(self) -> None:
        super().grow()
        if self.level == 4:
            self._set.list()[0].broken = 1


def test_new_fields_come_until_the_registry_answers_wrongly(platform: Any) -> None:
    fields = _Fields(platform.faults)

    assert inject("registry-wrong", platform, fields, {**_WRONG, "seconds": 0.01}) == 1
    assert fields.level == 4
    assert platform.faults.list()[0].calls == 0


def test_a_fault_that_meets_no_call_ends_without_having_happened(platform: Any) -> None:
    fields = _Fields(platform.faults)

    assert inject("answers-wrong", platform, fields, {**_WRONG, "seconds": 0.01}) == 0
    assert fields.level == 1


_ANSWER = HttpAnswer(200, (), b"")


class _Driver(Fields):
    """A driver of which the second new field begins a batch that comes to its end.

    Another program commits before it.
    """

    lock = nullcontext()
    kills = 0

    def __init__(self, set_: Faults) -> None:
        super().__init__()
        self._set = set_

    def find_working(self) -> None:
        self.working = True

    def kill(self) -> bool:
        self.kills += 1
        return True

    def grow(self) -> None:
        super().grow()
        if self.level == 3:
            calls = ("consume", "offsets/7"), ("stage", "commits/7"), ("consume", "commits/7")
            self.answers = [self._call(*each) for each in calls]

    def _call(self, program: str, key: str) -> HttpAnswer | None:
        caller = SimpleNamespace(arn=f"arn:aws:iam::111111111111:user/it-{program}", account="1")
        given: Any = (None, caller, "s3", "PutObject", {"Key": f"checkpoint/{key}"})
        call = Call(*given, lambda: _ANSWER)
        return self._set.around(call, call.forward)


@pytest.mark.parametrize(
    ("moment", "answers", "kills"),
    [
        ("after the tables, before Spark's commit", [_ANSWER, _ANSWER, None], 1),
        ("after the files, before they are staged", [_ANSWER] * 3, 0),
    ],
    ids=["met", "not met"],
)
def test_a_driver_is_killed_at_a_moment_of_a_batch_with_new_fields(
    platform: Any, moment: str, answers: list[HttpAnswer | None], kills: int
) -> None:
    driver = platform.job = _Driver(platform.faults)

    assert inject("driver-killed-at", platform, driver, {"moment": moment}) == kills
    assert driver.working
    assert (driver.answers, driver.kills) == (answers, kills)


def test_a_driver_that_makes_no_such_call_is_not_killed(platform: Any, tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").touch()
    platform.cloud.folder = tmp_path
    driver = platform.job = _Driver(platform.faults)

    with pytest.raises(AssertionError, match="in vain: 2 calls of PutItem"):
        inject("driver-killed", platform, driver, {"operation": "PutItem", "calls": 2})
    assert driver.kills == 0


def test_an_upgrade_ends_the_driver_and_waits_for_one_with_other_settings(platform: Any) -> None:
    begun: list[tuple[str, Path]] = []
    old = Path("old")
    world = SimpleNamespace(arguments={"--trigger": "2 seconds", "--topics": "sensor"}, sources=old)
    platform.world = world
    platform.job = SimpleNamespace(
        lock=nullcontext(),
        find_working=lambda: begun.append((world.arguments["--trigger"], world.sources)),
        end=lambda: True,
    )

    assert inject("driver-upgraded", platform, Fields(), {"trigger": "1 second"}) == 1
    assert begun == [("2 seconds", old), ("1 second", ROOT)]
    assert world.arguments["--topics"] == "sensor"


def test_a_clock_is_wrong_until_aws_has_refused_it(platform: Any, tmp_path: Path) -> None:
    calls, clocks = tmp_path / "calls.jsonl", []
    calls.write_text('{"error": "SignatureDoesNotMatch"}\n')

    def set_environment(PYTHONPATH: str) -> None:
        clocks.append(Path(PYTHONPATH, "sitecustomize.py").is_file() if PYTHONPATH else None)
        calls.write_text(calls.read_text() + '{"error": "SignatureDoesNotMatch"}\n' * 2)

    platform.cloud.folder, platform.clock = tmp_path, nullcontext()
    platform.consumer = SimpleNamespace(set_environment=set_environment)

    times = inject("clock-wrong", platform, Fields(), {"minutes": 16, "seconds": 0.01})

    assert (times, clocks) == (2, [True, None])


@pytest.mark.parametrize("seconds", [-240, 240], ids=["behind", "ahead"])
def test_the_driver_that_is_behind_waits_and_the_last_one_has_the_right_clock(
    platform: Any, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    # A C compiler may be missing where this test runs.
    monkeypatch.setattr(
        "campaign.faults.build_clock", lambda _, seconds: {"CLOCK_SECONDS": str(seconds)}
    )
    world = platform.world = SimpleNamespace(environ={})
    begun: list[int] = []
    waiting: list[int] = []
    job = platform.job = SimpleNamespace(lock=nullcontext(), find_working=lambda: None, starts=1)

    def end() -> None:
        begun.append(int(world.environ.get("CLOCK_SECONDS", 0)))
        job.starts += 1

    def tell() -> str:
        waiting.append(begun[-1])
        return "the last commit is 99 s later than the time of this machine"

    job.end, job.tell = end, tell

    assert inject("driver-clock-wrong", platform, Fields(), {"seconds": seconds}) == 1
    assert (begun, waiting) == ([seconds, 0], [min(seconds, 0)])


class _Replays:
    """Replays of which the second one comes to the moment."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def kill(self, moment: str) -> bool:
        self.begun.append(moment)
        return len(self.begun) == 2

    def run(self) -> None:
        self.begun.append("to its end")


def test_replays_are_killed_until_one_was_at_its_moment_and_then_one_ends(platform: Any) -> None:
    platform.replays = _Replays()

    assert inject("replay-killed", platform, Fields(), {"moment": "amid the marks"}) == 1
    assert platform.replays.begun == ["amid the marks", "amid the marks", "to its end"]


@pytest.mark.parametrize("program", ["staging", "cdc"])
def test_the_driver_of_another_program_stalls(platform: Any, program: str) -> None:
    stalled: list[float] = []

    def stall(seconds: float) -> Stall:
        stalled.append(seconds)
        return Stall(True, "it did not end" if seconds > 40 else "")

    job = SimpleNamespace(lock=nullcontext(), stall=stall)
    platform.others = {program: SimpleNamespace(job=job)}

    assert inject(f"{program}-stalls", platform, Fields(), {"seconds": 40.0}) == 1
    with pytest.raises(TimeoutError, match="it did not end"):
        inject(f"{program}-stalls", platform, Fields(), {"seconds": 50.0})
    assert stalled == [40.0, 50.0]
