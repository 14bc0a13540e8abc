"""Lags as text for people, as JSON and as metrics of Prometheus; pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.kafka import GroupLag

_FAMILIES = (
    ("kafka_consumergroup_lag", "Records that wait for a group in a partition", "records"),
    ("kafka_consumergroup_current_offset", "Offset that a group has committed", "committed"),
)
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True)
class CatchUp:
    """The lag of a group in a partition, and the seconds until there is none.

    The seconds are None where the lag does not shrink.
    """

    lag: GroupLag
    seconds: float | None


def estimate_catch_up(
    before: Sequence[GroupLag], now: Sequence[GroupLag], elapsed_seconds: float
) -> list[CatchUp]:
    """Return the lags now, each with the time that it needs at the speed since before."""
    known = {(each.group, each.topic, each.partition): each.records for each in before}
    return [
        CatchUp(
            each,
            _divide(
                each.records,
                known.get((each.group, each.topic, each.partition), each.records) - each.records,
                elapsed_seconds,
            ),
        )
        for each in now
    ]


def format_metrics(lags: Sequence[GroupLag]) -> Iterator[str]:
    """Yield lags in Prometheus's text format, under the names of kafka_exporter."""
    for name, meaning, field in _FAMILIES:
        yield f"# HELP {name} {meaning}"
        yield f"# TYPE {name} gauge"
        for each in lags:
            group, topic = each.group.translate(_ESCAPES), each.topic.translate(_ESCAPES)
            labels = f'consumergroup="{group}",topic="{topic}",partition="{each.partition}"'
            if (value := getattr(each, field)) is not None:
                yield f"{name}{{{labels}}} {value}"


def describe_time(each: CatchUp) -> str:
    """Return the time to catch up in words, and whether no offset is committed."""
    if each.seconds is None:
        words = "the lag does not shrink"
    else:
        words = "none" if each.seconds == 0 else f"{each.seconds:,.0f} s"
    return words if each.lag.committed is not None else f"{words} (no offset committed)"


def _divide(records: int, drop: int, elapsed_seconds: float) -> float | None:
    if records == 0:
        return 0.0
    return records * elapsed_seconds / drop if drop > 0 else None
