"""`penstock cost`: its table, its JSON, and a sentence for what it cannot use."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli import main
from tests.fixtures.commands import read_json


def test_the_table_has_four_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--events", "1000", "--retention", "168"], {}) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1,000 events a second of 1,024 bytes, consumers: 1, kept for 168 hours"
    assert max(map(len, lines)) <= 92
    (total,) = [line.split() for line in lines if line.startswith("total")]
    assert total == ["total", "585.92", "987.69*", "102.00*", "419.05"]
    assert "MSK as built costs less than Kinesis shards at no rate" in lines
    assert lines[-1].startswith("* with a price that was not verified")


def test_items_have_their_prices_and_where_they_are_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["cost", "--events", "1", "--items"], {}) == 0

    printed = capsys.readouterr().out
    assert (
        "  brokers: 2 x 0.204 x 730 = 297.84 (kafka.m7g.large, hour; "
        "https://aws.amazon.com/msk/pricing/; AWS's agent toolkit, msk_sizing.py)"
    ) in printed
    assert "  shards: 1 x 0.015 x 730 = 10.95 (shard, hour; " in printed
    assert "https://aws.amazon.com/msk/pricing/; not verified)" in printed  # of MSK Serverless
    assert "shards of fan-out" not in printed


def test_what_cannot_be_carried_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--events", "1", "--consumers", "21"], {}) == 0

    lines = capsys.readouterr().out.splitlines()
    assert (
        "Kinesis shards cannot carry it: a stream has at most 20 consumers with enhanced fan-out"
    ) in lines
    assert [line.split()[3:] for line in lines if line.startswith("total")] == [["-", "-"]]


def test_json_has_every_item(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--events", "0.5", "--output", "json"], {}) == 0

    (told,) = read_json("cost", capsys.readouterr().out)
    assert told["load"]["events"] == 0.5
    for carrier in told["carriers"]:
        assert carrier["usd"] == pytest.approx(sum(item["usd"] for item in carrier["items"]))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--events", "-1"], "--events: found '-1', expected a number of 0 to 10,000,000"),
        (["--events", "nan"], "--events: found 'nan', expected a number of 0 to 10,000,000"),
        (["--events", "many"], "--events: found 'many', expected a number of 0 to 10,000,000"),
        (["--bytes", "0"], "--bytes: found '0', expected a whole number of 1 to 1,048,576"),
        (["--bytes", "1e3"], "--bytes: found '1e3', expected a whole number of 1 to 1,048,576"),
        (["--consumers", "0"], "--consumers: found '0', expected a whole number of 1 to 1,000"),
        (["--retention", "0"], "--retention: found '0', expected a whole number of 1 to 87,600"),
        ([], "--events"),
    ],
)
def test_bad_input_is_a_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words if not words or "--events" in words else ["--events", "1", *words]
    with pytest.raises(SystemExit) as caught:
        main(["cost", *given], {})

    assert caught.value.code == 1
    assert sentence in capsys.readouterr().err


def test_the_plot_is_written_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "cost.svg"

    assert main(["cost", "--events", "1", "--plot", str(plot)], {}) == 0
    assert plot.read_text().startswith("<svg ")
    assert main(["cost", "--events", "1", "--plot", str(tmp_path)], {}) == 1
    assert f"penstock: {tmp_path} cannot be written: Is a directory" in capsys.readouterr().err
