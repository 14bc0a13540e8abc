"""A plan assigns topics to tables and drivers to what they need, and names each contradiction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.errors import SettingsError
from penstock.extensions.staging import Dependency, Role, StagedTable, StagingPlan, StagingSink
from penstock.records import DeletedWhen, Mode, Projection, RowShape, Tombstone


def _shape(*key: str, **more: Any) -> RowShape:
    name = "key" if len(key) > 1 else None
    given = {"sort_name": None, "event_time": None, "mode": Mode.UPSERT, "key_name": name} | more
    return RowShape(key, **given)


_CUSTOMERS = StagedTable("customers", _shape("customerId"), ("cdc.CUSTOMERS",))
_LINES = StagedTable("lines", _shape("orderId", "line"), ("cdc.LINES", "cdc.LINES2"))
_DRIVER = StagedTable(
    "driving",
    _shape("id"),
    ("cdc.DRIVING",),
    role=Role.DRIVER,
    dependencies=(
        Dependency("customers", (("customerId", "customer"),), "customer_row"),
        Dependency("lines", (("orderId", "order"), ("line", "line")), "line_row"),
    ),
    final="final",
)
_OTHERS = StagedTable("others", _shape("id"), pattern=r"cdc\..*")
_TABLES = (_CUSTOMERS, _LINES, _OTHERS, _DRIVER)


def test_a_topic_belongs_to_the_table_that_names_it_before_one_whose_pattern_matches() -> None:
    plan = StagingPlan(_TABLES)
    found = {topic: plan.by_topic(topic) for topic in ("cdc.LINES2", "cdc.DRIVING", "cdc.X", "X")}

    assert found == {"cdc.LINES2": _LINES, "cdc.DRIVING": _DRIVER, "cdc.X": _OTHERS, "X": None}


def test_a_table_knows_its_drivers() -> None:
    plan = StagingPlan(_TABLES)

    assert plan.table("lines") is _LINES
    assert plan.drivers() == (_DRIVER,)
    assert plan.dependents("customers") == ((_DRIVER, _DRIVER.dependencies[0]),)
    assert plan.dependents("others") == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "lines"}, r"\$\.tables\[1\]\.name: found 'lines', which is also \$\.tables\[0\]"),
        ({"final": "lines"}, r"\$\.tables\[1\]\.final: found 'lines'"),
        (
            {"topics": ("cdc.LINES",)},
            r"topics: found 'cdc.LINES', which is also in \$\.tables\[0\]",
        ),
        ({"topics": ()}, r"found neither topics nor topic_pattern"),
        ({"sinks": frozenset()}, r"sinks: found none, expected dynamodb, lake or both"),
        ({"sinks": frozenset({StagingSink.LAKE})}, r"driver without dynamodb"),
        ({"shape": RowShape()}, r"found rows that are appended, expected upserts"),
        ({"role": Role.STAGING}, r"found role staging, 1 dependencies and final 'final'"),
        ({"dependencies": ()}, r"found role driver, 0 dependencies and final 'final'"),
        ({"final": None}, r"found role driver, 1 dependencies and no final"),
        ({"columns": Projection(("id", "ID"), (), True)}, r"id and ID would both be the column id"),
        (
            {"columns": Projection(("id", "order", "line", "a"), (("a", "staging_time"),))},
            r"columns: found 'staging_time', which Penstock adds to each row",
        ),
        (
            {"columns": Projection(("id", "order", "line"), (("other", "x"),))},
            r"rename: found 'other', expected a field of columns",
        ),
        (
            {"columns": Projection(("ID", "order", "line"))},
            r"\.key: found 'id', expected one of the columns ID, line, order",
        ),
        (
            {"columns": Projection(("id", "line"))},
            r"dependencies\[0\]\.key: found the column 'order', expected one of the driver's",
        ),
        (
            {"columns": Projection(("id", "line", "order", "dep"))},
            r"dependencies\[0\]\.name: found 'dep', which is a column of the driver too",
        ),
        (
            {"shape": _shape("dep")},
            r"dependencies\[0\]\.name: found 'dep', which is a column of the driver too",
        ),
        (
            {"shape": _shape("id", key_name="dep")},
            r"dependencies\[0\]\.name: found 'dep', which is a column of the driver too",
        ),
        (
            {
                "sinks": frozenset({StagingSink.LAKE}),
                "role": Role.STAGING,
                "dependencies": (),
                "final": None,
                "shape": _shape("id", tombstone=Tombstone.DELETE),
            },
            r"\$\.tables\[1\]\.tombstone: found delete without dynamodb, expected ignore",
        ),
        (
            {
                "sinks": frozenset({StagingSink.LAKE}),
                "role": Role.STAGING,
                "dependencies": (),
                "final": None,
                "shape": _shape("id", deleted_when=DeletedWhen("op", ("D",))),
            },
            r"\$\.tables\[1\]\.deleted_when: found it without dynamodb, expected none",
        ),
    ],
)
def test_a_contradiction_is_named(changes: dict[str, Any], expected: str) -> None:
    line = Dependency("lines", (("orderId", "order"), ("line", "line")), "dep")
    driver = replace(_DRIVER, dependencies=(line,))

    with pytest.raises(SettingsError, match=expected) as caught:
        StagingPlan((_LINES, replace(driver, **changes)))

    assert len(caught.value.problems) == 1


@pytest.mark.parametrize(
    ("dependency", "expected"),
    [
        (Dependency("ghosts", (("id", "id"),), "a"), r"found 'ghosts', expected one of customers,"),
        (Dependency("driving", (("id", "id"),), "a"), r"found the driver itself"),
        (Dependency("lines", (("line", "id"),), "a"), r"the key of lines: orderId, line"),
        (Dependency("lake", (("id", "id"),), "a"), r"found 'lake', which dynamodb lacks"),
        (
            Dependency("customers", (("customerId", "a"),), "_order"),
            r"found '_order', which Penstock",
        ),
        (Dependency("customers", (("customerId", "a"),), "_source"), r"found '_source', which"),
        (
            Dependency("customers", (("customerId", "a"),), "staging_time"),
            r"dependencies\[0\]\.name: found 'staging_time', which Penstock adds to each row",
        ),
        (
            Dependency("customers", (("customerId", "customers"),), "customers"),
            r"dependencies\[0\]\.name: found 'customers', which is a column of the driver too",
        ),
    ],
)
def test_a_dependency_is_a_key_of_another_table_in_dynamodb(
    dependency: Dependency, expected: str
) -> None:
    lake = StagedTable("lake", _shape("id"), ("lake",), sinks=frozenset({StagingSink.LAKE}))

    with pytest.raises(SettingsError, match=expected) as caught:
        StagingPlan((_CUSTOMERS, _LINES, lake, replace(_DRIVER, dependencies=(dependency,))))

    assert len(caught.value.problems) == 1


def test_all_contradictions_are_in_one_error() -> None:
    twice = replace(_DRIVER, dependencies=(_DRIVER.dependencies[0],) * 2, topics=())

    with pytest.raises(SettingsError) as caught:
        StagingPlan((_CUSTOMERS, _CUSTOMERS, twice))

    assert len(caught.value.problems) == 5


def test_a_plan_has_a_table() -> None:
    with pytest.raises(SettingsError, match=r"\$\.tables: found no table"):
        StagingPlan(())
