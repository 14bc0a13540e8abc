"""The documents' check finds what is out of date and what leads nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.settings import Settings, setting
from tools.check_docs import dead_links, generated_pages, with_settings_table


@dataclass(frozen=True, slots=True)
class _Settings(Settings):
    source: str = setting("COPY_SOURCE", "folder to copy from")
    limit: int = setting("COPY_LIMIT", "files at most", parse=int, default=100)


def test_the_settings_table_replaces_what_stands_between_the_marks() -> None:
    page = "before\n<!-- settings: made -->\nold\n<!-- end of settings -->\nafter\n"

    assert with_settings_table(page, _Settings) == (
        "before\n<!-- settings: made -->\n"
        "| variable | flag | default | meaning |\n| --- | --- | --- | --- |\n"
        "| `COPY_SOURCE` | `--source` | required | folder to copy from |\n"
        "| `COPY_LIMIT` | `--limit` | `100` | files at most |\n"
        "<!-- end of settings -->\nafter\n"
    )


def test_a_dead_link_is_found_and_others_are_left(tmp_path: Path) -> None:
    (tmp_path / "there.md").touch()
    page = tmp_path / "page.md"
    page.write_text("[a](there.md) [b](there.md#part) [c](https://example.org/x) [d](gone.md)")

    assert dead_links(page) == ["gone.md"]


def test_a_modules_readme_gets_its_tables_between_the_marks(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no table\n")
    module = tmp_path / "infra/modules/lake"
    module.mkdir(parents=True)
    begin = "<!-- inputs and outputs: made -->\n"
    end = "<!-- end of inputs and outputs -->\n"
    (module / "README.md").write_text(f"before\n{begin}old\n{end}after\n")
    (module / "outputs.tf").write_text('output "arn" {\n  description = "The ARN."\n}\n')

    assert generated_pages(tmp_path) == {
        tmp_path / "README.md": "no table\n",
        module / "README.md": f"before\n{begin}\n| output | meaning |\n| --- | --- |\n"
        f"| `arn` | The ARN. |\n\n{end}after\n",
    }
