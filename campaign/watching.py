"""Watch a platform: memory and file handles of its programs, and how far its readers are."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import Final

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from campaign.history import Reading, Sample
from systems.processes import read_mb

_SAMPLE_SECONDS: Final = 10.0
_ANSWER_MS: Final = 5_000
_ENDS: Final = re.compile(r'"end": ({"[^"]+": {[^}]*}})')  # in the line of a batch

Programs = Callable[[], Iterable[tuple[str, int]]]


@contextmanager
def watching(programs: Programs, offsets: Offsets, path: Path) -> Iterator[list[Sample]]:
    """Take a sample each ten seconds as long as the block lasts, each a line of JSON in a file."""
    samples: list[Sample] = []
    began, stopped = time.monotonic(), Event()

    def watch() -> None:
        with path.open("w") as lines:
            while not stopped.wait(_SAMPLE_SECONDS):
                sample = Sample(
                    round(time.monotonic() - began, 1), read_programs(programs()), offsets.read()
                )
                samples.append(sample)
                print(json.dumps(asdict(sample)), file=lines, flush=True)

    with ThreadPoolExecutor(1) as pool:
        watched = pool.submit(watch)
        try:
            yield samples
        finally:
            stopped.set()
    watched.result()  # raises what ended it


def read_programs(programs: Iterable[tuple[str, int]]) -> dict[str, list[Reading]]:
    """Return the readings of the processes that are still there, by the names of programs."""
    found: dict[str, list[Reading]] = {}
    for name, pid in programs:
        if reading := read_process(pid):
            found.setdefault(name, []).append(reading)
    return found


def read_process(pid: int) -> Reading | None:
    """Return the memory and the handles of a process and its group, None if it is gone."""
    group = [pid, *(each for each in _list_processes() if each != pid and _find_group(each) == pid)]
    handles = sum(map(_count_handles, group))
    return Reading(pid, sum(map(read_mb, group)), handles) if handles else None


def _list_processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").glob("[0-9]*")]


def _find_group(pid: int) -> int:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return 0


def _count_handles(pid: int) -> int:
    with suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0


class Offsets:
    """How many records the topic has, and how many its two readers have committed.

    The function's are those of the mapping's group, the job's those that its drivers print after
    each batch: its checkpoint is on S3, whose answers are wrong at times.
    """

    def __init__(self, servers: str, topic: str, group: str, tell: Callable[[], str]) -> None:
        self._options = {
            "bootstrap_servers": servers,
            "group_id": group,
            "enable_auto_commit": False,
            "bootstrap_timeout_ms": _ANSWER_MS,
        }
        self._topic, self._tell = topic, tell
        self._written = 0

    def read(self) -> dict[str, int]:
        """Return the sums over all partitions, nothing if no broker answers."""
        self._written = max(self._written, read_written(self._tell()))
        try:
            done, end = self._ask()
        except KafkaError:
            return {}
        return {"topic": end, "function": done, "job": self._written}

    def _ask(self) -> tuple[int, int]:
        """Return the sums of what the group has committed, and of the ends.

        Each time by a new client: one that reads no records learns of new leaders after minutes.
        """
        with closing(KafkaConsumer(**self._options)) as consumer:
            found = consumer.partitions_for_topic(self._topic) or ()
            places = [TopicPartition(self._topic, each) for each in found]
            done = [consumer.committed(each, timeout_ms=_ANSWER_MS) or 0 for each in places]
            return sum(done), sum(consumer.end_offsets(places, _ANSWER_MS).values())


def read_written(said: str) -> int:
    """Return the records up to the end of the last batch that a driver prints, 0 without one."""
    ends = _ENDS.findall(said)
    topics = json.loads(ends[-1]) if ends else {}
    return sum(end for partitions in topics.values() for end in partitions.values())
