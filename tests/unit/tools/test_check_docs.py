"""The documents' check finds what is out of date and what leads nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.settings import Settings, nested, setting
from tools.check_docs import (
    broken_fences,
    dead_links,
    dead_mentions,
    generated_pages,
    long_cells,
    long_lines,
    missing_names,
    with_decisions_list,
    with_rooms_table,
)
from tools.settings_table import PROGRAMS, settings_table


@dataclass(frozen=True, slots=True)
class _Settings(Settings):
    source: str = setting("COPY_SOURCE", "folder to copy from")
    limit: int = setting("COPY_LIMIT", "files at most", parse=int, default=100)


@dataclass(frozen=True, slots=True)
class _Program(Settings):
    copy: _Settings = nested(_Settings)
    topic: str = setting("COPY_TOPIC", "topic to write to", default="")


@dataclass(frozen=True, slots=True)
class _Other(Settings):
    table: str = setting("COPY_TOPIC", "another meaning", default="t")
    limit: int = setting("COPY_LIMIT", "files at most", parse=int, default=100)


def test_a_setting_is_in_the_table_once_with_the_programs_that_read_it() -> None:
    assert settings_table({"copy": (_Program,), "clean": (_Other, _Other)}) == (
        "| variable | flag | default | used by | meaning |\n| --- | --- | --- | --- | --- |\n"
        "| `COPY_SOURCE` | `--source` | required | copy | folder to copy from |\n"
        "| `COPY_LIMIT` | `--limit` | `100` | copy, clean | files at most |\n"
        "| `COPY_TOPIC` | `--topic`, `--table` | none or `t` | copy, clean | topic to write to |\n"
    )


def test_the_page_explains_each_program_of_the_table() -> None:
    page = (Path(__file__).parents[3] / "docs/settings.md").read_text()
    legend = page.partition("\n| used by |")[2].partition("\n\n")[0]
    explained = re.findall(r"\w+", " ".join(re.findall(r"^\|([^|]+)", legend, re.MULTILINE)))

    assert PROGRAMS.keys() - set(explained) == set()


def test_code_on_the_line_of_its_fence_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('```json\n{}\n```\n  ```json {"a":\n1}\n  ```\n```\ntext\n```\n')

    assert broken_fences(page) == ['```json {"a":']


def test_a_dead_link_is_found_and_others_are_left(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A [part](x), or `two`\n```sh\n# no heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(
        "## Own\n[a](there.md) [b](there.md#a-part-or-two) [c](https://example.org/x#y) "
        "[d](gone.md) [e](there.md#no-heading) [f](#own) [g](#none) [h](gone.md#a)"
    )

    assert dead_links(page) == ["gone.md", "there.md#no-heading", "#none", "gone.md#a"]


def test_a_page_that_a_source_names_and_that_is_missing_is_found(tmp_path: Path) -> None:
    there, gone = Path("docs", "there.md"), Path("docs", "gone.md")
    (tmp_path / "docs").mkdir()
    (tmp_path / there).write_text("# Part\n")
    text = f"{there}, {there}#part; {there}#none. {gone} (localcloud/{gone})"

    assert dead_mentions(text, tmp_path) == [f"{there}#none", str(gone)]


def test_a_long_cell_is_found_by_its_length_as_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    long, link = "x" * 121, f"[{'y' * 120}](https://example.org)"
    page.write_text(f"{long}\n| a | {long} | b |\n| {link} | a \\| b |\n```\n| {long} |\n```\n")

    assert long_cells(page) == [f"{long[:60]}..."]


def test_a_long_line_of_prose_is_found_and_others_are_left(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    long = "word " * 30
    page.write_text(f"{long}\n| {long} |\n```sh\n{long}\n```\n[a]: {long}\n{'x' * 130} y\nshort\n")

    assert long_lines(page) == [f"{long[:60]}..."]


def test_a_name_that_a_linked_file_does_not_define_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("class Flow: ...\n\ndef test_one():\n    test_two()\n")
    page = tmp_path / "page.md"
    page.write_text("[`test_one`](test_a.py) [`Flow`](test_a.py) [`test_two`](test_a.py) [a](a.py)")

    assert missing_names(page) == ["links to test_two in test_a.py, which does not define it"]


_DECISIONS = "a\n<!-- decisions: made -->\nold\n<!-- end of decisions -->\nb\n"


def _write_decision(folder: Path, name: str, subject: str) -> None:
    (folder / name).write_text(f"# {name[5]}, not z\n\nSubject: {subject}. Date: 2026-11-21.\n")


def test_the_list_of_decisions_has_every_page_by_subject(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()
    _write_decision(tmp_path, "0001-a.md", "Repository")
    _write_decision(tmp_path, "0002-b.md", "Spark and the lake")
    _write_decision(tmp_path, "0007-c.md", "Repository")

    assert with_decisions_list(_DECISIONS, tmp_path) == (
        "a\n<!-- decisions: made -->\n\n"
        "## Spark and the lake\n\n- 0002 [b, not z](0002-b.md)\n\n"
        "## Repository\n\n- 0001 [a, not z](0001-a.md)\n- 0007 [c, not z](0007-c.md)\n"
        "\n<!-- end of decisions -->\nb\n"
    )


@pytest.mark.parametrize(
    ("name", "subject", "message"),
    [
        ("0002-b.md", "Sparks", r"0002-b\.md: expected `# TITLE`.*one of Records and schemas, "),
        ("0001-b.md", "localcloud", r"0001-b\.md: expected a number of its own with 4 digits"),
        (
            "20261122-b.md",
            "localcloud",
            r"20261122-b\.md: expected a number of its own with ",
        ),
    ],
    ids=["subject", "twice", "date"],
)
def test_a_decision_without_a_subject_or_number_of_its_own_is_refused(
    tmp_path: Path, name: str, subject: str, message: str
) -> None:
    _write_decision(tmp_path, "0001-a.md", "Repository")
    _write_decision(tmp_path, name, subject)

    with pytest.raises(SystemExit, match=message):
        with_decisions_list(_DECISIONS, tmp_path)


def test_a_modules_readme_gets_its_tables_between_the_marks(tmp_path: Path) -> None:
    (tmp_path / "docs/adr").mkdir(parents=True)
    (tmp_path / "docs/settings.md").write_text("no table\n")
    (tmp_path / "docs/adr/README.md").write_text("none\n")
    (tmp_path / "docs/cost.md").write_text("free\n")
    (tmp_path / "docs/faults.md").write_text("no fault\n")
    (tmp_path / "docs/sizing.md").write_text("no size\n")
    (tmp_path / "docs/operate").mkdir()
    (tmp_path / "docs/operate/reasons.md").write_text("no reason\n")
    (tmp_path / "CONTRIBUTING.md").write_text("nor here\n")
    (tmp_path / "localcloud/docs").mkdir(parents=True)
    (tmp_path / "localcloud/docs/fidelity.md").write_text("no operation\n")
    module = tmp_path / "infra/modules/lake"
    module.mkdir(parents=True)
    begin = "<!-- inputs and outputs: made -->\n"
    end = "<!-- end of inputs and outputs -->\n"
    (module / "README.md").write_text(f"before\n{begin}old\n{end}after\n")
    (module / "outputs.tf").write_text('output "arn" {\n  description = "The ARN."\n}\n')

    pages = generated_pages(tmp_path)

    rates = pages.pop(tmp_path / "src/penstock/extensions/cost/rates.toml")
    assert rates.startswith("# Made by tools/check_docs.py")
    for picture in ("cost", "soak"):
        assert pages.pop(tmp_path / f"docs/{picture}.svg").startswith("<svg ")
    assert pages == {
        tmp_path / "docs/settings.md": "no table\n",
        tmp_path / "CONTRIBUTING.md": "nor here\n",
        tmp_path / "docs/adr/README.md": "none\n",
        tmp_path / "localcloud/docs/fidelity.md": "no operation\n",
        tmp_path / "docs/cost.md": "free\n",
        tmp_path / "docs/faults.md": "no fault\n",
        tmp_path / "docs/sizing.md": "no size\n",
        tmp_path / "docs/operate/reasons.md": "no reason\n",
        module / "README.md": f"before\n{begin}\n| output | meaning |\n| --- | --- |\n"
        f"| `arn` | The ARN. |\n\n{end}after\n",
    }


def test_the_table_of_rooms_says_what_each_may_import() -> None:
    page = "a\n<!-- rooms of penstock: made -->\nold\n<!-- end of rooms of penstock -->\nb\n"

    assert with_rooms_table(page, {"errors": set(), "attempts": {"errors"}}) == (
        "a\n<!-- rooms of penstock: made -->\n\n"
        "| room | what it holds | what it may import |\n| --- | --- | --- |\n"
        "| `errors` | Every error Penstock raises: one tree on one page, so this module is longer "
        "than others |  |\n"
        "| `attempts` | Retries with exponential backoff and jitter, and calls that a caller may "
        "cease to wait for | errors |\n"
        "\n<!-- end of rooms of penstock -->\nb\n"
    )
