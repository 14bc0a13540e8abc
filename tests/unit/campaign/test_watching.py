"""Samples of real processes, and of what brokers and drivers say."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError

from campaign import watching
from campaign.watching import Offsets, read_process, read_programs, read_written
from localcloud.testing import wait_until

_TOLD = (
    '{"batch": 1, "offsets": [{"start": {"sensor": {"0": 1}}, "end": {"sensor": {"0": 3, "1": 4}}}]'
    ', "BatchDuration": 7}26/11/27 21:29:18 WARN a log of Spark on the same line\n'
)


def test_a_process_is_read_with_those_that_it_started() -> None:
    words = ["sh", "-c", "sleep 60 & echo; exec sleep 60"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as both:
        assert both.stdout
        both.stdout.readline()

        def see_both() -> bool:
            found = read_process(both.pid)
            return found is not None and found.handles >= 6  # fewer, while one begins its program

        wait_until("both are read", see_both, 10)
        os.killpg(both.pid, 9)

    wait_until("both are gone", lambda: read_process(both.pid) is None, 10)


def test_memory_and_handles_are_those_of_now(tmp_path: Path) -> None:
    before = read_process(os.getpid())
    with ExitStack() as stack:
        for number in range(40):
            stack.enter_context((tmp_path / str(number)).open("w"))
        block = bytes(range(256)) * 2**18
        after = read_process(os.getpid())

    assert len(block) == 2**26
    assert before
    assert after
    assert 40 <= after.handles - before.handles < 60
    assert 60 <= after.mb - before.mb < 120


def test_processes_that_are_gone_are_left_out() -> None:
    found = read_programs([("a", os.getpid()), ("a", os.getpid()), ("b", 2**22 + 1)])

    assert [(name, len(each)) for name, each in found.items()] == [("a", 2)]


@pytest.mark.parametrize(
    ("said", "count"), [("", 0), ("nothing yet", 0), (_TOLD, 7), (_TOLD.replace("4", "9") * 2, 12)]
)
def test_the_last_batch_says_how_many_records_are_written(said: str, count: int) -> None:
    assert read_written(said) == count


class _Consumer:
    """A client of brokers that answer, or do not."""

    answers = True

    def __init__(self, **_: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def partitions_for_topic(self, _: str) -> set[int]:
        return {0, 1}

    def committed(self, place: Any, timeout_ms: int) -> int | None:
        assert timeout_ms < 10_000
        return 5 if place.partition else None

    def end_offsets(self, places: Any, _: int) -> dict[Any, int]:
        if not self.answers:
            raise KafkaTimeoutError
        return dict.fromkeys(places, 6)


def test_the_records_of_the_topic_and_of_its_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([_TOLD, "another driver, which has printed nothing yet", ""])
    monkeypatch.setattr(watching, "KafkaConsumer", _Consumer)
    offsets = Offsets("b:1", "sensor", "group", lambda: next(told))

    assert offsets.read() == {"topic": 12, "function": 5, "job": 7}
    assert offsets.read() == {"topic": 12, "function": 5, "job": 7}
    monkeypatch.setattr(_Consumer, "answers", False)
    assert offsets.read() == {}


class _Offsets(Offsets):
    def __init__(self) -> None:
        pass

    def read(self) -> dict[str, int]:
        return {"topic": 1}


def _watch(path: Path, list_programs: Callable[[], Any]) -> list[Any]:
    with watching.watching(list_programs, _Offsets(), path) as samples:
        wait_until("a sample", lambda: samples, 10)
    return samples


def test_samples_are_taken_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_SAMPLE_SECONDS", 0.01)
    path = tmp_path / "samples.jsonl"

    samples = _watch(path, lambda: [("it", os.getpid())])

    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [each["second"] for each in kept] == [each.second for each in samples]
    assert kept[0]["records"] == {"topic": 1}
    assert kept[0]["programs"]["it"][0][0] == os.getpid()


def test_a_watch_that_ends_is_no_flat_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_SAMPLE_SECONDS", 0.01)

    def fail() -> Iterator[tuple[str, int]]:
        yield "it", os.getpid()
        raise RuntimeError("the list changed")

    with (
        pytest.raises(RuntimeError, match="the list changed"),
        watching.watching(fail, _Offsets(), tmp_path / "samples.jsonl"),
    ):
        watching.Event().wait(0.1)
