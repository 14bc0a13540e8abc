"""The estimate of `penstock cost`: each service, and the rates at which another one is cheaper."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.extensions.cost.break_even import Change, find_cheapest
from penstock.extensions.cost.carriers import Carrier, price_carriers
from penstock.extensions.cost.plot import draw_costs
from penstock.extensions.cost.prices import PriceList, read_prices
from penstock.extensions.cost.workload import Workload


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a workload costs with each service.

    `cheapest` says which service is the cheapest from which rate of events on, and `cheaper_from`
    from which rate on the first service stays cheaper than another one; None is never.
    """

    load: Workload
    prices: PriceList
    carriers: tuple[Carrier, ...]
    cheapest: tuple[Change, ...]
    cheaper_from: dict[str, float | None]

    @property
    def plot(self) -> str:
        return draw_costs(self.load, self.prices)


def estimate_cost(load: Workload) -> Estimate:
    """Estimate a month of a workload at the prices that come with Penstock."""
    prices = read_prices()
    carriers = price_carriers(load, prices)
    first, *others = (carrier.name for carrier in carriers)
    cheaper_from = {}
    for other in others:
        changes = find_cheapest(load, prices, (first, other))
        last = [change for change in changes if change.carrier][-1:]
        cheaper_from[other] = last[0].events if last and last[0].carrier == first else None
    return Estimate(load, prices, carriers, find_cheapest(load, prices), cheaper_from)
