"""An estimate as text: a column for each service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from penstock.extensions.cost.carriers import Carrier
from penstock.extensions.cost.operation import Estimate
from penstock.extensions.cost.prices import Item

_PARTS: Final = ("capacity", "writes", "reads", "storage", "network")
_COLUMN: Final = 21


def format_estimate(estimate: Estimate, *, with_items: bool = False) -> Iterator[str]:
    """Yield the lines of an estimate; an asterisk marks a sum with an unverified price."""
    load, carriers = estimate.load, estimate.carriers
    yield (
        f"{load.events:,g} events a second of {load.record_bytes:,} bytes, consumers: "
        f"{load.consumers}, kept for {load.retention_hours:,} hours"
    )
    yield f"US dollars a month in {estimate.prices.region}, prices of {estimate.prices.date}"
    yield _format_row("", *(carrier.name for carrier in carriers))
    yield _format_row("", *(carrier.size for carrier in carriers))
    for part in _PARTS:
        yield _format_row(part, *(_format_part(carrier, part) for carrier in carriers))
    yield _format_row("total", *map(_format_total, carriers))
    for carrier in carriers:
        if carrier.problem:
            yield f"{carrier.name} cannot carry it: {carrier.problem}"
    yield from _format_changes(estimate)
    yield "* with a price that was not verified: see --items"
    if with_items:
        for carrier in carriers:
            yield ""
            yield carrier.name
            yield from map(_format_item, (item for item in carrier.items if item.count))


def _format_changes(estimate: Estimate) -> Iterator[str]:
    for change in estimate.cheapest:
        name = change.carrier or "none, since none can carry it"
        yield f"the cheapest {_format_since(change.events)}: {name}"
    first = estimate.carriers[0].name
    for other, events in estimate.cheaper_from.items():
        yield f"{first} costs less than {other} {_format_since(events)}"


def _format_since(events: float | None) -> str:
    if events is None:
        return "at no rate"
    return (
        f"from {float(f'{events:.3g}'):,g} events a second on"
        if events
        else "from the first event on"
    )


def _format_row(*cells: str) -> str:
    first, *others = cells
    return f"{first:<8}{''.join(f'{cell:>{_COLUMN}}' for cell in others)}".rstrip()


def _format_part(carrier: Carrier, part: str) -> str:
    items = [item for item in carrier.items if item.part == part and item.count]
    return "" if carrier.problem or not items else _format_sum(items)


def _format_total(carrier: Carrier) -> str:
    return "-" if carrier.problem else _format_sum([item for item in carrier.items if item.count])


def _format_sum(items: list[Item]) -> str:
    mark = "*" if any(not item.price.seen for item in items) else " "
    return f"{sum(item.usd for item in items):,.2f}{mark}"


def _format_item(item: Item) -> str:
    hours = f" x {item.hours}" if item.hours > 1 else ""
    seen = item.price.seen or "not verified"
    return (
        f"  {item.what}: {item.count:,.10g} x {item.price.usd:g}{hours} = {item.usd:,.2f} "
        f"({item.price.unit}; {item.price.page}; {seen})"
    )
