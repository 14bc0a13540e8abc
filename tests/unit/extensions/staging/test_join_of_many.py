"""Shipments by the ten thousand, late by 0 to 4 retries: the final table is the model's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from demo.staging.model import Model
from demo.staging.publisher import DRIVER, TABLES, Change, Publisher
from penstock.extensions.staging import JoinEvent, StagingPlan
from penstock.extensions.staging.configuration import read_configuration
from tests.unit.extensions.staging.joining import DELAY_SECONDS, World, open_tables

_ENVIRON = {"KAFKA_BOOTSTRAP_SERVERS": "b:9096", "PENSTOCK_REGISTRY": "confluent+http://r:8081"}


def _plan() -> StagingPlan:
    return read_configuration(json.dumps({"tables": TABLES}), _ENVIRON).plan


def _stage(world: World, changes: list[Change], offset: int) -> tuple[int, int]:
    """Stage the changes of a tick, a table at a time; count the shipments that begin to wait."""
    records: dict[str, list[tuple[Any, int]]] = {}
    for place, each in enumerate(changes):
        value = each.key if each.row is None else each.row
        records.setdefault(each.table, []).append((value, offset + place))
    waiting = 0
    for table, own in records.items():
        waiting += world.stage(table, own)[JoinEvent.WAITING]
    return waiting, offset + len(changes)


def test_the_final_table_is_the_models_and_only_what_failed_three_times_is_parked(
    trials: Callable[[int, int], int],
) -> None:
    shipments, plan = trials(2_000, 100_000), _plan()
    world, model = World(open_tables(plan), plan), Model()
    tables, offset, waited = world.tables, 0, 0
    for tick, changes in enumerate(Publisher(17, shipments, ticks=40).publish()):
        world.now_s = 1_000_000 + tick * DELAY_SECONDS
        waiting, offset = _stage(world, changes, offset)
        waited += waiting
        world.retry(f"run-{tick}")
        model.take(tick, changes)

    assert _finals(tables.rows("p-fulfilments")) == model.finals
    assert len(model.finals) > 0.8 * shipments
    assert waited > 0.3 * shipments
    errors = tables.rows("errors")
    assert len(errors) == waited
    assert all("doneAt" in row or "parkedAt" in row for row in errors)
    parked = [row["driver"].split("/")[1] for row in errors if "parkedAt" in row]
    assert sorted(parked) == sorted(shipment for shipment, _ in model.parked)
    notices = [name for name in world.store.objects if name.startswith("notices/")]
    assert len(notices) == model.notices
    assert sum(json.loads(world.store.objects[name])["parked"] for name in notices) == len(parked)
    assert tables.rows("waiting") == []


def _finals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The final rows as the model has them, None for one that is deleted."""
    needed = [each["name"] for each in TABLES[-1]["dependencies"]]
    own = {"shipment_id", "order_id", "line_no", "customer_id", "product_id"}
    finals = {}
    for row in rows:
        if row.get("_deleted"):
            finals[row["shipment_id"]] = None
            continue
        final = {name: row[name] for name in (*own, "status", *needed)}
        final["order_line"] = {k: v for k, v in final["order_line"].items() if k != "line_id"}
        final["product"] = final["product"] | {"price": float(final["product"]["price"])}
        finals[row["shipment_id"]] = final
    return finals


def test_a_publisher_makes_the_same_changes_from_the_same_seed() -> None:
    first, second, other = (list(Publisher(seed, 200).publish()) for seed in (1, 1, 2))

    assert first == second != other
    changes = [change for tick in first for change in tick]
    assert {(each.table, each.version) for each in changes} >= {
        ("customers", 1), ("customers", 2), ("products", 1), ("products", 2), (DRIVER, 1),
    }  # fmt: skip
    assert {each.table for each in changes if each.row is None} == {"customers", DRIVER}
