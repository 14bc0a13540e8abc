"""The tables of docs/faults.md: trials of each fault, what checks them, and defects of others.

Usage: python -m tools.fault_table    Add the trials of the last run of the suite, for the page.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from campaign.picture import draw
from campaign.soak import Soak
from proof.faults.results import Results, describe
from systems.trials import LINES
from tools.commit import find_commit
from tools.mutants.mutants import load_mutants
from tools.nightly import nightly_table

_ROOT: Final = Path(__file__).parents[1]
_ROWS: Final = _ROOT / "tests/faults/rows.toml"
_RESULTS: Final = _ROOT / "tests/faults/results.json"
_FAILURES: Final = ("lost", "twice", "wrong")
_COUNTS: Final = ("trials", "records", *_FAILURES)
_CONFIDENCE: Final = 0.95
_KEPT_RUNS: Final = 3  # of each row, as of each part of the nightly suite
_WIDTH: Final = 118
_SINK: Final = "iceberg-sink"


@dataclass(frozen=True, slots=True)
class Row:
    """A fault: the test that counts its trials, if there is one, and known defects of others."""

    name: str
    fault: str
    test: str = ""
    mutants: tuple[str, ...] = ()
    others: tuple[tuple[str, ...], ...] = ()


@dataclass(slots=True)
class Result:
    """The trials of a row in one run of the suite, or in some from a first to a last one."""

    day: str
    commit: str
    trials: int = 0
    records: int = 0
    lost: int = 0
    twice: int = 0
    wrong: int = 0
    recovered_in: list[float] = field(default_factory=list)

    @property
    def failures(self) -> int:
        """How many records were lost, twice or wrong."""
        return self.lost + self.twice + self.wrong

    @property
    def rate(self) -> float:
        """The rate of failures below which the truth is at 95 %, where no trial failed."""
        return 1 - math.pow(1 - _CONFIDENCE, 1 / self.trials)


def main() -> int:
    """Keep what the tests have counted, by row; rows that did not run keep their last runs."""
    rows = {row.name for row in read_rows()}
    lines = [json.loads(line) for line in LINES.read_text().splitlines()] if LINES.exists() else []
    if unknown := sorted({line["row"] for line in lines} - rows):
        print(f"found trials of {', '.join(unknown)}, expected rows of {_ROWS}", file=sys.stderr)
        return 1
    kept, counted = _read_runs(), _add_up(lines, find_commit())
    for name, result in counted.items():
        kept[name] = _keep([*kept.get(name, []), result])
    runs = {name: [asdict(run) for run in each] for name, each in kept.items()}
    _RESULTS.write_text(json.dumps(runs, indent=2, sort_keys=True) + "\n")
    LINES.unlink(missing_ok=True)  # a second call would add them up again
    print(f"{len(counted)} of {len(rows)} rows; tools/check_docs.py --write makes the page")
    return 0


def _add_up(lines: Iterable[Mapping[str, Any]], commit: str) -> dict[str, Result]:
    """Sum the lines of each row; of a test that ran again, its worst line counts."""
    worst: dict[tuple[str, str], Mapping[str, Any]] = {}
    for line in filter(itemgetter("trials"), map(_judge, lines)):
        key = line["row"], line["test"]
        if key not in worst or _count_failures(line) >= _count_failures(worst[key]):
            worst[key] = line
    results: dict[str, Result] = {}
    for (row, _), line in worst.items():
        result = results.setdefault(row, Result(line["day"], commit))
        for name in _COUNTS:
            setattr(result, name, getattr(result, name) + line[name])
        result.recovered_in += line["recovered_in"]
    return results


def _keep(runs: Sequence[Result]) -> Sequence[Result]:
    """Return the last runs since a failure that did not come again."""
    failed = [at for at, run in enumerate(runs[:-1]) if run.failures]
    return runs[failed[-1] + 1 if failed else 0 :][-_KEPT_RUNS:]


def _judge(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Count a test that failed before it could count as one trial, and one that is wrong."""
    if not line["failed"]:
        return line
    wrong = line["wrong"] if _count_failures(line) else 1
    return {**line, "trials": max(1, line["trials"]), "wrong": wrong}


def _count_failures(line: Mapping[str, Any]) -> int:
    return sum(line[name] for name in _FAILURES)


def read_rows() -> list[Row]:
    """Return the rows in their order."""
    return [
        Row(
            name,
            values["fault"],
            values.get("test", ""),
            tuple(values.get("mutants", ())),
            tuple(tuple(each) for each in values.get("others", ())),
        )
        for name, values in tomllib.loads(_ROWS.read_text()).items()
    ]


def read_results() -> dict[str, Result]:
    """Return the sum of the last runs of each row that ever ran."""
    return {name: _sum_up(runs) for name, runs in _read_runs().items()}


def _read_runs() -> dict[str, Sequence[Result]]:
    """Return the last runs of each row, the oldest first."""
    found = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
    return {name: [Result(**run) for run in runs] for name, runs in found.items()}


def _sum_up(runs: Sequence[Result]) -> Result:
    days, commits = (
        " to ".join(dict.fromkeys((first, last)))
        for first, last in ((runs[0].day, runs[-1].day), (_mark(runs[0]), _mark(runs[-1])))
    )
    counts = {name: sum(getattr(run, name) for run in runs) for name in _COUNTS}
    recovered = [seconds for run in runs for seconds in run.recovered_in]
    return Result(days, commits, **counts, recovered_in=recovered)


def _mark(run: Result) -> str:
    return f"`{run.commit}`"


def fault_problems() -> Iterator[str]:
    """Name the tests, mutants and results of rows that are not there."""
    rows, mutants = read_rows(), {mutant.name for mutant in load_mutants(_ROOT)}
    for row in rows:
        path, _, test = row.test.partition("::")
        if test and f'"{row.name}"' not in (_ROOT / path).read_text():
            yield f"the test of {row.name} in rows.toml, {row.test}, counts no trials of it"
        for name in set(row.mutants) - mutants:
            yield f"the row {row.name} of rows.toml names the mutant {name}, which is not there"
    for name in read_results().keys() - {row.name for row in rows}:
        yield f"{_RESULTS.name} has the row {name}, which rows.toml does not have"


def fault_parts() -> dict[str, str]:
    """Return the generated parts of the page by the names of their marks."""
    rows, results = read_rows(), read_results()
    return {
        "trials": _trials_table(rows, results),
        "checks": _checks_table(rows, results),
        "soak": _describe_soak(),
        "nights": nightly_table(),
        "others": _others_table(rows),
    }


def _describe_soak() -> str:
    soak = Soak.read()
    if soak is None:
        return "**No soak of half an hour has run yet.**\n"
    told = textwrap.fill(soak.describe(), _WIDTH, break_on_hyphens=False)
    return f"{told}\n\n![Memory, file handles and lag over the minutes of a soak](soak.svg)\n"


def soak_plots() -> dict[str, str]:
    """Return the picture of the last soak by its file in docs, none without a soak."""
    soak = Soak.read()
    return {"soak.svg": draw(soak)} if soak else {}


def _trials_table(rows: Iterable[Row], results: Mapping[str, Result]) -> str:
    head = (
        "| fault | trials | records | lost | twice | wrong | rate below | recovery in s |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(f"| {row.fault} | {_cells(row, results)} |\n" for row in rows)


def _cells(row: Row, results: Mapping[str, Result]) -> str:
    if row.name not in results:
        return " | ".join(["not run yet" if row.test else "**not tested**", *[""] * 6])
    result = results[row.name]
    counts = [f"{getattr(result, name):,}" for name in _COUNTS]
    rate = "" if result.failures else f"{result.rate:.1%}"
    return " | ".join([*counts, rate, _format_recovery(result.recovered_in)])


def _format_recovery(seconds: list[float]) -> str:
    if not seconds:
        return ""
    return f"{statistics.median(seconds):.0f}, at most {max(seconds):.0f}"


def _checks_table(rows: Iterable[Row], results: Mapping[str, Result]) -> str:
    lines = ["| fault | test | planted bugs | last runs |", "| --- | --- | --- | --- |"]
    for row in (row for row in rows if row.test):
        path, _, test = row.test.partition("::")
        bugs = ", ".join(f"`{name}`" for name in row.mutants) or "**none**"
        run = results.get(row.name)
        when = f"{run.day}, {run.commit}" if run else ""
        lines.append(f"| `{row.name}` | [`{test}`](../{path}) | {bugs} | {when} |")
    return "\n".join((*lines, ""))


def _others_table(rows: Iterable[Row]) -> str:
    lines = [
        "| fault | system | reported in | month | what happens | one trial here |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{row.name}` | {system} | {_link(issue)} | {month} | {what} | {_trials_of(*fault)} |"
        for row in rows
        for system, issue, month, what, *fault in row.others
    ]
    return "\n".join((*lines, ""))


def _trials_of(fault: str = "") -> str:
    """Return what became of the Iceberg sink in a fault of the proof, if it is in the file."""
    outcomes = Results.read().outcomes.get(fault, {})
    words = [
        describe(outcome) + ("" if name == _SINK else ", without `earliest`")
        for name, outcome in outcomes.items()
        if name.startswith(_SINK)
    ]
    return f"{'; '.join(words)} ([proof](proof.md#faults))" if words else ""


def _link(issue: str) -> str:
    """Return a link to an issue of GitHub, a repository, or a page."""
    repository, _, number = issue.partition("#")
    if number:
        return f"[{issue}](https://github.com/{repository}/issues/{number})"
    host = "" if "." in issue.partition("/")[0] else "github.com/"
    return f"[{issue}](https://{host}{issue})"


if __name__ == "__main__":
    sys.exit(main())
