"""What a workload costs, against figures that were computed by hand at the prices of the file."""

from __future__ import annotations

import pytest

from penstock.extensions.cost.carriers import Carrier, price_carriers
from penstock.extensions.cost.prices import read_prices
from penstock.extensions.cost.workload import Workload

_PRICES = read_prices()
_MSK, _SERVERLESS, _SHARDS, _ON_DEMAND = range(4)
# 1,000 a second of 1 KB for a month are 1,000 x 2,628,000 x 1,024 bytes.
_GIB = 1_000 * 2_628_000 / 1_048_576


def _price(carrier: int, *load: float, fan_out: bool = False) -> Carrier:
    return price_carriers(Workload(*load, fan_out=fan_out), _PRICES)[carrier]  # type: ignore[arg-type]


def _parts(carrier: Carrier) -> dict[str, float]:
    parts: dict[str, float] = {}
    for item in carrier.items:
        if item.count:
            parts[item.part] = parts.get(item.part, 0) + item.usd
    return {part: round(usd, 2) for part, usd in parts.items()}


def test_msk_as_built_for_1000_events_a_second_and_two_consumers() -> None:
    carrier = _price(_MSK, 1_000, 1_024, 2, 24)

    assert carrier.size == "brokers: 2"
    assert _parts(carrier) == {
        "capacity": 297.84,  # 2 x 0.204 x 730
        # 82.397 GB a day, two copies, at most 85 % of a volume: 193.88, so 97 for each broker
        "storage": 19.40,
        # 2 x 0.0225 x 730 = 32.85; 2 brokers x 2 zones x 2 consumers x 0.01 x 730 = 58.40; half of
        # 2,506.26 written and 5,012.51 read is 3,759.38 x 0.02 = 75.19
        "network": 166.44,
        "reads": 80.20,  # 5,012.51 x (0.006 + 0.01)
    }


@pytest.mark.parametrize(
    ("load", "size"),
    [
        ((0, 1_024), "brokers: 2"),
        ((9_800, 1_024), "brokers: 2"),  # 9.57 of 9.597 MB/s
        ((9_900, 1_024), "brokers: 4"),  # 9.67
        ((9_800, 1_024, 2), "brokers: 2"),  # 19.14 of 19.19 MB/s out
        ((9_800, 1_024, 3), "brokers: 4"),
        # 806 GB a day, two copies: 300 days need more than 2 x 16,384 GB
        ((9_800, 1_024, 1, 7_200), "brokers: 36"),
    ],
)
def test_brokers_are_those_that_carry_and_store_it(load: tuple[float, ...], size: str) -> None:
    assert _price(_MSK, *load).size == size


def test_volumes_have_at_least_what_the_smallest_set_up_has() -> None:
    assert _parts(_price(_MSK, 0, 1))["storage"] == 2.00  # 2 x 10 x 0.10


def test_msk_serverless() -> None:
    assert _parts(_price(_SERVERLESS, 1_000, 1_024, 2, 24)) == {
        "capacity": 554.07,  # 0.75 x 730 + 6 x 0.0015 x 730
        "writes": 250.63,  # 2,506.26 x 0.10
        "reads": 250.63,  # 5,012.51 x 0.05
        "storage": 8.24,  # 82.397 x 0.10
    }
    assert _price(_SERVERLESS, 40_000, 1_024).size == "partitions: 8"  # 39.1 MB/s of 5
    assert _price(_SERVERLESS, 40_000, 1_024, 3).size == "partitions: 12"  # 117.2 MB/s of 10


def test_shards() -> None:
    assert _parts(_price(_SHARDS, 1_000, 1_024)) == {
        "capacity": 10.95,  # 0.015 x 730
        "writes": 36.79,  # 2,628 x 0.014
        "network": 39.66,  # 2 x 0.01 x 730 + 2,506.26 x 0.01
    }


@pytest.mark.parametrize(
    ("load", "shards"),
    [
        ((0, 1_024), 1),
        ((1_000, 1), 1),
        ((1_001, 1), 2),
        ((1, 1_048_576), 1),
        ((2, 1_048_576), 2),
        ((1, 1_048_576, 2), 1),
        ((1, 1_048_576, 3), 2),  # 3 MB/s are read, 2 of a shard
        ((10_000, 1_024, 2), 10),
    ],
)
def test_shards_are_those_of_the_quotas(load: tuple[float, ...], shards: int) -> None:
    assert _price(_SHARDS, *load).size == f"shards: {shards}"


@pytest.mark.parametrize(
    ("size", "units"), [(1, 1), (25_600, 1), (25_601, 2), (46_080, 2), (1_048_576, 41)]
)
def test_put_units_have_25_kb(size: int, units: int) -> None:
    (item,) = [each for each in _price(_SHARDS, 1, size).items if each.part == "writes"]

    assert item.count == pytest.approx(2.628 * units)


def test_fan_out_is_paid_by_shard_and_by_gb() -> None:
    fanned = _price(_SHARDS, 1_000, 1_024, 2, 24, fan_out=True)

    assert fanned.size == "shards: 1, fan-out"
    assert _parts(fanned)["reads"] == 87.06  # 2 x 0.015 x 730 + 5,012.51 x 0.013
    assert _parts(_price(_ON_DEMAND, 1_000, 1_024, 2, 24, fan_out=True))["reads"] == 250.63


def test_more_consumers_than_can_share_reads_use_fan_out() -> None:
    assert _price(_SHARDS, 1, 1, 5).size == "shards: 1"
    assert _price(_SHARDS, 1, 1, 6).size == "shards: 1, fan-out"
    assert _price(_ON_DEMAND, 1, 1, 2).size == "streams: 1"
    assert _price(_ON_DEMAND, 1, 1, 3).size == "streams: 1, fan-out"


def test_on_demand_writes_are_rounded_up_to_1_kb() -> None:
    assert _parts(_price(_ON_DEMAND, 1_000, 1_024)) == {
        "capacity": 29.20,  # 0.04 x 730
        "writes": 200.50,  # 2,506.26 x 0.08
        "reads": 100.25,  # 2,506.26 x 0.04
        "network": 39.66,
    }
    assert _parts(_price(_ON_DEMAND, 1_000, 100))["writes"] == 200.50
    assert _parts(_price(_ON_DEMAND, 1_000, 100))["reads"] == 9.79
    assert _parts(_price(_ON_DEMAND, 1_000, 1_025))["writes"] == 401.00


@pytest.mark.parametrize(
    ("hours", "shards", "on_demand"),
    [
        (24, 0, 0),
        (25, 14.60, 0.34),  # 0.02 x 730; an hour of 3.4332 GB x 0.10
        (168, 14.60, 49.44),  # 144 hours x 3.4332 x 0.10
        (169, 14.68, 49.52),  # an hour more at 0.023
    ],
)
def test_retention_is_paid_beyond_a_day_and_beyond_a_week(
    hours: int, shards: float, on_demand: float
) -> None:
    assert _parts(_price(_SHARDS, 1_000, 1_024, 1, hours)).get("storage", 0) == shards
    assert _parts(_price(_ON_DEMAND, 1_000, 1_024, 1, hours)).get("storage", 0) == on_demand


@pytest.mark.parametrize(
    ("carrier", "fits", "exceeds", "problem"),
    [
        (_MSK, (280_000, 1_024), (300_000, 1_024), "at most 60 brokers"),
        (_SERVERLESS, (200, 1_048_576), (201, 1_048_576), "takes 200 MB/s in and 400 out"),
        (_SERVERLESS, (100, 1_048_576, 4), (100, 1_048_576, 5), "takes 200 MB/s in and 400 out"),
        (_SHARDS, (1, 1, 20), (1, 1, 21), "at most 20 consumers with enhanced fan-out"),
        (_ON_DEMAND, (1, 1, 20), (1, 1, 21), "at most 20 consumers with enhanced fan-out"),
        (_ON_DEMAND, (1, 1, 1, 8_760), (1, 1, 1, 8_761), "for at most 8,760 hours"),
    ],
)
def test_what_a_service_cannot_carry_has_no_price(
    carrier: int, fits: tuple[float, ...], exceeds: tuple[float, ...], problem: str
) -> None:
    assert _price(carrier, *fits).usd is not None
    refused = _price(carrier, *exceeds)
    assert problem in refused.problem
    assert refused.usd is None


def test_every_price_has_a_page_of_aws_and_a_use() -> None:
    used = {id(item.price) for load in (Workload(1, 1, 3, 200), Workload(1, 1, 3, 200, True))
            for carrier in price_carriers(load, _PRICES) for item in carrier.items}  # fmt: skip

    assert all(
        price.page.startswith("https://aws.amazon.com/") for price in _PRICES.prices.values()
    )
    # Those of the smallest set-up alone, whose table is in docs/cost.md, and of `penstock size`.
    assert {name for name, price in _PRICES.prices.items() if id(price) not in used} == {
        "alarm-metric", "custom-metric", "key", "secret", "zone", "on-demand-out",
        "function-calls", "function-second", "worker-cpu", "worker-memory", "write-units",
    }  # fmt: skip
    assert _price(_ON_DEMAND, 1, 1).items[2].price is _PRICES.prices["on-demand-out"]
