"""A configuration file is read whole, and every problem of it is in one error with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import SettingsError
from penstock.extensions.staging import Dependency, Role, StagingSink
from penstock.extensions.staging._json_schema import find_faults
from penstock.extensions.staging.configuration import (
    FORMAT,
    load_configuration,
    load_plan,
    read_configuration,
)
from penstock.records import DeletedWhen, KeyFormat, Projection, Tombstone

_SECRET = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:kafka"
_CUSTOMERS: dict[str, Any] = {
    "name": "customers",
    "topics": ["cdc.CUSTOMERS"],
    "columns": ["CUSTOMER_ID", "NAME", "CHANGED"],
    "rename": {"CUSTOMER_ID": "customerId"},
    "lower_case": True,
    "key": "customerId",
    "order": "changed",
    "sinks": ["dynamodb", "lake"],
}
_LINES: dict[str, Any] = {
    "name": "lines",
    "topic_pattern": r"cdc\.LINES.*",
    "key": ["ORDER_ID", "LINE"],
    "key_name": "lineKey",
    "sort": "AT",
    "event_time": "AT",
    "deleted_when": {"column": "OP", "values": ["D"]},
}
_DRIVER: dict[str, Any] = {
    "name": "driving",
    "topics": ["cdc.DRIVING"],
    "key": "id",
    "key_format": "long",
    "tombstone": "delete",
    "dependencies": [
        {"table": "customers", "key": {"customerId": "customer"}},
        {
            "table": "customers",
            "key": {"customerId": "payer"},
            "name": "payer_row",
            "optional": True,
        },
    ],
    "final": "orders",
}
_FILE: dict[str, Any] = {
    "registry": "confluent+https://schemas.example.com",
    "kafka": {"bootstrap_servers": ["b-1:9096"], "security": "scram", "secret_arn": _SECRET},
    "starting": {"cdc.CUSTOMERS": {"0": 12}},
    "tables": [_CUSTOMERS, _LINES, _DRIVER],
}
_SEED: dict[str, Any] = {
    "kafka_bootstrap_servers": "b-1:9096,b-2:9096",
    "schema_registry_url": "http://registry:8081",
    "startingOffsets": "latest",
    "consumer_group_id": "glue-",
    "tables": [
        {"topic_name": "ORDERS", "target_table_name": "stg-ORDERS", "column_names": ["ID", "A"],
         "key": "id"},
        {"topic_name": "MAIN", "target_table_name": "stg_main_driving_table",
         "column_names": ["ID", "ORDER_ID"], "key": "id",
         "dependencies": [{"table": "stg_orders", "key": {"id": "order_id"}, "name": "order"}],
         "final": "final"},
    ],
}  # fmt: skip


def _change(file: dict[str, Any], *path: str | int, to: Any = None) -> dict[str, Any]:
    """Return a copy of a file with another value at a path, or without the path."""
    copy: Any = json.loads(json.dumps(file))
    place = copy
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return dict(copy)


def _read(file: Any) -> Any:
    return read_configuration(json.dumps(file), {})


def _problems(file: Any) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        _read(file)
    return caught.value.problems


def test_a_whole_file() -> None:
    found = _read(_FILE)
    customers, lines, driver = found.plan.tables

    assert found.variables == {
        "PENSTOCK_REGISTRY": "confluent+https://schemas.example.com",
        "PENSTOCK_STARTING": '{"cdc.CUSTOMERS": {"0": 12}}',
        "PENSTOCK_MAX_OFFSETS_PER_TRIGGER": "10000",
        "PENSTOCK_MAX_OFFSETS_PER_PARTITION": "5000",
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:9096",
        "KAFKA_SECURITY": "scram",
        "KAFKA_SECRET_ARN": _SECRET,
    }
    assert customers.columns == Projection(
        ("CUSTOMER_ID", "NAME", "CHANGED"), (("CUSTOMER_ID", "customerId"),), True
    )
    assert (customers.shape.order, customers.shape.table_key) == (("changed",), ("customerId",))
    assert customers.sinks == set(StagingSink)
    assert (lines.topics, lines.pattern) == ((), r"cdc\.LINES.*")
    assert lines.shape.table_key == ("lineKey", "AT")
    assert lines.shape.deleted_when == DeletedWhen("OP", ("D",))
    assert (lines.role, driver.role) == (Role.STAGING, Role.DRIVER)
    assert driver.shape.tombstone is Tombstone.DELETE
    assert driver.shape.key_format is KeyFormat.LONG
    assert driver.dependencies == (
        Dependency("customers", (("customerId", "customer"),), "customers"),
        Dependency("customers", (("customerId", "payer"),), "payer_row", optional=True),
    )


def test_the_names_of_an_older_program() -> None:
    found = read_configuration(json.dumps(_SEED), {"KAFKA_SECRET_ARN": _SECRET})
    orders, driver = found.plan.tables

    assert found.variables == {
        "PENSTOCK_REGISTRY": "confluent+http://registry:8081",
        "PENSTOCK_GROUP_PREFIX": "glue-",
        "PENSTOCK_STARTING": "latest",
        "PENSTOCK_MAX_OFFSETS_PER_TRIGGER": "10000",
        "PENSTOCK_MAX_OFFSETS_PER_PARTITION": "5000",
        "KAFKA_BOOTSTRAP_SERVERS": "b-1:9096,b-2:9096",
        "KAFKA_SECURITY": "scram",
    }
    assert (orders.name, orders.topics) == ("stg_orders", ("ORDERS",))
    assert orders.columns == Projection(("ID", "A"), (), True)
    assert (orders.role, driver.role) == (Role.STAGING, Role.DRIVER)
    assert driver.dependencies == (Dependency("stg_orders", (("id", "order_id"),), "order"),)


def test_a_driving_table_of_an_older_program_needs_what_it_joins_or_another_role() -> None:
    file = _change(_change(_SEED, "tables", 1, "dependencies"), "tables", 1, "final")

    with pytest.raises(SettingsError, match=r"\$\.tables\[1\]: found role driver, 0 dependencies"):
        read_configuration(json.dumps(file), {"KAFKA_SECRET_ARN": _SECRET})

    staged = _change(file, "tables", 1, "role", to="staging")
    plan = read_configuration(json.dumps(staged), {"KAFKA_SECRET_ARN": _SECRET}).plan
    assert [each.role for each in plan.tables] == [Role.STAGING] * 2


# What the published format says of a file, and the reader too.
_FAULTS: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("tables",), None, "$.tables: missing, expected a list of tables"),
    (("tables",), [], "$.tables: found [], expected a list of tables, at least one"),
    (("tables",), "x", '$.tables: found "x", expected a list of tables'),
    (("tabels",), [], "$.tabels: found a name that is not known, expected one of registry, "),
    (("kafka", "security"), "sasl", '$.kafka.security: found "sasl", expected iam, scram, tls'),
    (("kafka", "bootstrap_servers"), "b", '$.kafka.bootstrap_servers: found "b", expected brokers'),
    (("kafka", "bootstrap_servers"), None, "$.kafka.bootstrap_servers: missing, expected brokers"),
    (("starting",), "soon", '$.starting: found "soon", expected earliest, latest, a time'),
    (("starting",), {"t": {"0": -3}}, "$.starting: found {"),
    (("starting",), {"t": {"zero": 3}}, "$.starting: found {"),
    (("max_offsets_per_trigger",), 0, "$.max_offsets_per_trigger: found 0, expected the largest"),
    (("max_offsets_per_partition",), True, "$.max_offsets_per_partition: found true, expected"),
    (("tables", 0, "key"), None, "$.tables[0].key: missing, expected the name of a column, or"),
    (("tables", 0, "key"), [], "$.tables[0].key: found [], expected the name of a column, or"),
    (("tables", 0, "name"), None, "$.tables[0].name: missing, expected a name of a-z, 0-9 and _"),
    (("tables", 0, "name"), "A-1", '$.tables[0].name: found "A-1", expected a name of a-z, 0-9'),
    (("tables", 0, "topics"), None, "$.tables[0].topics: missing, expected topics, each in one"),
    (("tables", 0, "topics"), ["a b"], '$.tables[0].topics[0]: found "a b", expected the name of'),
    (("tables", 0, "topic_name"), "a", "$.tables[0]: found topics and topic_name, expected one of"),
    (("tables", 0, "columns"), ["A", "A"], '$.tables[0].columns: found ["A", "A"], expected the'),
    (("tables", 0, "lower_case"), "yes", '$.tables[0].lower_case: found "yes", expected true if'),
    (("tables", 0, "sinks"), ["s3"], '$.tables[0].sinks[0]: found "s3", expected a sink'),
    (("tables", 2, "role"), "main", '$.tables[2].role: found "main", expected staging or driver'),
    (("tables", 2, "dependencies", 0, "key"), {}, "$.tables[2].dependencies[0].key: found {}"),
    (("tables", 2, "dependencies", 0, "on"), {}, "$.tables[2].dependencies[0].on: found a name"),
    (
        ("tables", 2, "dependencies", 1, "optional"),
        1,
        "$.tables[2].dependencies[1].optional: found 1",
    ),
    (("schema_registry_url",), "http://x", "$: found registry and schema_registry_url, expected"),
]


@pytest.mark.parametrize(("path", "value", "expected"), _FAULTS)
def test_a_fault_of_the_format_is_named_with_its_place(
    path: tuple[str | int, ...], value: Any, expected: str
) -> None:
    file = _change(_FILE, *path, to=value)
    (problem,) = _problems(file)

    assert problem.startswith(expected)
    assert list(find_faults(file, FORMAT)) == [problem]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("registry",), "glue:/x", "$.registry: "),
        (("kafka", "secret_arn"), None, "$.kafka: KAFKA_SECRET_ARN (--secret-arn) is missing"),
        (("starting",), "2026-13-01T00:00:00Z", '$.starting: found "2026-13-01T00:00:00Z"'),
        (("starting",), '{"t": {"0": -7}}', "$.starting.t.0: found -7, expected an offset"),
        (("starting",), "{", "$.starting: found text that is no JSON"),
        (("tables", 1, "topic_pattern"), "(", "$.tables[1]: topic_pattern is '(', expected a reg"),
        (("tables", 1, "key_name"), None, "$.tables[1]: PENSTOCK_KEY (--key) has several fields"),
        (("tables", 2, "order"), "at", "$.tables[2]: --tombstone delete finds a row by"),
        (("tables", 2, "final"), None, "$.tables[2]: found role driver, 2 dependencies and no"),
    ],
)
def test_a_contradiction_is_named_with_its_place(
    path: tuple[str | int, ...], value: Any, expected: str
) -> None:
    (problem,) = _problems(_change(_FILE, *path, to=value))

    assert problem.startswith(expected)


def test_every_problem_is_in_one_error() -> None:
    file = _FILE
    for path, value in (
        (("tables", 0, "key"), None),
        (("tables", 1, "key_name"), None),
        (("tables", 2, "final"), None),
        (("starting",), "soon"),
        (("kafka", "secret_arn"), None),
        (("registry",), "glue:/x"),
    ):
        file = _change(file, *path, to=value)

    assert [problem.split(":")[0] for problem in _problems(file)] == [
        "$.starting", "$.tables[0].key", "$.tables[1]", "$.tables[2]", "$.registry", "$.kafka",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tables": 1, "tables": 2}'])
def test_text_that_is_no_object(text: str) -> None:
    with pytest.raises(SettingsError, match=r"\$: found .* expected an object with tables"):
        read_configuration(text, {})


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no\.json cannot be read"):
        load_configuration(str(tmp_path / "no.json"), {})


@pytest.mark.parametrize("where", ["", "s3://bucket", "s3:///key"])
def test_a_place_that_is_none_is_a_wrong_setting(where: str) -> None:
    with pytest.raises(SettingsError, match=f"^found .*{where}.*, expected "):
        load_configuration(where, {})


def test_the_tables_are_read_without_the_secrets_of_the_brokers(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(_SEED))

    assert (
        load_plan(str(file))
        == read_configuration(json.dumps(_SEED), {"KAFKA_SECRET_ARN": _SECRET}).plan
    )
    file.write_text(json.dumps(_SEED | {"tables": []}))
    with pytest.raises(SettingsError, match=r"\$\.tables"):
        load_plan(str(file))


def test_the_published_format_is_the_readers() -> None:
    published = Path(__file__).parents[4] / "docs/staging.schema.json"

    assert json.loads(published.read_text()) == FORMAT
