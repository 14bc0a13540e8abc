"""The cost of a workload on MSK as built here, on MSK Serverless and on Kinesis."""

from __future__ import annotations

from penstock.extensions.cost.carriers import price_carriers
from penstock.extensions.cost.operation import estimate_cost
from penstock.extensions.cost.prices import HOURS, Price, PriceList, read_prices
from penstock.extensions.cost.text import format_estimate
from penstock.extensions.cost.workload import Workload

__all__ = [
    "HOURS",
    "Price",
    "PriceList",
    "Workload",
    "estimate_cost",
    "format_estimate",
    "price_carriers",
    "read_prices",
]
