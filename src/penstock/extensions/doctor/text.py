"""A report as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.extensions.doctor.findings import Finding, State
from penstock.extensions.doctor.operation import Report

_LINE: Final = "{:<9} {:<9} {:<13} {:<26} {}"


def describe(report: Report) -> Iterator[str]:
    """Yield a line for each finding, the hops that were not looked at, and the first causes."""
    yield _LINE.format("STATE", "SIDE", "ACCOUNT", "HOP", "SEEN")
    unseen: dict[str, list[str]] = {}
    for each in report.findings:
        if each.state is State.NOT_SEEN:
            unseen.setdefault(each.seen, []).append(each.hop)
        else:
            yield _describe_finding(each)
    for why, hops in unseen.items():
        yield f"not looked at: {', '.join(hops)}: {why}"
    yield from describe_causes(report)
    count = len(report.causes)
    yield f"first causes: {count or 'none'}, hops not looked at: {len(report.not_seen)}"


def _describe_finding(each: Finding) -> str:
    about = f"{each.about}: " if each.about else ""
    follows = f"; follows from {each.follows_from}" if each.follows_from else ""
    seen = f"{about}{each.seen}{follows}"
    return _LINE.format(each.state, each.side, each.account or "-", each.hop, seen)


def describe_causes(report: Report) -> Iterator[str]:
    """Yield lines on each first cause: where, what was seen and expected, and the remedy."""
    for cause in report.causes:
        yield f"first cause: {cause.cause}, {cause.side} {cause.account}, {cause.hop}"
        yield f"  seen      {cause.seen}"
        yield f"  expected  {cause.expected}"
        yield f"  mend      {cause.mend}"
        yield f"  more      penstock explain {cause.code}"
