"""The cost of a workload on MSK as built here and on other services, and the parts it needs."""

from __future__ import annotations

from penstock.extensions.cost.carriers import price_carriers
from penstock.extensions.cost.operation import estimate_cost
from penstock.extensions.cost.prices import HOURS, Price, PriceList, read_prices
from penstock.extensions.cost.rates import Rates, read_rates
from penstock.extensions.cost.sizing import Sizing, size_platform
from penstock.extensions.cost.sizing_text import describe_share, format_sizing
from penstock.extensions.cost.text import format_estimate
from penstock.extensions.cost.workload import Workload

__all__ = [
    "HOURS",
    "Price",
    "PriceList",
    "Rates",
    "Sizing",
    "Workload",
    "describe_share",
    "estimate_cost",
    "format_estimate",
    "format_sizing",
    "price_carriers",
    "read_prices",
    "read_rates",
    "size_platform",
]
