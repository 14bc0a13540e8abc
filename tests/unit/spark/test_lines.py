"""The lines of batches, as Spark tells of their progress."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from penstock.spark.query.lines import BatchLines


def test_each_batch_that_was_written_has_one_line() -> None:
    said: list[str] = []
    lines = _lines(said)
    lines.add("q", 4, 2)

    lines.onQueryProgress(_progress("another query of the session", 4))
    lines.onQueryProgress(_progress("q", 3))
    assert said == []
    lines.onQueryProgress(_progress("q", 4))
    lines.onQueryProgress(_progress("q", 4))  # a trigger that found nothing tells the last batch
    lines.onQueryProgress(_progress("q", 5))

    assert said == ["9 in, 2 out"]


def test_the_end_of_a_driver_waits_for_the_line_of_the_last_batch() -> None:
    said: list[str] = []
    lines = _lines(said)
    lines.add("q", 4, 2)

    assert _ends_a_wait(lines, lambda: lines.onQueryProgress(_progress("q", 4)))
    assert len(said) == 1


def test_a_batch_that_was_stopped_has_no_line_and_nothing_waits_for_it() -> None:
    said: list[str] = []
    lines = _lines(said)
    lines.add("q", 4, 2)

    assert _ends_a_wait(lines, lambda: lines.onQueryTerminated(_end("q")))
    assert said == []


def test_a_session_calls_for_as_long_as_the_query_runs() -> None:
    spark = MagicMock()
    listeners = spark.streams._jsqm
    lines = BatchLines(spark, lambda progress, out: "", lambda line: None)
    assert not listeners.addListener.called

    for batch in range(3):
        lines.add("q", batch, 0)
    lines.onQueryTerminated(_end("another query of the session"))
    assert (listeners.addListener.call_count, listeners.removeListener.call_count) == (1, 0)
    lines.onQueryTerminated(_end("q"))

    assert listeners.removeListener.call_args == listeners.addListener.call_args


def test_a_query_that_starts_again_has_lines_again() -> None:
    said: list[str] = []
    lines = _lines(said)
    lines.add("q", 4, 2)
    lines.onQueryStarted(_end("q", "second"))
    lines.add("q", 5, 3)
    lines.onQueryTerminated(_end("q", "first"))  # Spark tells it late
    lines.onQueryProgress(_progress("q", 5))
    lines.onQueryTerminated(_end("q", "second"))

    lines.add("q", 6, 4)
    lines.onQueryProgress(_progress("q", 6))

    assert said == ["9 in, 3 out", "9 in, 4 out"]


def _ends_a_wait(lines: BatchLines[int], event: Callable[[], None]) -> bool:
    waiting = threading.Thread(target=lines.wait)
    waiting.start()
    event()
    waiting.join(30)
    return not waiting.is_alive()


def _lines(said: list[str]) -> BatchLines[int]:
    def write(progress: Any, out: int) -> str:
        return f"{progress['in']} in, {out} out"

    return BatchLines(MagicMock(), write, said.append)


def _progress(query: str, batch: int) -> Any:
    text = json.dumps({"id": query, "batchId": batch, "in": 9})
    return SimpleNamespace(progress=lambda: SimpleNamespace(json=lambda: text))


def _end(query: str, run: str = "first") -> Any:
    ids = {"id": query, "runId": run}
    texts = {name: SimpleNamespace(toString=lambda text=text: text) for name, text in ids.items()}
    return SimpleNamespace(**{name: lambda text=text: text for name, text in texts.items()})
