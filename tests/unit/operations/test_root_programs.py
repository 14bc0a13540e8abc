"""The readers that outputs of Terraform's roots name, and files that hold none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import OperationError
from penstock.operations import Account, Grant, Producer, Reader, ReaderTable, load_programs
from penstock.records import DeletedWhen, KeyFormat, Mode, RowShape, Tombstone
from tests.fixtures.outputs import put_out
from tests.fixtures.root_outputs import make_consumer, make_producer, write_outputs

__all__ = ["put_out"]

_NO_OUTPUTS = "holds no outputs, expected what `terraform output -json` prints"


def test_budgets_are_those_of_producers(tmp_path: Path) -> None:
    found = load_programs([write_outputs(tmp_path / "p.json", make_producer())])

    assert found.budgets == {"pump": 7}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", f"{_NO_OUTPUTS}: a value in it has another type or form"),
        ('{"consumer": 1}', f"{_NO_OUTPUTS}: a value in it has another type or form"),
        ('{"consumer": {}}', f"{_NO_OUTPUTS}: found no `value`"),
        ('{"platform": {"value": {}}}', "has no outputs of a root: found no `consumer`"),
        ('{"contracts": {"value": {"a": {}}}}', "has no outputs of a root: found no `topics`"),
        (
            '{"contracts": {"value": {"a": 7}}}',
            "has no outputs of a root: a value in it has another type or form",
        ),
    ],
)
def test_a_file_that_holds_no_outputs_is_named(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "o.json"
    path.write_text(text)

    with pytest.raises(OperationError) as caught:
        load_programs([path])
    assert str(caught.value) == f"{path} {problem}"


def test_the_folder_of_a_root_stands_for_its_outputs(put_out: Callable[..., Path]) -> None:
    root = put_out(**make_producer())

    assert load_programs([root]).budgets == {"pump": 7}


def test_outputs_that_are_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"o\.json cannot be read: No such file or directory"):
        load_programs([tmp_path / "o.json"])


def test_producers_access_lists_and_accounts_are_those_of_the_roots(tmp_path: Path) -> None:
    consumer, producer = make_consumer(), make_producer()
    consumer["platform"] |= {"account_id": "2", "region": "eu-central-1"}
    consumer["profiles"] = {"analytics": {"KAFKA_BOOTSTRAP_SERVERS": "exposed:1"}}
    producer["profiles"]["pumps"]["KAFKA_BOOTSTRAP_SERVERS"] = "b-1:9098,b-2:9098"
    program = {"usernames": ["u-1", "u-2"], "topics": ["sensor"], "writes": ["plant"]}
    producer["contracts"]["analytics"]["programs"] = {"jobs": program}

    found = load_programs(
        [
            write_outputs(tmp_path / "c.json", consumer),
            write_outputs(tmp_path / "p.json", producer),
        ]
    )

    assert found.producers == (
        Producer("function pumps", "plant", "pump", 7),
        Producer("function sensors", "sensor", "sensor"),
    )
    assert found.grants == (
        Grant("analytics", "jobs", ("u-1", "u-2"), frozenset({"sensor"}), frozenset({"plant"})),
    )
    assert found.accounts == {"analytics": Account("2", "eu-central-1")}
    assert found.brokers == "b-1:9098,b-2:9098"


def _read_staged(consumer: dict[str, Any], folder: Path) -> Reader:
    found = load_programs([write_outputs(folder / "c.json", consumer)]).readers
    return next(each for each in found if each.program == "job staged")


def test_a_topic_is_of_the_table_that_names_it_or_of_the_first_pattern(tmp_path: Path) -> None:
    consumer = make_consumer(jobs=("staged",))
    consumer["platform"]["brokers"]["topics"] = ["a-1", "a-2", "b-1"]
    consumer["platform"]["jobs"]["named"]["staged"]["plan"] = [
        {"name": name, "topics": topics, "topic_pattern": pattern, "columns": [],
         "lower_case": False, "key": "id"}
        for name, topics, pattern in [
            ("one", [], "a-.*"), ("two", ["a-1"], ".*-1"), ("all", [], ".*")
        ]
    ]  # fmt: skip

    job = _read_staged(consumer, tmp_path)

    assert {each.name: sorted(each.topics or ()) for each in job.tables} == {
        "p-one": ["a-2"], "p-two": ["a-1", "b-1"], "p-all": []
    }  # fmt: skip
    assert job.topics == {"a-1", "a-2", "b-1"}


_ABSENT = ("key_name", "sort", "sort_name", "event_time", "order", "tombstone", "key_format",
           "deleted_when")  # fmt: skip


@pytest.mark.parametrize(
    ("told", "shape"),
    [
        ({"key": "id"}, RowShape(("id",), sort_name=None, event_time=None, mode=Mode.UPSERT)),
        (
            {"key": "id", **dict.fromkeys(_ABSENT)},
            RowShape(("id",), sort_name=None, event_time=None, mode=Mode.UPSERT),
        ),
        (
            {"key": ["shop", "id"], "key_name": "pk", "sort": "line", "event_time": "at",
             "tombstone": "delete", "key_format": "avro",
             "deleted_when": {"column": "op", "values": ["D"]}},
            RowShape(("shop", "id"), "pk", ("line",), "line", "at", (), Mode.UPSERT,
                     Tombstone.DELETE, KeyFormat.AVRO, DeletedWhen("op", ("D",))),
        ),
    ],
)  # fmt: skip
def test_a_staged_table_has_the_shape_of_its_plan(
    told: dict[str, Any], shape: RowShape, tmp_path: Path
) -> None:
    consumer = make_consumer(jobs=("staged",))
    consumer["platform"]["jobs"]["named"]["staged"]["plan"] = [
        {"name": "one", "topics": ["plant"], "columns": [], "lower_case": False, **told}
    ]

    job = _read_staged(consumer, tmp_path)

    assert [each.shape for each in job.tables] == [shape]


def test_outputs_of_an_older_root_are_refused_by_what_they_lack(tmp_path: Path) -> None:
    consumer = make_consumer(jobs=("staged",))
    del consumer["platform"]["jobs"]["named"]["staged"]["plan"]

    with pytest.raises(OperationError, match=r"has no outputs of a root: found no `plan`$"):
        load_programs([write_outputs(tmp_path / "c.json", consumer)])


def test_a_shape_that_cannot_be_used_is_explained(tmp_path: Path) -> None:
    consumer = make_consumer(jobs=())
    consumer["functions"]["odd"] = {"table": "p-odd", "shape": {"mode": "never"}}

    with pytest.raises(OperationError, match=r"has no outputs of a root: --mode is 'never', expec"):
        load_programs([write_outputs(tmp_path / "c.json", consumer)])


@pytest.mark.parametrize(
    ("told", "shape"),
    [
        ({}, None),
        ({"shape": {}}, RowShape()),
        (
            {"shape": {"key": "id", "mode": "upsert", "sort-name": "none"}},
            RowShape(("id",), sort_name=None, mode=Mode.UPSERT),
        ),
    ],
)
def test_a_table_that_no_job_writes_has_the_shape_of_its_function(
    told: dict[str, object], shape: RowShape | None, tmp_path: Path
) -> None:
    consumer = make_consumer(jobs=("consume",))
    odd = {"name": "g", "table": "p-odd", "mappings": {"sensor": "m"}, **told}
    consumer["functions"]["consumer-odd"] = odd

    found = load_programs([write_outputs(tmp_path / "c.json", consumer)])

    (reader,) = (each for each in found.readers if each.program == "function consumer-odd")
    assert reader.tables == (ReaderTable("dynamodb", "p-odd", shape),)
