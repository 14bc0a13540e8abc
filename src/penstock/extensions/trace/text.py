"""A trace as lines of text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from penstock.cli import show_moment
from penstock.extensions.trace.model import State, Step, Trace

_LINE: Final = "{:<11}  {:<24} {:>12}  {}"


def list_lines(trace: Trace) -> Iterator[str]:
    """Yield a line for each step, then what was not looked at and the commands that retry it."""
    yield trace.id
    yield _LINE.format("STEP", "TIME", "AFTER", "SEEN")
    for step, seconds in zip(trace.steps, trace.seconds, strict=True):
        if step.state is not State.NOT_SEEN:
            yield _describe_step(step, seconds)
    for step in trace.steps:
        if step.state is State.NOT_SEEN:
            yield f"not looked at: {step.name}: {step.seen}"
    for step in trace.steps:
        if step.command:
            yield f"retry: {step.command}"


def to_json(trace: Trace) -> dict[str, Any]:
    """Return a trace as an object."""
    return {
        "id": trace.id,
        "steps": [
            {
                "step": step.name,
                "state": step.state,
                "at": None if step.at_ms is None else show_moment(step.at_ms),
                "seconds": seconds,
                "seen": step.seen,
                "fields": step.values,
                "command": step.command or None,
            }
            for step, seconds in zip(trace.steps, trace.seconds, strict=True)
        ],
    }


def _describe_step(step: Step, seconds: float | None) -> str:
    at = "" if step.at_ms is None else show_moment(step.at_ms)
    after = "" if seconds is None else f"{seconds:,.3f} s"
    missing = "missing: " if step.state is State.MISSING else ""
    return _LINE.format(step.name, at, after, f"{missing}{step.seen}")
