"""`penstock contract` writes a consumer's contract."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.cli import main
from tests.fixtures.commands import read_json
from tests.fixtures.outputs import put_out

__all__ = ["put_out"]


def test_a_contract_is_written(
    put_out: Callable[..., Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root, to = put_out(contracts={"analytics": {"region": "eu-central-1"}}), tmp_path / "contract"

    assert main(["contract", "analytics", "--producer", str(root), "--to", str(to)], {}) == 0

    assert capsys.readouterr().out == f"wrote the contract of analytics to {to}\n"
    assert json.loads(to.read_text()) == {"contract": {"region": "eu-central-1"}}


def test_a_contract_is_told_as_json(
    put_out: Callable[..., Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root, to = put_out(contracts={"analytics": {"region": "eu-central-1"}}), tmp_path / "contract"
    words = ["contract", "analytics", "--producer", str(root), "--to", str(to)]

    assert main([*words, "--output", "json"], {}) == 0

    (told,) = read_json("contract", capsys.readouterr().out)
    assert told == {"consumer": "analytics", "file": str(to)}


def test_an_unknown_consumer_is_an_error(
    put_out: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["contract", "ben", "--producer", str(put_out(contracts={})), "--output", "json"]

    assert main(words, {}) == 1

    printed = capsys.readouterr()
    assert printed.err.startswith("penstock: found no consumer 'ben', expected")
    assert printed.out == ""


def test_the_consumer_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["contract"], {})

    assert caught.value.code == 2
    assert "the following arguments are required: CONSUMER" in capsys.readouterr().err
