"""The rates at which another service becomes the cheapest one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.extensions.cost.break_even import find_cheapest
from penstock.extensions.cost.carriers import price_carriers
from penstock.extensions.cost.operation import estimate_cost
from penstock.extensions.cost.prices import read_prices
from penstock.extensions.cost.workload import Workload

_PRICES = read_prices()


def _usd(load: Workload, name: str, events: float) -> float:
    rated = Workload(events, load.record_bytes, load.consumers, load.retention_hours)
    return next(each.usd or 0 for each in price_carriers(rated, _PRICES) if each.name == name)


@pytest.mark.parametrize("other", ["MSK Serverless", "Kinesis on demand"])
def test_both_cost_the_same_at_a_break_even(other: str) -> None:
    load = Workload(0, 1_024, 3, 48)

    first, *later = find_cheapest(load, _PRICES, ("MSK as built", other))

    assert first.events == 0
    for change in [each for each in later if each.carrier == "MSK as built"]:
        costs = _usd(load, "MSK as built", change.events), _usd(load, other, change.events)
        assert costs[0] == pytest.approx(costs[1], rel=1e-3)
        assert _usd(load, other, change.events * 0.99) < _usd(
            load, "MSK as built", change.events * 0.99
        )


def test_msk_and_kinesis_on_demand_by_hand() -> None:
    """362.15 + 0.0401 + 0.0501 + ... a GB against 43.80 + 0.13 a GB, and the volumes."""
    (_, change) = find_cheapest(Workload(0, 1_024), _PRICES, ("MSK as built", "Kinesis on demand"))[
        :2
    ]

    # a GB: 0.016 read + 0.02 between zones, against 0.08 + 0.04 + 0.01; volumes 0.0077 a GB
    by_hand = (297.84 + 32.85 + 29.20 - 43.80) / (0.13 - 0.036 - 24 / 730 * 2 / 0.85 * 0.1)
    assert change.events * 1_024 * 2_628_000 / 2**30 == pytest.approx(by_hand, rel=0.01)


def test_a_rate_that_nothing_carries_is_said() -> None:
    assert find_cheapest(Workload(0, 1_024, 21), _PRICES)[-1].carrier == ""
    carried = find_cheapest(Workload(0, 1_024), _PRICES, ("MSK as built", "Kinesis on demand"))
    assert [change.carrier for change in carried] == ["Kinesis on demand", "MSK as built", ""]


def test_the_estimate_says_from_when_msk_stays_cheaper() -> None:
    cheaper = estimate_cost(Workload(1_000, 1_024)).cheaper_from

    assert cheaper["MSK Serverless"] == 0
    assert cheaper["Kinesis shards"] is None
    assert cheaper["Kinesis on demand"] == pytest.approx(1_463, abs=2)


def test_the_page_that_compares_both_has_the_rates_of_the_prices() -> None:
    page = " ".join((Path(__file__).parents[4] / "docs/kinesis-or-msk.md").read_text().split())
    shards = find_cheapest(Workload(0, 200), _PRICES, ("MSK as built", "Kinesis shards"))
    on_demand = estimate_cost(Workload(0, 1_024)).cheaper_from["Kinesis on demand"] or 0

    assert f"from some {round(shards[1].events, -3):,.0f} events a second brokers cost less" in page
    assert f"than Kinesis on demand from some {round(on_demand, -2):,.0f} events a second" in page
    assert [each.carrier for each in find_cheapest(Workload(0, 1_024), _PRICES)] == [
        "Kinesis shards"
    ]


def test_the_plot_has_a_line_for_each_service_that_ends_where_it_cannot_carry() -> None:
    plot = estimate_cost(Workload(1, 4_096)).plot

    lines = re.findall(r'<polyline points="([^"]+)"', plot)
    assert len(lines) == 4
    points = [line.split() for line in lines]
    # 60 brokers carry 70,000 of 4 KB a second, a serverless cluster 51,200; Kinesis all of them.
    assert [len(each) for each in points] == [98, 95, 101, 101]
    assert all(70 <= float(at.split(",")[0]) <= 725 for line in points for at in line)
    heights = [float(at.split(",")[1]) for at in points[0]]
    assert heights == sorted(heights, reverse=True)
