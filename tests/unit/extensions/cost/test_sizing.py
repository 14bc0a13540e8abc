"""The parts of a workload, against figures that were computed by hand at rates that are round."""

from __future__ import annotations

import pytest

from penstock.cli import main
from penstock.extensions.cost.prices import read_prices
from penstock.extensions.cost.rates import Rates
from penstock.extensions.cost.sizing import Part, size_platform
from penstock.extensions.cost.workload import Workload
from tests.fixtures.commands import read_json

_RATES = Rates(
    lake_rows=100_000,
    produced_events=5_000,
    single_events=250,
    function_rows=20_000,
    growth_of_a_byte=0.0005,
)


def _size(
    events: float, record_bytes: int = 200, *, versions: int = 1, rows: bool = False
) -> dict[str, Part]:
    load = Workload(events, record_bytes)
    sizing = size_platform(load, read_prices(), _RATES, versions=versions, rows=rows)
    return {part.name: part for part in sizing.parts}


def _usd(part: Part) -> float:
    return round(part.usd, 2)


def test_the_smallest_platform_carries_a_thousand_events() -> None:
    parts = _size(1_000)

    assert {name: part.size for name, part in parts.items()} == {
        "registry": "versions: 1",
        "producer function": "at once: 1",  # 0.2 busy, twice that
        "brokers": "2 kafka.m7g.large",
        "partitions": "6",
        "endpoints": "in a consumer's VPC: 7",
        "Spark job": "executors of 4 vCPU: 1",
    }
    # 8 vCPU x 0.0421 x 730 + 32 GB x 0.0046 x 730
    assert _usd(parts["Spark job"]) == 353.32


def test_parts_grow_with_the_rate() -> None:
    parts = _size(1_000_000, rows=True)

    assert parts["producer function"].size == "at once: 400"  # 200 busy
    assert parts["producer function"].share == 0.4
    assert parts["Spark job"].size == "executors of 4 vCPU: 5"  # 10 cores busy
    assert parts["Spark job"].share == 24 / 16
    assert parts["consumer function"].size == "at once: 100"  # 50 busy
    assert parts["DynamoDB table"].share == 25
    # 190.7 MB/s are 39.7 of the smallest: 10 that are four times as large leave the least idle.
    assert parts["brokers"].size == "10 kafka.m7g.2xlarge"
    assert parts["endpoints"].share == 15 / 50
    assert parts["partitions"].size == "100"  # a function for each


def test_each_consumer_has_a_job_and_rows_of_its_own() -> None:
    def usd(consumers: int) -> dict[str, float]:
        load = Workload(1_000, 200, consumers)
        sizing = size_platform(load, read_prices(), _RATES, rows=True)
        return {part.name: _usd(part) for part in sizing.parts}

    one, three = usd(1), usd(3)
    for name in ("Spark job", "consumer function", "DynamoDB table"):
        assert three[name] == pytest.approx(3 * one[name], abs=0.02)
    assert one["DynamoDB table"] == 1_642.50  # 2,628 million at 0.625
    assert three["producer function"] == one["producer function"]


def test_large_records_take_longer_and_more_write_units() -> None:
    small, large = _size(100_000, 200, rows=True), _size(100_000, 2_200, rows=True)

    assert small["Spark job"].size == "executors of 4 vCPU: 1"  # 1 core busy
    assert large["consumer function"].size == "at once: 20"  # twice the time
    assert small["consumer function"].size == "at once: 10"
    assert small["producer function"].size == "at once: 40"
    assert large["producer function"].size == "at once: 80"
    assert large["DynamoDB table"].size == "write units a second: 300,000"


def test_the_cheapest_brokers_carry_the_records_and_each_reader_has_a_partition() -> None:
    parts = _size(10_000_000)

    # 1,907 MB/s are 397.5 of the smallest: 50 of eight each are more than a cluster has here.
    assert parts["brokers"].size == "26 kafka.m7g.8xlarge"
    assert parts["partitions"].size == "390"  # 1,907 / 5 is 382, and 15 for each of 26 brokers
    assert parts["brokers"].share == pytest.approx(26 * 16 / (45 * 32))


def test_the_part_that_is_nearest_to_its_limit_is_the_first() -> None:
    def first(versions: int) -> Part:
        load = Workload(1_000, 200)
        return size_platform(load, read_prices(), _RATES, versions=versions).first

    assert first(1).name == "Spark job"  # 8 of 16 vCPU
    assert (first(9_000).name, first(9_000).is_hard) == ("registry", True)


def test_the_command_says_which_part_is_beyond_its_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["size", "--events", "100", "--versions", "20000"], {}) == 2

    told = capsys.readouterr().out
    assert "100 events a second of 1,024 bytes, consumers: 1, kept for 24 hours" in told
    assert "registry is beyond its limit: 10,000 versions" in told
    assert "which AWS does not raise" in told

    assert main(["size", "--events", "100", "--rows", "--output", "json"], {}) == 0
    (told_json,) = read_json("size", capsys.readouterr().out)
    assert [part["name"] for part in told_json["parts"]][-1] == "DynamoDB table"
    assert told_json["usd"] == pytest.approx(
        sum(part["usd"] for part in told_json["parts"]), abs=0.05
    )


@pytest.mark.parametrize("given", [["--events", "-1"], ["--events", "1", "--versions", "0"]])
def test_a_wrong_number_is_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["size", *given], {})
    assert "expected a" in capsys.readouterr().err
