"""The changes of five related tables, from one seed: inserts, updates, deletes, late rows.

    customers, products    a pool that is there from the start, and new ones
    orders, order_lines    made for shipments
    shipments              the driving table: each row needs one row of each of the others

Time passes in ticks, the first delay of retries. A shipment is late by 0 to 4 retries: its last
dependency arrives with it, or after 1, 3 or 7 ticks at the latest, before its first, second or
third retry, or after all of them. Half-way, customers get a column, and prices a fraction.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

DRIVER: Final = "shipments"
# For each lateness, the ticks from a shipment to the arrival of its last dependency.
ARRIVALS: Final = ((0, 0), (1, 1), (2, 3), (4, 7), (8, 9))
RETRIES: Final = (1, 3, 7)  # ticks from a shipment to its retries
_START_MS: Final = 1_795_000_000_000

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a row; without a row it is a deletion. `version` is that of its schema."""

    tick: int
    table: str
    key: str
    row: Row | None
    version: int = 1


def _field(name: str, kind: str, **more: Any) -> Row:
    return {"name": name, "type": kind, **more}


def _schema(table: str, *fields: Row) -> Row:
    return {"type": "record", "name": table, "fields": list(fields)}


_CUSTOMER: Final = (_field("customer_id", "string"), _field("name", "string"))
_PRODUCT: Final = (_field("product_id", "string"), _field("title", "string"))
# The Avro schemas of each table, by version from 1.
SCHEMAS: Final[dict[str, tuple[Row, ...]]] = {
    "customers": (
        _schema("customers", *_CUSTOMER),
        _schema("customers", *_CUSTOMER, _field("loyalty", "string", default="none")),
    ),
    "products": (
        _schema("products", *_PRODUCT, _field("price", "long")),
        _schema("products", *_PRODUCT, _field("price", "double")),
    ),
    "orders": (
        _schema(
            "orders",
            _field("order_id", "string"),
            _field("customer_id", "string"),
            _field("placed_at", "long"),
        ),
    ),
    "order_lines": (
        _schema(
            "order_lines",
            _field("order_id", "string"),
            _field("line_no", "int"),
            _field("product_id", "string"),
            _field("quantity", "int"),
        ),
    ),
    DRIVER: (
        _schema(
            DRIVER,
            _field("shipment_id", "string"),
            _field("order_id", "string"),
            _field("line_no", "int"),
            _field("customer_id", "string"),
            _field("product_id", "string"),
            _field("status", "string"),
        ),
    ),
}
# The tables of a staging job's configuration.
TABLES: Final[tuple[Row, ...]] = (
    {"name": "customers", "topics": ["customers"], "key": "customer_id", "tombstone": "delete"},
    {"name": "products", "topics": ["products"], "key": "product_id"},
    {"name": "orders", "topics": ["orders"], "key": "order_id"},
    {
        "name": "order_lines",
        "topics": ["order_lines"],
        "key": ["order_id", "line_no"],
        "key_name": "line_id",
    },
    {
        "name": DRIVER,
        "topics": [DRIVER],
        "key": "shipment_id",
        "tombstone": "delete",
        "final": "fulfilments",
        "dependencies": [
            {"table": "customers", "name": "customer", "key": {"customer_id": "customer_id"}},
            {"table": "products", "name": "product", "key": {"product_id": "product_id"}},
            {"table": "orders", "name": "order", "key": {"order_id": "order_id"}},
            {
                "table": "order_lines",
                "name": "order_line",
                "key": {"order_id": "order_id", "line_no": "line_no"},
            },
        ],
    },
)


class Publisher:
    """Makes the changes of one seed.

    `lateness` has the shares of shipments late by 0 to 4, `pool` the customers and products that
    are there from the start.
    """

    def __init__(
        self,
        seed: int,
        shipments: int,
        ticks: int = 12,
        lateness: Sequence[float] = (0.6, 0.1, 0.1, 0.1, 0.1),
        pool: int = 40,
    ) -> None:
        self._chance = random.Random(seed)  # noqa: S311
        self._shipments = shipments
        self._ticks = ticks
        self._lateness = lateness
        self._pool = pool
        self._changes: dict[int, list[Change]] = defaultdict(list)
        # By row of the pool, the ticks up to which a shipment waits that needs it.
        self._busy: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def publish(self) -> Iterator[list[Change]]:
        """Yield the changes of each tick, the driving table last; the last ticks are quiet."""
        for number in range(self._pool):
            self._add(0, "customers", f"c{number}", self._customer(f"c{number}", 0))
            self._add(0, "products", f"p{number}", self._product(f"p{number}", 0))
        for number in range(self._shipments):
            self._ship(number)
        self._change_pool()
        for tick in range(self._ticks + ARRIVALS[-1][1] + RETRIES[-1] + 1):
            changes = self._changes.pop(tick, [])
            yield sorted(changes, key=lambda each: each.table == DRIVER)

    def _ship(self, number: int) -> None:
        """Add a shipment with its order, line and, at times, a customer and product of its own."""
        tick = number * self._ticks // self._shipments
        late = self._chance.choices(range(len(ARRIVALS)), self._lateness)[0]
        arrival = tick + self._chance.randint(*ARRIVALS[late])
        customer = self._choose("customers", "c", number, tick, arrival)
        product = self._choose("products", "p", number, tick, arrival)
        order, line = f"o{number}", self._chance.randint(1, 9)
        early = self._chance.randint(tick, arrival)
        placed = _START_MS + number
        self._add(
            early,
            "orders",
            order,
            {"order_id": order, "customer_id": customer, "placed_at": placed},
        )
        self._add(
            arrival,
            "order_lines",
            f"{order}/{line}",
            {"order_id": order, "line_no": line, "product_id": product, "quantity": line * 2},
        )
        self._add_driver(
            tick,
            arrival,
            {
                "shipment_id": f"s{number}",
                "order_id": order,
                "line_no": line,
                "customer_id": customer,
                "product_id": product,
                "status": "packed",
            },
        )

    def _add_driver(self, tick: int, arrival: int, row: Row) -> None:
        """Add a shipment, and at times an update or a deletion of it."""
        key = row["shipment_id"]
        self._add(tick, DRIVER, key, row)
        fate = self._chance.random()
        later = arrival + self._chance.randint(1, 3)
        if fate < 0.1 and arrival - tick <= RETRIES[-1]:
            self._add(later, DRIVER, key, row | {"status": "sent"})
        elif fate < 0.15:
            self._add(later, DRIVER, key, None)

    def _choose(self, table: str, letter: str, number: int, tick: int, arrival: int) -> str:
        """Return a row of the pool, or a new one that arrives with the shipment or later."""
        if self._chance.random() < 0.2:
            key = f"{letter}-{number}"
            when = self._chance.randint(tick, arrival)
            make = self._customer if table == "customers" else self._product
            self._add(when, table, key, make(key, when))
            return key
        key = f"{letter}{self._chance.randrange(self._pool)}"
        self._busy[key].append((tick, arrival))
        return key

    def _change_pool(self) -> None:
        """Update rows of the pool in ticks in which no shipment that needs them waits."""
        for _ in range(4 * self._pool):
            tick, number = self._chance.randint(1, self._ticks), self._chance.randrange(self._pool)
            for table, letter in (("customers", "c"), ("products", "p")):
                key = f"{letter}{number}"
                if not any(since < tick <= until for since, until in self._busy[key]):
                    make = self._customer if table == "customers" else self._product
                    self._add(tick, table, key, make(key, tick))
        for number in range(0, self._pool, 5):  # nothing needs them after the last tick
            self._add(self._ticks + ARRIVALS[-1][1] + 4, "customers", f"c{number}", None)

    def _customer(self, key: str, tick: int) -> Row:
        row = {"customer_id": key, "name": f"customer {self._chance.randrange(10**6)}"}
        loyalty = self._chance.choice(("gold", "none"))
        return row | {"loyalty": loyalty} if self._is_late(tick) else row

    def _product(self, key: str, tick: int) -> Row:
        cents = self._chance.randrange(1, 10**5)
        price = cents / 100 if self._is_late(tick) else cents
        return {"product_id": key, "title": f"product {key}", "price": price}

    def _is_late(self, tick: int) -> bool:
        return tick >= self._ticks // 2

    def _add(self, tick: int, table: str, key: str, row: Row | None) -> None:
        new = row is not None and len(SCHEMAS[table]) > 1 and self._is_late(tick)
        self._changes[tick].append(Change(tick, table, key, row, 2 if new else 1))
