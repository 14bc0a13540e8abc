"""Check what the documents say about the code: generated tables, links, names of tests.

Usage: tools/check_docs.py [--write]    --write brings the generated parts up to date.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from penstock.extensions.cost import read_prices
from penstock.reasons import list_pages
from tools.cost_tables import cost_parts, cost_plot
from tools.fault_table import fault_parts, fault_problems, soak_plots
from tools.fidelity import fidelity_table, undeclared_parameters
from tools.hcl import module_tables
from tools.import_table import MAY_IMPORT
from tools.settings_table import PROGRAMS, settings_table
from tools.sizing_tables import rates_text, sizing_parts

_ROOT = Path(__file__).parents[1]
_PAGES = (
    *("*.md", "docs/**/*.md", "infra/**/*.md", "lambdas/**/*.md", "localcloud/*.md"),
    *("localcloud/docs/*.md", "src/penstock/reasons/texts/*.md"),
)
_DECISION = re.compile(r"# (.+)\n\nSubject: (.+)\. Date: \d{4}-\d\d-\d\d\.\n")
_DIGITS = 4  # of a decision's number; branches take numbers ahead, so there may be gaps
_SUBJECTS = (
    "Records and schemas",
    "Spark and the lake",
    "Producers and registries",
    "AWS and Terraform",
    "localcloud",
    "Repository",
)
_NAME = re.compile(r"\[`(\w+)`\]\(([^)#]+\.py)\)")
_WIDTH = 120
_CODE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^ *```\w* +\S.*$", re.MULTILINE)
_NO_PROSE = re.compile(r"\s*(\||\[[^\]]+\]:)")  # a row of a table, or the target of a link
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]*))?\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MENTION = re.compile(r"(?<![\w/-])docs/[\w/-]+\.md(?:#[\w-]+)?")
_SOURCES = (
    *("src", "infra", "jobs", "lambdas", "localcloud/src", "tests", "tools", "bench", "demo"),
    *("proof", "campaign", "systems"),
)
_KINDS = (".json", ".py", ".tf")
# Cells of tables are held short on these pages, except where code or tests write or read them.
_NARROW = ("*.md", "docs/**/*.md")
_WIDE = {"CONTRIBUTING.md", "docs/events.md", "docs/performance.md", "docs/settings.md"}


def main() -> int:
    """Check or write the pages; return 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the generated parts")
    write = parser.parse_args().write
    problems = [*_stale_pages(write), *_bad_pages(), *_bad_sources()]
    problems += [*undeclared_parameters(), *fault_problems()]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print("Run tools/check_docs.py --write, or mend the page", file=sys.stderr)
    return 1 if problems else 0


def _stale_pages(write: bool) -> Iterator[str]:
    for page, wanted in generated_pages(_ROOT).items():
        if write:
            page.write_text(wanted)
        elif not page.exists() or page.read_text() != wanted:
            yield f"{page.relative_to(_ROOT)}: a table is out of date"


def _bad_pages() -> Iterator[str]:
    narrow = {path for kind in _NARROW for path in _ROOT.glob(kind)}
    for page in sorted(path for kind in _PAGES for path in _ROOT.glob(kind)):
        name = page.relative_to(_ROOT).as_posix()
        yield from (f"{name}: links to {link}, which is not there" for link in dead_links(page))
        yield from (f"{name}: {missing}" for missing in missing_names(page))
        for line in broken_fences(page):
            yield f"{name}: code is on the line of its fence: {line}"
        yield from (f"{name}: a line of prose is too long: {line}" for line in long_lines(page))
        if page in narrow and name not in _WIDE:
            yield from (f"{name}: a cell is too long: {cell}" for cell in long_cells(page))


def _bad_sources() -> Iterator[str]:
    for source in sorted(path for folder in _SOURCES for path in _ROOT.glob(f"{folder}/**/*")):
        if source.suffix in _KINDS:
            for page in dead_mentions(source.read_text(), _ROOT):
                yield f"{source.relative_to(_ROOT)}: names {page}, which is not there"


def generated_pages(root: Path) -> dict[Path, str]:
    """Return the wanted text of each page that holds a generated table."""
    settings, contributing = root / "docs/settings.md", root / "CONTRIBUTING.md"
    decisions, reasons = root / "docs/adr/README.md", root / "docs/operate/reasons.md"
    fidelity = root / "localcloud/docs/fidelity.md"
    cost, faults = root / "docs/cost.md", root / "docs/faults.md"
    sizing = root / "docs/sizing.md"
    modules = [
        *sorted(root.glob("infra/modules/*/README.md")),
        *sorted(root.glob("infra/extensions/*/README.md")),
    ]
    return {
        settings: _with_part(settings.read_text(), "settings", settings_table(PROGRAMS)),
        contributing: with_rooms_table(contributing.read_text(), MAY_IMPORT),
        fidelity: _with_part(fidelity.read_text(), "operations", fidelity_table()),
        decisions: with_decisions_list(decisions.read_text(), decisions.parent),
        cost: _with_parts(cost.read_text(), cost_parts(read_prices())),
        cost.with_suffix(".svg"): cost_plot(),
        root / "src/penstock/extensions/cost/rates.toml": rates_text(),
        sizing: _with_parts(sizing.read_text(), sizing_parts()),
        faults: _with_parts(faults.read_text(), fault_parts()),
        reasons: with_reasons_table(reasons.read_text()),
        **{root / "docs" / name: picture for name, picture in soak_plots().items()},
        **{page: with_module_tables(page.read_text(), page.parent) for page in modules},
    }


def with_rooms_table(page: str, rooms: Mapping[str, Set[str]]) -> str:
    """Return a page with the table of the rooms of `penstock` between its marks."""
    rows = "".join(
        f"| `{room}` | {_purpose(room)} | {', '.join(filter(known.__contains__, rooms))} |\n"
        for room, known in rooms.items()
    )
    head = "| room | what it holds | what it may import |\n| --- | --- | --- |\n"
    return _with_part(page, "rooms of penstock", head + rows)


def with_decisions_list(page: str, folder: Path) -> str:
    """Return a page with the titles of a folder's decisions, by subject, between its marks."""
    items: dict[str, str] = dict.fromkeys(_SUBJECTS, "")
    before = ""
    for path in sorted(folder.glob("[0-9]*.md")):
        found = _DECISION.match(path.read_text())
        if found is None or found[2] not in items:
            sys.exit(
                f"{path.name}: expected `# TITLE`, an empty line and `Subject: SUBJECT. Date: "
                f"YYYY-MM-DD.`, SUBJECT one of {', '.join(_SUBJECTS)}"
            )
        number = path.name.partition("-")[0]
        if len(number) != _DIGITS or number == before:
            sys.exit(f"{path.name}: expected a number of its own with {_DIGITS} digits")
        before = number
        items[found[2]] += f"- {number} [{found[1]}]({path.name})\n"
    parts = (f"## {subject}\n\n{lines}" for subject, lines in items.items() if lines)
    return _with_part(page, "decisions", "\n".join(parts))


def with_reasons_table(page: str) -> str:
    """Return a page with a row for each reason between its marks."""
    folder = "../../src/penstock/reasons/texts"
    rows = "".join(f"| [`{e.name}`]({folder}/{e.name}.md) | {e.summary} |\n" for e in list_pages())
    return _with_part(page, "reasons", f"| reason | meaning |\n| --- | --- |\n{rows}")


def _purpose(room: str) -> str:
    """Return the first line of a room's docstring."""
    text = importlib.import_module(f"penstock.{room}").__doc__ or ""
    return text.splitlines()[0].rstrip(".:").replace("|", "\\|")


def with_module_tables(page: str, module: Path) -> str:
    """Return a page with the tables of a module's inputs and outputs between their marks."""
    return _with_part(page, "inputs and outputs", module_tables(module))


def dead_links(page: Path) -> list[str]:
    """Return the relative links of a page whose file, or heading in it, is missing."""
    return [
        f"{link}#{heading}" if heading else link
        for link, heading in _LINK.findall(page.read_text())
        if not _has_target(page.parent / link if link else page, heading)
    ]


def dead_mentions(text: str, root: Path) -> list[str]:
    """Return the pages of `docs` that a source file names and that are missing."""
    return [
        mention
        for mention in _MENTION.findall(text)
        if not _has_target(root / mention.partition("#")[0], mention.partition("#")[2])
    ]


def _has_target(page: Path, heading: str) -> bool:
    if not heading or not page.exists():
        return page.exists()
    return heading in find_anchors(page)


def find_anchors(page: Path) -> set[str]:
    """Return the names that GitHub gives to the headings of a page."""
    headings = _HEADING.findall(_CODE.sub("", page.read_text()))
    texts = [_LINKED.sub(r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def broken_fences(page: Path) -> list[str]:
    """Return the lines that begin a block of code and hold code too, which a browser hides."""
    return [line.strip()[:60] for line in _FENCE.findall(page.read_text())]


def long_lines(page: Path) -> list[str]:
    """Return the lines of prose that are longer than 120 characters, shortened."""
    prose = _CODE.sub("", page.read_text())
    return [
        f"{line[:60]}..."
        for line in prose.splitlines()
        if len(line) > _WIDTH and " " in line.strip()[:_WIDTH] and not _NO_PROSE.match(line)
    ]


def long_cells(page: Path) -> list[str]:
    """Return the cells of tables that are longer than 120 characters as read, shortened."""
    return [f"{cell[:60]}..." for cell in _read_cells(page) if len(cell) > _WIDTH]


def _read_cells(page: Path) -> Iterator[str]:
    for line in _CODE.sub("", page.read_text()).splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", _LINKED.sub(r"\1", line))
            yield from (cell.strip() for cell in cells)


def missing_names(page: Path) -> list[str]:
    """Return the names that a page shows as links to a Python file which does not define them.

    So a test that is renamed or deleted is noticed where a page relies on it.
    """
    return [
        f"links to {name} in {link}, which does not define it"
        for name, link in _NAME.findall(page.read_text())
        if (file := page.parent / link).exists()
        and not re.search(rf"^\s*(async )?(def|class) {name}\b", file.read_text(), re.MULTILINE)
    ]


def _with_parts(page: str, parts: Mapping[str, str]) -> str:
    for part, text in parts.items():
        page = _with_part(page, part, text)
    return page


def _with_part(page: str, part: str, text: str) -> str:
    """Return a page with the text between the marks of a part."""
    marks = re.compile(rf"(<!-- {part}: .*? -->\n).*?(<!-- end of {part} -->)", re.DOTALL)
    return marks.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", page)


if __name__ == "__main__":
    sys.exit(main())
