"""The prices of AWS, from the file beside this module, and what is paid for at them."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

HOURS: Final = 730  # of a month


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars; `seen` says where it was read, and is empty if it was not verified."""

    usd: float
    unit: str
    page: str
    seen: str


@dataclass(frozen=True, slots=True)
class Item:
    """Units that are paid for in a month: by the piece, or each for all hours of the month."""

    part: str
    what: str
    count: float
    price: Price
    hours: int = 1

    @property
    def usd(self) -> float:
        return self.count * self.price.usd * self.hours


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of a region by name, and the date of the list."""

    date: datetime.date
    region: str
    prices: Mapping[str, Price]

    def item(self, part: str, what: str, count: float, price: str, hours: int = 1) -> Item:
        """Return an item at the price of a name."""
        return Item(part, what, count, self.prices[price], hours)


def read_prices() -> PriceList:
    """Return the prices that come with Penstock."""
    data = tomllib.loads(files(__package__).joinpath("prices.toml").read_text("utf-8"))
    prices = {name: Price(**price) for name, price in data["prices"].items()}
    return PriceList(data["date"], data["region"], prices)
