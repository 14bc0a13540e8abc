"""The rates of `penstock size`, from bench/results.json, and the tables of docs/sizing.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from penstock.extensions.cost import (
    Rates,
    Sizing,
    Workload,
    describe_share,
    format_sizing,
    read_prices,
    read_rates,
    size_platform,
)

_ROOT: Final = Path(__file__).parents[1]
_DECADES: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_BYTES: Final = 200
_VERSIONS: Final = 10
_EXAMPLE: Final = Workload(100_000, _BYTES, consumers=2)
_SMALL, _LARGE = 200, 2_000  # bytes of the records of the rung `compressed`
# An assumption, as in the rung `upsert-5ms`: a function waits so long for 25 rows of DynamoDB.
_WAIT_OF_A_ROW: Final = 5_000 / 25  # microseconds
# The core's rates by their names: what it is, and the rung.
_MEANINGS: Final = {
    "lake_rows": ("rows from Kafka into an Iceberg table, by a Spark job", "peers"),
    "produced_events": (
        "JSON events in lists into Kafka, by the producer's code",
        "produce-command",
    ),
    "single_events": ("the same, one in each call of the function", "produce-warm"),
    "function_rows": (
        "rows from a mapping's event into DynamoDB, by the function, with 5 ms for each answer",
        "read-batch` and `write-20",
    ),
}


def measured_rates(results: Mapping[str, Any]) -> Rates:
    """Return the rates that the figures of a bench say."""
    parts = {name: rung["parts"] for name, rung in results["rungs"].items()}
    read, written = parts["read-batch"], parts["write-20"]
    row = read["product_microseconds"] + written["product_cpu_microseconds"] + _WAIT_OF_A_ROW
    small, large = (
        parts["compressed"][f"plain_{size}_rows_per_second"] for size in (_SMALL, _LARGE)
    )
    return Rates(
        lake_rows=parts["peers"]["penstock_rows_per_cpu_second"],
        produced_events=parts["produce-command"]["command_rows_per_second"],
        single_events=round(1_000 / parts["produce-warm"]["product_p50_milliseconds"]),
        function_rows=round(1e6 / row),
        growth_of_a_byte=round((small / large - 1) / (_LARGE - _SMALL), 6),
    )


def rates_text() -> str:
    """Return the file of rates."""
    results = json.loads((_ROOT / "bench/results.json").read_text())
    lines = ["# Made by tools/check_docs.py --write, from bench/results.json.", ""]
    lines += [f"{name} = {value}" for name, value in asdict(measured_rates(results)).items()]
    return "\n".join((*lines, ""))


def sizing_parts() -> dict[str, str]:
    """Return the generated parts of the page by the names of their marks."""
    return {"core": _core_table(), "decades": _decades_table(), "example": _example_output()}


def _core_table() -> str:
    rates = read_rates()
    lines = ["| a core, in a second | | rung |", "| --- | --- | --- |"]
    for field in fields(rates):
        if field.name in _MEANINGS:
            what, rung = _MEANINGS[field.name]
            lines.append(f"| {what} | {getattr(rates, field.name):,} | `{rung}` |")
    return "\n".join((*lines, ""))


def _decades_table() -> str:
    sizes = [_size(events, rows=True) for events in _DECADES]
    lines = [f"| | {' | '.join(f'{events:,}' for events in _DECADES)} |"]
    lines.append(f"| --- |{' --- |' * len(sizes)}")
    lines.append(_row("MB a second", (f"{size.load.mib_in:,.1f}" for size in sizes)))
    for number, part in enumerate(sizes[0].parts):
        lines.append(_row(part.name, (_describe(size, number) for size in sizes)))
    lines.append(_row("nearest to its limit", (size.first.name for size in sizes)))
    lines.append(_row("US dollars a month", (f"{size.usd:,.0f}" for size in sizes)))
    alone = (f"{_size(events, rows=False).usd:,.0f}" for events in _DECADES)
    lines.append(_row("without rows in DynamoDB", alone))
    return "\n".join((*lines, ""))


def _size(events: float, *, rows: bool) -> Sizing:
    load = Workload(events, _BYTES)
    return size_platform(load, read_prices(), read_rates(), versions=_VERSIONS, rows=rows)


def _describe(size: Sizing, number: int) -> str:
    part = size.parts[number]
    used = describe_share(part.share)
    return f"{part.size.rpartition(': ')[2]}, {f'**{used}**' if part.share > 1 else used}"


def _row(name: str, cells: Iterator[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def _example_output() -> str:
    load = _EXAMPLE
    words = (
        f"penstock size --events {load.events} --bytes {load.record_bytes} "
        f"--consumers {load.consumers}"
    )
    sizing = size_platform(load, read_prices(), read_rates(), versions=_VERSIONS)
    return "\n".join(("```console", f"$ {words}", *format_sizing(sizing), "```", ""))
