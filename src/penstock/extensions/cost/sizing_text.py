"""A sizing as text: a line for each part."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.extensions.cost.sizing import Part, Sizing


def format_sizing(sizing: Sizing) -> Iterator[str]:
    """Yield the lines of a sizing."""
    load = sizing.load
    yield (
        f"{load.events:,g} events a second of {load.record_bytes:,} bytes, consumers: "
        f"{load.consumers}, kept for {load.retention_hours:,} hours"
    )
    yield f"{'part':<19}{'size':<28}{'used':>7}  limit"
    for part in sizing.parts:
        yield f"{part.name:<19}{part.size:<28}{describe_share(part.share):>7}  {_limit(part)}"
    first = sizing.first
    verb = "is beyond its limit" if first.share > 1 else "reaches its limit first"
    yield f"{first.name} {verb}: {_limit(first)}"
    yield f"US dollars a month, of which the rest is in docs/cost.md: {sizing.usd:,.0f}"


def describe_share(share: float) -> str:
    """Return a share in percent, with a digit after the point if it is small."""
    return f"{share:.0%}" if share >= 0.095 or not share else f"{share:.1%}"


def _limit(part: Part) -> str:
    return part.limit + (", which AWS does not raise" if part.is_hard else "")
