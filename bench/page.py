"""The page of figures: bench/page.md with a table of rungs for each question, and the plots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.ladder import Rung
from bench.plot import draw_goals, draw_speeds
from bench.results import Results
from bench.rungs import QUESTIONS, RUNGS

_TEMPLATE = Path(__file__).parent / "page.md"
_PLACE = re.compile(r"<!-- (\w+)(?:: (\w+))? -->")
_UNITS = {
    "rows_per_second": "rows per second",
    "rows_per_cpu_second": "rows per second of CPU",
    "cpu_microseconds": "microseconds of CPU per row",
    "cpu_seconds": "seconds of CPU per batch",
    "times": "times",
}
_PART = re.compile(rf"(.+?)_({'|'.join(_UNITS)})(?<!least_cpu_seconds)(?<!most_cpu_seconds)")
_SETUP = {
    "processor": "processor", "cores": "cores", "memory_gib": "memory, GiB", "linux": "Linux",
    "java": "Java", "python": "Python", "spark": "Spark", "kafka": "Kafka", "iceberg": "Iceberg",
    "boto3": "boto3", "fastavro": "fastavro", "kafka-python": "kafka-python",
}  # fmt: skip


def write_page(results: Results, folder: Path) -> None:
    """Write the page and its plots."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "performance.md").write_text(fill_page(_TEMPLATE.read_text(), results))
    (folder / "performance.svg").write_text(draw_speeds(results.rungs))
    (folder / "performance_goals.svg").write_text(draw_goals(RUNGS, results.rungs))


def fill_page(template: str, results: Results) -> str:
    """Return the page; comments such as `<!-- rungs: decoding -->` become tables."""
    tables: dict[str, Callable[[str], Iterator[str]]] = {
        "setup": lambda _: _describe_runs(results),
        "rungs": lambda question: _table(QUESTIONS[question], results),
        "parts": lambda question: _parts(QUESTIONS[question], results),
        "missed": lambda _: _missed(results),
    }
    return _PLACE.sub(
        lambda place: "\n".join(tables[place.group(1)](place.group(2))),
        template,
    )


def describe_figure(measured: Mapping[str, Any]) -> str:
    """Return a figure with its unit."""
    return f"{_number(measured['figure'])} {measured['unit']}"


def describe_goal(rung: Rung, measured: Mapping[str, Any]) -> str:
    """Return the goal of a rung with its unit, as a table shows it."""
    for words, limit in (("at least", rung.at_least), ("at most", rung.at_most)):
        if limit is not None:
            return f"{words} {_number(limit)} {measured['unit']}"
    return "reported"


def _number(figure: float) -> str:
    """Return a number of three digits or more."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def _describe_runs(results: Results) -> Iterator[str]:
    """Yield the machine, and for each run its size and how busy others kept the machine."""
    numbers = _number_runs(results)
    if not numbers:
        return
    machine = results.runs[max(numbers)]["machine"]
    yield "| setup | |"
    yield "| --- | --- |"
    for key, words in _SETUP.items():
        yield f"| {words} | {machine[key]} |"
    yield ""
    yield "| run | began | form | records | turns | rungs | minutes | cores that others used |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, number in numbers.items():
        own = [rung for rung in _measured(results) if rung["run"] == name]
        run = results.runs[name]
        minutes = sum(rung["seconds"] for rung in own) / 60
        others = sorted(rung["others_cores"] + rung["stolen_cores"] for rung in own)
        yield (
            f"| {number} | {name[:16].replace('T', ' ')} UTC | {run['form']}"
            f" | {run['records']:,} | {run['turns']} | {len(own)} | {minutes:.0f}"
            f" | {others[len(others) // 2]:.2f}, at most {others[-1]:.2f} |"
        )


def _number_runs(results: Results) -> dict[str, int]:
    """Return the numbers of the runs that some figure is of."""
    names = sorted({rung["run"] for rung in _measured(results)})
    return {name: number for number, name in enumerate(names, 1)}


def _measured(results: Results) -> list[dict[str, Any]]:
    return [results.rungs[rung.name] for rung in RUNGS if rung.name in results.rungs]


def _table(rungs: tuple[Rung, ...], results: Results) -> Iterator[str]:
    """Yield the rungs of a question; those of several runs say which."""
    numbers = _number_runs(results)
    several = len(numbers) > 1
    yield f"| rung | question | figure | goal | |{' run |' * several}"
    yield f"| --- | --- | --- | --- | --- |{' --- |' * several}"
    for rung in rungs:
        if measured := results.rungs.get(rung.name):
            verdict = "reached" if rung.is_reached(measured["figure"]) else "**not reached**"
            cells = [f"`{rung.name}`", rung.question, describe_figure(measured)]
            cells += [describe_goal(rung, measured), _verdict(rung, verdict)]
            yield _row(*cells, *([str(numbers[measured["run"]])] * several))


def _verdict(rung: Rung, verdict: str) -> str:
    return verdict if rung.at_least is not None or rung.at_most is not None else ""


def _parts(rungs: tuple[Rung, ...], results: Results) -> Iterator[str]:
    """Yield what each way of the rungs of a question took."""
    rows = [row for rung in rungs for row in _ways(rung, results.rungs.get(rung.name, {}))]
    if rows:
        yield "| rung | way | median | slowest to fastest turn | records |"
        yield "| --- | --- | --- | --- | --- |"
        yield from rows


def _ways(rung: Rung, measured: Mapping[str, Any]) -> Iterator[str]:
    parts = measured.get("parts", {})
    records = f"{parts['records']:,.0f}" if "records" in parts else ""
    for name, figure in parts.items():
        if match := _PART.fullmatch(name):
            way, unit = match.groups()
            words = f"{_number(figure)} {_UNITS[unit]}"
            cells = [f"`{rung.name}`", way.replace("_", " "), words]
            yield _row(*cells, _spread(way, parts), records)


def _spread(way: str, parts: Mapping[str, float]) -> str:
    for low, high in (("slowest", "fastest"), ("most_cpu_seconds", "least_cpu_seconds")):
        if f"{way}_{low}" in parts:
            return f"{_number(parts[f'{way}_{low}'])} to {_number(parts[f'{way}_{high}'])}"
    return ""


def _missed(results: Results) -> Iterator[str]:
    """Yield the rungs whose goals are not reached."""
    yield "| rung | figure | goal |"
    yield "| --- | --- | --- |"
    for rung in RUNGS:
        measured = results.rungs.get(rung.name)
        if measured and not rung.is_reached(measured["figure"]):
            yield _row(f"`{rung.name}`", describe_figure(measured), describe_goal(rung, measured))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
