"""The thirty changes: their names, their schemas, and the rows that a correct reader finds."""

from __future__ import annotations

import fastavro
import pytest

from proof.change import ID, Change, Damage, Kind
from proof.changes import CHANGES

_EACH = pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)


def test_there_are_thirty_with_names_of_their_own() -> None:
    assert len(CHANGES) == 30
    assert len({change.name for change in CHANGES}) == 30
    assert len({change.title for change in CHANGES}) == 30


@_EACH
def test_each_version_is_a_schema_of_avro(change: Change) -> None:
    for schema in change.versions:
        assert fastavro.parse_schema(dict(schema))


@_EACH
def test_each_version_has_records_that_fastavro_reads_as_they_were_sent(change: Change) -> None:
    expected = change.expected()
    good = [record for record in change.records if record.kind is Kind.GOOD]

    assert {record.version for record in good} == set(range(len(change.versions)))
    assert [expected[record.row[ID]] for record in good] == [record.row for record in good]


@_EACH
def test_each_begins_and_ends_with_its_first_version(change: Change) -> None:
    for round_ in (change.rounds[0], change.rounds[-1]):
        assert {(record.version, record.kind) for record in round_.records} == {(0, Kind.GOOD)}
    assert len(change.rounds) > 2


@_EACH
def test_ids_are_counted_in_the_order_of_the_topic(change: Change) -> None:
    ids = [record.row[ID] for record in change.records]

    assert ids == [f"{at:04}" for at in range(1, len(ids) + 1)]


def test_bad_records_are_bad_in_each_way() -> None:
    damages = {record.damage for change in CHANGES for record in change.records}

    assert damages - {None} == set(Damage)
    assert [each.name for each in CHANGES if any(r.registry_down for r in each.rounds)] == [
        "registry-down"
    ]
