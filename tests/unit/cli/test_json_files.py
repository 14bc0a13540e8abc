"""A file of JSON that a command is given, and that cannot be used, gets a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli import main

_REGISTRY = ("--registry", "glue://plant?region=eu-central-1")
_BROKERS = ("--bootstrap-servers", "localhost:1", "--security", "plaintext")
_COMMANDS = [
    ("cdc", "check", "FILE"),
    ("lineage", "--outputs", "FILE", *_REGISTRY, "--workgroup", "w"),
    ("trace", "sensor/0/1", "--outputs", "FILE", *_REGISTRY, *_BROKERS),
    ("schema", "plan", ".", *_REGISTRY, "--outputs", "FILE"),
    ("access", "plan", "--contract", "FILE", *_BROKERS),
    ("access", "plan", "--also", "FILE", *_BROKERS),
    ("doctor", "--contract", "FILE"),
]


def _run(words: tuple[str, ...], path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main([str(path) if word == "FILE" else word for word in words], {})
    return code, capsys.readouterr().err


@pytest.mark.parametrize("words", _COMMANDS, ids=" ".join)
def test_a_file_that_is_no_json_is_named(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.json"
    assert _run(words, path, capsys) == (
        1,
        f"penstock: {path} cannot be read: No such file or directory\n",
    )
    path.write_text("[" * 100_000)
    assert _run(words, path, capsys) == (
        1,
        f"penstock: {path} nests too deep to be read as JSON\n",
    )
    path.write_text("{")
    code, said = _run(words, path, capsys)
    assert code == 1
    assert said.startswith(f"penstock: {path} is not JSON: Expecting property name enclosed in ")
    path.write_text('{"a": {"name": 1, "name": 2}}')
    assert _run(words, path, capsys) == (
        1,
        f"penstock: {path} is not JSON: the name 'name' is twice in one object\n",
    )
    path.write_bytes(b"\xff")
    assert _run(words, path, capsys) == (
        1,
        f"penstock: {path} cannot be read: it is not text in UTF-8\n",
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"tables": [' + "[" * 970 + "]" * 970 + "]}",  # read, and too deep to be shown
        json.dumps({"starting": "{" + '"a":{' * 100_000}),
    ],
    ids=["file", "value", "starting"],
)
def test_a_configuration_that_nests_too_deep_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.json"
    path.write_text(text)
    code, said = _run(("staging", "check", "FILE"), path, capsys)

    assert code == 2
    assert "$: nests too deep to be read as JSON, expected an object with tables" in said


@pytest.mark.parametrize("text", ["{", "[" * 100_000], ids=["no JSON", "too deep"])
def test_a_contract_that_nests_too_deep_makes_no_profile(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "given.json"
    path.write_text(text)
    words = ("init", "--contract", "FILE", "--to", str(tmp_path / "penstock.toml"))

    code, said = _run(words, path, capsys)
    assert code == 2
    problem = "the contract cannot be used, expected what `make contract` "
    assert said.startswith(f"penstock: {path}: {problem}")
