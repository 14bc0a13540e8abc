"""The generated parts of docs/cost.md."""

from __future__ import annotations

from penstock.extensions.cost import read_prices
from tools.cost_tables import cost_parts


def test_each_price_is_shown_as_it_is_in_the_list() -> None:
    prices = read_prices()
    rows = cost_parts(prices)["prices"].splitlines()[2:]
    shown = [row.split(" | ")[1] for row in rows]

    assert "0.0000133334" in shown
    assert "0.10" in shown
    assert [float(each) for each in shown] == [each.usd for each in prices.prices.values()]
