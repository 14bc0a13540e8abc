"""`penstock staging check` says what a configuration would make, or every problem of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli import main
from tests.fixtures.commands import read_json

_ROOT = Path(__file__).parents[4]
_EXAMPLE = "examples/staging.json"


def test_the_page_shows_what_the_command_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(_ROOT)

    assert main(["staging", "check", _EXAMPLE], {}) == 0

    printed = capsys.readouterr().out
    assert (
        f"$ penstock staging check {_EXAMPLE}\n{printed}```" in Path("docs/staging.md").read_text()
    )


def test_tables_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(_ROOT / _EXAMPLE)

    assert main(["staging", "check", file, "--output", "json"], {}) == 0

    ((found),) = read_json("staging check", capsys.readouterr().out)
    assert [table["name"] for table in found["tables"]] == [
        "customers", "products", "driving", "orders",
    ]  # fmt: skip
    assert found["tables"][2]["columns"] == {
        "ORDER_ID": "order_id", "CUSTOMER": "customer", "PRODUCT": "product",
        "SCN": "change_number",
    }  # fmt: skip


def test_an_optional_dependency_is_called_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given = json.loads((_ROOT / _EXAMPLE).read_text())
    given["tables"][2]["dependencies"][1]["optional"] = True
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(given))

    assert main(["staging", "check", str(file)], {}) == 0

    needs = [each for each in capsys.readouterr().out.splitlines() if "needs" in each]
    assert [each.endswith(" (optional)") for each in needs] == [False, True]


def test_every_problem_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = json.loads((_ROOT / _EXAMPLE).read_text())
    del given["tables"][0]["key"]
    given["tables"][2]["final"] = "products"
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(given))

    assert main(["staging", "check", str(wrong)], {}) == 2

    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "penstock: 2 settings are wrong:"
    assert lines[1].startswith(
        f"  - {wrong}: $.tables[0].key: missing, expected the name of a column"
    )
    assert lines[2].startswith(f"  - {wrong}: $.tables[2].final: found 'products', which is also")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "$: found no JSON (Expecting value: line 1 column 1 (char 0)), expected an object"),
        (b"[" * 100_000, "$: nests too deep to be read as JSON, expected an object with tables"),
        (b'{"tables": []}', "$.tables: found [], expected a list of tables, at least one"),
        (b'{"tables": null}', "$.tables: found null, expected a list of tables"),
        (b"\xff", "cannot be read: it is not text in UTF-8"),
        (None, "cannot be read: No such file or directory"),
    ],
    ids=["empty", "deep", "no table", "null", "bytes", "no file"],
)
def test_a_problem_names_the_file(
    text: bytes | None, said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "wrong.json"
    if text is not None:
        file.write_bytes(text)

    assert main(["staging", "check", str(file)], {}) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"penstock: {file}{':' if said.startswith('$') else ''} {said}")
