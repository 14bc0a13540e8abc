"""The page of outcomes: page.md with its tables filled in, and the picture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from proof.change import Change
from proof.changes import CHANGES
from proof.faults.kinds import FAULTS
from proof.faults.results import Results as FaultResults
from proof.oracle import Verdict
from proof.picture import draw
from proof.results import Cell, Results

_TEMPLATE: Final = Path(__file__).with_name("page.md")
_PLACE: Final = re.compile(r"<!-- (\w+) -->")
_WIDTH: Final = 116
TITLES: Final = {
    "penstock-job": "Penstock, Spark job",
    "penstock-function": "Penstock, function",
    "iceberg-sink": "Iceberg sink",
    "flink": "Flink dynamic sink",
}
_FAULT_TITLES: Final = {
    "penstock-job": "Penstock, Spark job",
    "iceberg-sink": "Iceberg sink",
    "iceberg-sink-defaults": "Iceberg sink, `latest`",
    "flink": "Flink dynamic sink",
}
_VERSIONS: Final = {
    "penstock": "Penstock", "iceberg-kafka-connect": "Iceberg's sink of Kafka Connect",
    "apicurio-registry-utils-converter": "Apicurio's converter, and registry",
    "flink-clients": "Flink", "iceberg-flink-runtime-2.0": "Iceberg's sinks of Flink",
}  # fmt: skip
_MACHINE: Final = {"spark": "Spark", "iceberg": "Iceberg of the Spark job", "kafka": "Kafka"}


def write_page(results: Results, folder: Path) -> None:
    """Write the page and its picture."""
    (folder / "proof.md").write_text(fill_page(_TEMPLATE.read_text(), results))
    (folder / "proof.svg").write_text(draw(CHANGES, _titles(results), results.cells))


def fill_page(template: str, results: Results) -> str:
    """Return the page; comments such as `<!-- changes -->` become tables."""
    tables: dict[str, Callable[[Results], Iterator[str]]] = {
        "run": _describe_run,
        "counts": _count,
        "changes": _table,
        "reasons": _reasons,
        "faults": lambda _: _faults(),
        "troubles": lambda _: _troubles(),
        "faultrun": lambda _: FaultResults.read().describe_runs(),
    }
    return _PLACE.sub(lambda place: "\n".join(tables[place[1]](results)), template)


def _titles(results: Results) -> dict[str, str]:
    return {name: title for name, title in TITLES.items() if name in results.cells}


def _describe_run(results: Results) -> Iterator[str]:
    run = results.run
    yield "| | |"
    yield "| --- | --- |"
    yield f"| date | {run['began'][:16].replace('T', ' ')} UTC, {run['minutes']} minutes |"
    yield f"| commit | `{run['commit']}` |"
    for names, versions in ((_VERSIONS, run["versions"]), (_MACHINE, run["machine"])):
        yield from (f"| {words} | {versions[name]} |" for name, words in names.items())
    machine = run["machine"]
    yield f"| machine | {machine['processor']}, {machine['cores']} cores, Java {machine['java']} |"


def _count(results: Results) -> Iterator[str]:
    yield f"| | {' | '.join(Verdict)} |"
    yield f"| --- |{' --- |' * len(Verdict)}"
    for name, title in _titles(results).items():
        counts = Counter(cell.verdict for cell in results.cells[name].values())
        yield f"| {title} | {' | '.join(str(counts[each] or '') for each in Verdict)} |"


def _table(results: Results) -> Iterator[str]:
    titles = _titles(results)
    yield f"| change | {' | '.join(titles.values())} |"
    yield f"| --- |{' --- |' * len(titles)}"
    for change in CHANGES:
        cells = [results.cells[name][change.name].verdict for name in titles]
        words = [each if each is Verdict.KEPT else f"**{each}**" for each in cells]
        yield f"| {change.title} | {' | '.join(words)} |"


def _reasons(results: Results) -> Iterator[str]:
    """Yield why a cell is not `kept`, and what became of bad records where it is."""
    titles = _titles(results)
    for change in CHANGES:
        rows = list(_reasons_of(change, titles, results.cells))
        if rows:
            yield f"**{change.title[0].upper()}{change.title[1:]}**"
            yield ""
            yield from rows
            yield ""


def _reasons_of(
    change: Change, titles: Mapping[str, str], cells: Mapping[str, Mapping[str, Cell]]
) -> Iterator[str]:
    for name, title in titles.items():
        cell = cells[name][change.name]
        if cell.reason or cell.trouble:
            yield from _wrap(f"- {title}: {cell.verdict}; {_explain(cell)}")


def _faults() -> Iterator[str]:
    yield from FaultResults.read().make_table(_FAULT_TITLES, _fault_titles())


def _troubles() -> Iterator[str]:
    """Yield what a system said before somebody began it again by hand."""
    for name, trouble in FaultResults.read().list_troubles(_FAULT_TITLES, _fault_titles()):
        yield from _wrap(f"- {name}: `{_shorten(trouble)}`")


def _fault_titles() -> dict[str, str]:
    return {name: each.title for name, each in FAULTS.items()}


def _explain(cell: Cell) -> str:
    trouble = f"`{_shorten(cell.trouble)}`" if cell.trouble else ""
    if cell.verdict is Verdict.KEPT and not cell.reason:
        return f"it tried again by itself after {trouble}"
    return "; ".join(filter(None, (cell.reason, trouble)))


def _shorten(text: str) -> str:
    """Return the words of an error without the package of its class."""
    text = re.sub(r"\b(?:[a-z]\w*\.){2,}(?=[A-Z])", "", text.replace("`", "'"))
    return text if len(text) <= 200 else f"{text[:197]}..."


def _wrap(line: str) -> Iterator[str]:
    """Yield the lines of an item of a list, none longer than the documents allow."""
    while len(line) > _WIDTH:
        at = line.rfind(" ", 2, _WIDTH)
        if at <= 2:
            break
        yield line[:at]
        line = f"  {line[at + 1 :]}"
    yield line
