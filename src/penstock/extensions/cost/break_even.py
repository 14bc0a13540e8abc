"""The rates of events at which another service becomes the cheapest one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from penstock.extensions.cost.carriers import price_carriers
from penstock.extensions.cost.prices import PriceList
from penstock.extensions.cost.workload import Workload

# Events a second, 40 to each power of ten; steps of brokers and shards between two are not seen.
RATES: Final = tuple(10 ** (power / 40) for power in range(-40, 241))
_ROUNDS: Final = 20


@dataclass(frozen=True, slots=True)
class Change:
    """The rate from which a service is the cheapest, until the next change.

    From a rate that the services cannot carry, it is "".
    """

    events: float
    carrier: str


def find_cheapest(
    load: Workload, prices: PriceList, among: Collection[str] = ()
) -> tuple[Change, ...]:
    """Return which service is the cheapest from which rate on, for a workload's other figures.

    Args:
        load: the workload, whose rate is not used.
        prices: the prices.
        among: the names of the services to compare, as far as each can carry the rate; without
            names all services, as far as one can.
    """

    def choose(events: float) -> str:
        carriers = price_carriers(replace(load, events=events), prices)
        costs = {
            each.name: each.usd
            for each in carriers
            if each.usd is not None and (not among or each.name in among)
        }
        return min(costs, key=costs.__getitem__) if len(costs) >= max(len(among), 1) else ""

    changes = [Change(0, choose(RATES[0]))]
    for low, high in pairwise(RATES):
        if (name := choose(high)) != changes[-1].carrier:
            changes.append(Change(_narrow(low, high, lambda rate: choose(rate) == name), name))
    return tuple(changes)


def _narrow(low: float, high: float, is_reached: Callable[[float], bool]) -> float:
    """Return where between two rates something is reached, by halving."""
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_reached(middle) else (middle, high)
    return high
