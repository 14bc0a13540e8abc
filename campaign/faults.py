"""The faults: functions that do harm for a while, and return how often it was seen to happen."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from campaign.platform import TOPIC, Platform
from campaign.senders import Fields
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call, HttpAnswer
from localcloud.faults import Faults, Kind, Performed
from localcloud.testing import ask_for, wait_until
from localcloud.testing.mappings import Topic, second_member
from localcloud.testing.policies import allow, document
from systems.clocks import build_clock, write_clock
from systems.killing import ROOT
from systems.moments import CAPTURED, CONSUMED, STAGED, Moment
from systems.processes import is_stopped
from systems.supervised import SupervisedJob
from systems.traps import Trap

_WAITS: Final = "later than the time of this machine"  # says a driver that may not commit yet
_PATIENCE_SECONDS: Final = 300.0  # until a fault has met its call, though a driver starts
_ASK_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.1
_REGISTRY: Final = re.compile("Schema|Registr")  # in the names of its calls, among those of Glue
_Answer = TypeVar("_Answer")
_ROLES: Final = {"function": "dynamodb:BatchWriteItem", "reader": "glue:GetSchemaVersion"}


def inject(fault: str, platform: Platform, fields: Fields, arguments: Mapping[str, Any]) -> int:
    """Let a fault happen and end; return how often it was seen to happen."""
    return _FAULTS[fault](platform, fields, **arguments)


def _kill_broker(platform: Platform, _: Fields, broker: int, seconds: float) -> int:
    cluster = platform.world.kafka.cluster
    with platform.brokers:
        pid = cluster.pids[broker]
        cluster.kill(broker)
        time.sleep(seconds)
        is_gone = broker not in cluster.pids
        cluster.restart(broker)
    return int(is_gone and cluster.pids[broker] != pid)


def _stop_broker(platform: Platform, _: Fields, broker: int, seconds: float) -> int:
    cluster = platform.world.kafka.cluster
    with platform.brokers:
        cluster.pause(broker)
        time.sleep(seconds)
        stood_still = is_stopped(cluster.pids[broker])
        cluster.resume(broker)
    return int(stood_still)


def _slow_links(platform: Platform, _: Fields, broker: int, seconds: float, latency: float) -> int:
    with platform.brokers:
        return platform.links.slow(broker, seconds, latency)


def _cut_links(platform: Platform, _: Fields, broker: int, seconds: float) -> int:
    with platform.brokers:
        return platform.links.cut(broker, seconds)


def _split_links(platform: Platform, _: Fields, broker: int, seconds: float, of: str) -> int:
    """Lose what a broker and its clients, or its followers, send each other."""
    with platform.brokers:
        return platform.links.split(broker, seconds, of)


def _kill_driver(platform: Platform, _: Fields, operation: str, calls: int) -> int:
    """Kill the driver right after so many calls of an operation."""

    with platform.job.lock:
        platform.job.find_working()
        log = _CallLog(platform)
        wait_until(
            f"{calls} calls of {operation}",
            lambda: log.count(f'"operation": "{operation}"') >= calls,
            _PATIENCE_SECONDS,
        )
        return int(platform.job.kill())


def _kill_driver_at(platform: Platform, fields: Fields, moment: str) -> int:
    """Kill the driver before or after a named call, in a batch with a new version."""
    return _kill_at(platform, platform.job, CONSUMED[moment], "consume", fields.grow)


def _stop_driver(platform: Platform, _: Fields, seconds: float) -> int:
    with platform.job.lock:
        return int(platform.job.stop(seconds))


def _stall_driver(platform: Platform, _: Fields, seconds: float) -> int:
    """Stop the driver for longer than its lease, while another one begins."""
    return _stall(platform.job, seconds)


def _upgrade_driver(platform: Platform, _: Fields, **settings: str) -> int:
    """End the driver, and begin one of this code with other settings from the same checkpoint."""
    with platform.job.lock:
        platform.job.find_working()
        platform.world.sources = ROOT
        platform.world.arguments |= {f"--{name}": value for name, value in settings.items()}
        has_ended = platform.job.end()
        platform.job.find_working()
    return int(has_ended)


def _set_driver_clock(platform: Platform, _: Fields, seconds: int) -> int:
    """Begin a driver whose clock is wrong, and then one whose clock is right.

    The one that is behind the other waits until it may commit. Other programs that begin meanwhile
    have the wrong clock too.
    """
    with platform.job.lock, TemporaryDirectory() as folder:
        platform.job.find_working()
        platform.world.environ = build_clock(Path(folder) / "clock", seconds)
        try:
            has_waited = _begin_driver(platform, waits=seconds < 0)
        finally:
            platform.world.environ = {}
        return int(_begin_driver(platform, waits=seconds > 0) or has_waited)


def _begin_driver(platform: Platform, *, waits: bool) -> bool:
    """Let another driver begin and work; return whether it waited first, if it should."""
    starts = platform.job.starts
    platform.job.end()
    wait_until("another driver", lambda: platform.job.starts > starts, _PATIENCE_SECONDS)
    has_waited = waits and _ask(lambda: _WAITS in platform.job.tell())
    platform.job.find_working()
    return has_waited


def _kill_staging(platform: Platform, _: Fields, moment: str) -> int:
    """Kill the driver of the staging job before or after a named call."""
    job = platform.others["staging"].job
    return _kill_at(platform, job, STAGED[moment], "stage", lambda: None)


def _kill_cdc(platform: Platform, _: Fields, moment: str) -> int:
    """Kill the driver of change data capture before or after a named call."""
    job = platform.others["cdc"].job
    return _kill_at(platform, job, CAPTURED[moment], "cdc", lambda: None)


def _stall_other(platform: Platform, _: Fields, program: str, seconds: float) -> int:
    """Stop the driver of another job for longer than its lease, while another one begins."""
    return _stall(platform.others[program].job, seconds)


def _stall(job: SupervisedJob, seconds: float) -> int:
    with job.lock:
        stall = job.stall(seconds)
    if stall.trouble:
        raise TimeoutError(stall.trouble)
    return int(stall.stood_still)


def _kill_worker(platform: Platform, _: Fields, seconds: float) -> int:
    """Kill the worker of the connector, which may write records again that it has written."""
    return int(platform.cdc.kill_worker(seconds))


def _kill_database(platform: Platform, _: Fields, seconds: float) -> int:
    return int(platform.cdc.kill_database(seconds))


def _move_keys(platform: Platform, _: Fields) -> int:
    """Let keys of changes move to other partitions, while the job lags."""
    return platform.cdc.move_keys(platform.brokers)


def _kill_at(
    platform: Platform, job: SupervisedJob, moment: Moment, program: str, ask: Callable[[], object]
) -> int:
    """Kill the driver of a program at a moment, which it comes to by what is asked for."""
    killed: list[bool] = []
    trap = Trap(*moment, kill=lambda: killed.append(job.kill()), program=program)
    with job.lock:
        job.find_working()
        with platform.cloud.state(Faults).wrapped(trap.around):
            _meet(trap.shut.is_set, ask)
    return sum(killed)


def _maintain_lake(platform: Platform, _: Fields) -> int:
    """Maintain the lake's table while the job appends to it, until files were compacted."""
    words = ["maintain_lake", "--lake-table", platform.world.arguments["--lake-table"]]
    before, until = platform.count_compactions(), time.monotonic() + _PATIENCE_SECONDS
    while not (fired := platform.count_compactions() - before) and time.monotonic() < until:
        if not platform.job.run_beside(platform.world.launch(words)):
            raise TimeoutError("the maintenance of the lake did not end")
    return fired


def _kill_replay(platform: Platform, _: Fields, moment: str) -> int:
    """Kill a replay of dead letters before or after a named call, and begin it again."""
    assert platform.replays  # the schedule of such a run alone has the fault
    is_killed = _ask(partial(platform.replays.kill, moment))
    platform.replays.run()
    return int(is_killed)


def _let_function_hang(platform: Platform, _: Fields, function: str) -> int:
    """Stop the environments of a function, until its time is up and Lambda kills them."""
    stopped = _ask(lambda: platform.environments(function))
    for each in stopped:
        with suppress(ProcessLookupError):
            os.killpg(each.pid, signal.SIGSTOP)
    _ask(lambda: any(each.state == "stopped" for each in stopped))
    for each in stopped:  # nobody may have asked those that are left
        with suppress(ProcessLookupError):
            os.killpg(each.pid, signal.SIGCONT)
    return sum(each.state == "stopped" for each in stopped)


def _rebalance_group(platform: Platform, _: Fields, seconds: float) -> int:
    """Let another member join the group of the consumer's mapping, and leave it again.

    Return how many partitions it took away: if it has all of them, it is alone.
    """
    topic = Topic(platform.world.kafka.cluster, TOPIC)
    with second_member(topic, platform.mapping, _PATIENCE_SECONDS) as other:

        def count_taken() -> int:
            other.poll(0)  # it stays a member, and follows the others
            taken = len(other.assignment())
            return taken if taken < len(other.partitions_for_topic(TOPIC)) else 0

        fired = _ask(count_taken)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            count_taken()
            time.sleep(_POLL_SECONDS)
        return fired


def _set_clock(platform: Platform, _: Fields, minutes: int, seconds: float) -> int:
    """Let the clock of the consumer function be wrong, so that AWS refuses what it signs."""
    with platform.clock, TemporaryDirectory() as folder:
        log = _CallLog(platform)
        path = write_clock(Path(folder) / "clock", 60 * minutes)
        platform.consumer.set_environment(PYTHONPATH=path)
        time.sleep(seconds)
        fired = _ask(lambda: log.count("SignatureDoesNotMatch"))
        platform.consumer.set_environment(PYTHONPATH="")
    return fired


def _answer_wrongly(platform: Platform, _: Fields, **calls: Any) -> int:
    return _break(platform, lambda: None, **calls)


def _break_registry(platform: Platform, fields: Fields, **calls: Any) -> int:
    """Let answers of the registry go wrong as new versions come, until one has."""
    fields.grow()
    return _break(platform, fields.grow, **calls)


def _take_registry_down(platform: Platform, fields: Fields, seconds: float) -> int:
    """Fail each call of the registry, as a version is there that readers do not know yet."""
    refused: list[str] = []

    def refuse(call: Call, perform: Performed) -> HttpAnswer | None:
        if call.service != "glue" or not _REGISTRY.search(call.operation):
            return perform()
        refused.append(call.operation)
        raise AwsError("InternalServiceException", "The registry is down", status=500)

    _add_field(platform, fields)
    with platform.cloud.state(Faults).wrapped(refuse):
        fields.grow()
        time.sleep(seconds)
        _meet(lambda: refused, fields.grow)
    return len(refused)


def _break(
    platform: Platform, ask: Callable[[], object], seconds: float, kind: str, **calls: Any
) -> int:
    """Let answers go wrong until one has; `ask` leads to such a call."""
    fault = platform.cloud.state(Faults).add(kind=Kind(kind), **calls)
    time.sleep(seconds)
    _meet(lambda: fault.broken, ask)
    fault.calls = 0  # it affects no other one
    return fault.broken


def _meet(has_met: Callable[[], object], ask: Callable[[], object]) -> None:
    """Wait until a fault has met its call, and ask for such a call again and again."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while not ask_for(has_met, _ASK_SECONDS) and time.monotonic() < until:
        ask()


def _deny_role(platform: Platform, fields: Fields, role: str, seconds: float) -> int:
    """Deny a role what it needs: the function its table, or the registry's reader the schemas."""
    home, arn = {
        "function": (platform.consumer.at_home, platform.consumer.role),
        "reader": (platform.client, platform.consumer.reader),
    }[role]
    iam, name, action = home("iam"), arn.partition("/")[2], _ROLES[role]
    policy = f"denied-{time.monotonic_ns()}"  # another such fault may overlap
    log = _CallLog(platform)
    denied = document(allow(action) | {"Effect": "Deny"})
    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=denied)
    fields.grow()
    time.sleep(seconds)
    fired = _ask(lambda: log.count("AccessDenied", action.partition(":")[2]))
    iam.delete_role_policy(RoleName=name, PolicyName=policy)
    return fired


def _replace_password(platform: Platform, _: Fields, broker: int, password: str) -> int:
    """Replace the password, and cut links to a broker until a program has read the new one."""

    def cut() -> None:
        with platform.brokers:
            platform.links.cut(broker, 0)

    with platform.brokers:
        platform.world.replace_password(password)
    log, secret = _CallLog(platform), platform.world.arguments["--secret-arn"]
    read = partial(log.count, '"operation": "GetSecretValue"', secret, '"error": null')
    _meet(read, cut)
    return read()


def _add_field(platform: Platform, fields: Fields) -> int:
    """Let events have one field more; return how many versions of the schema have it."""
    field = fields.grow()
    return _ask(lambda: platform.count_versions(field))


class _CallLog:
    """The calls of localcloud from now on."""

    def __init__(self, platform: Platform) -> None:
        self._path = platform.cloud.folder / "calls.jsonl"
        self._began = self._path.stat().st_size

    def count(self, *texts: str) -> int:
        """Return the number of calls whose line has all texts."""
        with self._path.open() as lines:
            if self._began <= self._path.stat().st_size:  # else localcloud began a new file
                lines.seek(self._began)
            return sum(all(text in line for text in texts) for line in lines)


def _ask(condition: Callable[[], _Answer]) -> _Answer:
    return ask_for(condition, _PATIENCE_SECONDS)


_FAULTS: Final[Mapping[str, Callable[..., int]]] = {
    "broker-killed": _kill_broker,
    "broker-stopped": _stop_broker,
    "links-slow": _slow_links,
    "links-cut": _cut_links,
    "links-split": _split_links,
    "driver-killed": _kill_driver,
    "driver-killed-at": _kill_driver_at,
    "driver-upgraded": _upgrade_driver,
    "driver-stopped": _stop_driver,
    "driver-stalls": _stall_driver,
    "lake-maintained": _maintain_lake,
    "replay-killed": _kill_replay,
    "staging-killed": _kill_staging,
    "staging-stalls": partial(_stall_other, program="staging"),
    "cdc-killed": _kill_cdc,
    "cdc-stalls": partial(_stall_other, program="cdc"),
    "connector-killed": _kill_worker,
    "database-killed": _kill_database,
    "keys-moved": _move_keys,
    "function-hangs": _let_function_hang,
    "group-rebalanced": _rebalance_group,
    "clock-wrong": _set_clock,
    "driver-clock-wrong": _set_driver_clock,
    "answers-wrong": _answer_wrongly,
    "registry-wrong": _break_registry,
    "registry-down": _take_registry_down,
    "role-denied": _deny_role,
    "password-replaced": _replace_password,
    "fields-new": _add_field,
}
