"""The generated parts of docs/cost.md: the smallest set-up, the services compared, the prices."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from penstock.extensions.cost import (
    HOURS,
    Price,
    PriceList,
    Workload,
    estimate_cost,
    format_estimate,
    price_carriers,
)

# The smallest set-up of both accounts, as the two plans count it. The load balancers and endpoints
# of brokers are those of `penstock cost`, too.
_SMALLEST: Final = (
    ("brokers, kafka.m7g.large", 2, "broker", HOURS),
    ("brokers' volumes, GiB", 20, "broker-storage", 1),
    ("load balancers, one per broker", 2, "load-balancer", HOURS),
    ("producer: interface endpoint for Glue, in two zones", 2, "endpoint", HOURS),
    ("producer: KMS keys (volumes, passwords, rejected events, alarms)", 4, "key", 1),
    ("producer: secrets of three programs, one more each after a rotation", 3, "secret", 1),
    ("producer: metrics under alarm (20 alarms of one, 2 of two)", 24, "alarm-metric", 1),
    ("producer: metrics of [what is open](#counts)", 2, "custom-metric", 1),
    (
        "consumer: interface endpoints for Glue, Lambda, Secrets Manager and STS, in two zones",
        8,
        "endpoint",
        HOURS,
    ),
    ("consumer: endpoints of two brokers, in two zones", 4, "endpoint", HOURS),
    ("consumer: KMS keys (login, tables, lake, alarms)", 4, "key", 1),
    ("consumer: secrets of three programs", 3, "secret", 1),
    ("consumer: metrics under alarm", 10, "alarm-metric", 1),
    ("consumer: metrics of [what is open](#counts)", 2, "custom-metric", 1),
    ("consumer: private zone", 1, "zone", 1),
)
_COMPARED: Final = (
    Workload(10, 1_024),
    Workload(1_000, 1_024),
    Workload(1_000, 1_024, retention_hours=168),
    Workload(1_000, 1_024, consumers=3),
    Workload(10_000, 1_024),
    Workload(10_000, 200),
    Workload(50_000, 200),
)


_EXAMPLE: Final = Workload(1_000, 200, consumers=3, retention_hours=168)


def cost_parts(prices: PriceList) -> dict[str, str]:
    """Return the generated parts of the page by the names of their marks."""
    return {
        "smallest set-up": _smallest_table(prices),
        "services": _compared_table(prices),
        "example": _example_output(),
        "prices": _prices_table(prices),
    }


def cost_plot() -> str:
    """Return the plot of the page."""
    return estimate_cost(_COMPARED[0]).plot


def _example_output() -> str:
    load = _EXAMPLE
    words = (
        f"penstock cost --events {load.events} --bytes {load.record_bytes} --consumers "
        f"{load.consumers} --retention {load.retention_hours}"
    )
    return "\n".join(("```console", f"$ {words}", *format_estimate(estimate_cost(load)), "```", ""))


def _smallest_table(prices: PriceList) -> str:
    """Return the table of the smallest set-up, and its sum."""
    lines = ["| what | count x price (x hours) | a month |", "| --- | --- | --- |"]
    total = 0.0
    for what, count, name, hours in _SMALLEST:
        usd = prices.prices[name].usd
        total += round(count * usd * hours, 2)
        factors = [str(count), _format_usd(usd), *([str(hours)] if hours > 1 else [])]
        lines.append(f"| {what} | {' x '.join(factors)} | {count * usd * hours:.2f} |")
    return "\n".join((*lines, "", f"**{total:.2f} US dollars a month**, without traffic.", ""))


def _compared_table(prices: PriceList) -> str:
    """Return the table of workloads with each service."""
    rows = [price_carriers(load, prices) for load in _COMPARED]
    names = " | ".join(carrier.name for carrier in rows[0])
    lines = [f"| events a second | {names} |", "| --- | --- | --- | --- | --- |"]
    for load, carriers in zip(_COMPARED, rows, strict=True):
        costs = " | ".join(f"{carrier.usd:,.0f}" for carrier in carriers if carrier.usd)
        lines.append(f"| {_describe_load(load)} | {costs} |")
    return "\n".join((*lines, ""))


def _prices_table(prices: PriceList) -> str:
    """Return the table of prices, with where each was read."""
    lines = ["| price of a | US dollars | AWS's page | read in |", "| --- | --- | --- | --- |"]
    return "\n".join((*lines, *map(_price_row, prices.prices.values()), ""))


def _price_row(price: Price) -> str:
    page = price.page.removeprefix("https://aws.amazon.com/").partition("/pricing")[0]
    seen = price.seen or "**not verified**"
    return f"| {price.unit} | {_format_usd(price.usd)} | [{page}]({price.page}) | {seen} |"


def _describe_load(load: Workload) -> str:
    return ", ".join(_describe_parts(load))


def _describe_parts(load: Workload) -> Iterator[str]:
    yield f"{load.events:,} of {load.record_bytes:,} bytes"
    if load.consumers > 1:
        yield f"{load.consumers} consumers"
    if load.retention_hours > 24:
        yield f"{load.retention_hours} hours"


def _format_usd(usd: float) -> str:
    text = f"{Decimal(str(usd)):f}"  # all its digits, and no exponent
    return f"{usd:.2f}" if len(text.partition(".")[2]) < 2 else text
