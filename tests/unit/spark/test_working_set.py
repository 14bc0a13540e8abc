"""A batch is decoded with the versions that were used last; records of earlier ones are found."""

from __future__ import annotations

from collections.abc import Iterable
from unittest.mock import Mock
from uuid import UUID

import pytest

from penstock.errors import Failure, Reason, SchemaNotFoundError
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
from penstock.spark.decoding import admission
from penstock.spark.query import versions
from penstock.spark.query.versions import BatchVersions, VersionLookup
from penstock.spark.state.schema_ledger import Lookups
from penstock.tables import BatchId


def _version(number: int, name: str = "sensor", **fields: object) -> SchemaVersion:
    key = SchemaKey.parse(str(UUID(int=number)))
    made = [{"name": field, "type": type_} for field, type_ in fields.items()]
    schema = {"type": "record", "name": name, "fields": made}
    return SchemaVersion(key, name, number, VersionStatus.AVAILABLE, schema, None)


class _Registries:
    """Registries that have some versions, and what they were asked for."""

    def __init__(self, *found: SchemaVersion) -> None:
        self._found = {each.key: each for each in found}
        self.asked: list[SchemaKey] = []

    def find(self, key: SchemaKey) -> SchemaVersion:
        self.asked.append(key)
        if key not in self._found:
            raise SchemaNotFoundError("no such version")
        return self._found[key]


@pytest.fixture
def run(monkeypatch):
    """Run batches whose records have these versions, and return what each was split by."""
    monkeypatch.setattr(versions, "WORKING_SET", 3)
    monkeypatch.setattr(admission, "_try_in_java", lambda *_: None)
    ledger = Lookups()

    def run(*batches: Iterable[SchemaVersion], names=None, registries=None) -> list[BatchVersions]:
        taken = []
        for number, records in enumerate(batches):
            found = registries or _Registries(*records)
            lookup = VersionLookup(Mock(), found, ledger, names)
            batch = lookup.open(BatchId("q", number))
            known = {each.key for each in batch.known}
            for earlier in lookup.earlier(batch):
                batch.lookups.append(earlier)
                known |= {each.key for each in earlier.versions}
            if unknown := [each.key for each in records if each.key not in known]:
                batch.lookups.append(lookup.look_up(batch, unknown))
            taken.append(batch)
        return taken

    return run


def _numbers(found: Iterable[SchemaVersion]) -> list[int]:
    return [each.number for each in found]


_V = [_version(number) for number in range(9)]


def test_a_batch_begins_with_the_versions_that_were_looked_up_last(run):
    *_, last = run([_V[1], _V[2]], [_V[3]], [_V[4]], [_V[5]], [])

    assert _numbers(last.known) == [3, 4, 5]
    assert _numbers(last.dormant) == [1, 2]


def test_a_version_that_is_used_again_is_found_without_a_registry_and_stays(run):
    first = _Registries(*_V)
    run([_V[1]], [_V[2]], [_V[3]], [_V[4]], registries=first)
    assert len(first.asked) == 4

    *_, used, after = run([_V[1]], [_V[2]], [_V[3]], [_V[4]], [_V[1], _V[4]], [], registries=first)

    assert len(first.asked) == 4
    assert _numbers(used.known) == [2, 3, 4]
    assert _numbers(used.lookups[0].versions) == [1]
    assert (len(used.all()), used.count_new()) == (4, 0)
    assert _numbers(after.known) == [3, 4, 1]
    assert _numbers(after.dormant) == [2]


def test_a_batch_that_comes_again_is_split_as_before(run):
    batches = [[_V[1], _V[2]], [_V[3], _V[4]], [_V[1], _V[5]]]

    first, again = run(*batches), run(*batches)

    assert again == first
    assert _numbers(first[2].known) == [2, 3, 4]
    assert _numbers(first[2].lookups[0].versions) == [1, 5]
    assert [each.count_new() for each in first] == [2, 2, 1]


def test_each_table_has_a_set_of_its_own(run):
    shop = [_version(20 + number, "shop") for number in range(4)]

    *_, last = run([_V[1], *shop], [_V[2], _V[3], _V[4]], [], names=["sensor", "shop"])

    assert _numbers(last.known) == [21, 22, 23, 2, 3, 4]
    assert _numbers(last.dormant) == [1, 20]


def test_a_version_that_contradicts_one_outside_the_set_is_refused(run):
    first, odd = _version(1, f="int"), _version(7, f="string")

    *_, last = run([first], [_V[2]], [_V[3]], [_V[4]], [odd])
    assert last.lookups[0].refused[odd.key].reason is Reason.SCHEMA_CONFLICT
    assert last.lookups[0].versions == ()


def test_versions_that_only_an_earlier_one_lets_fit_together_keep_it(run):
    union, number, text = (
        _version(1, f=["int", "string"]),
        _version(2, f="int"),
        _version(3, f="string"),
    )

    *_, last = run([union], [number], [text], [_V[4]], [])

    assert _numbers(last.known) == [1, 2, 3, 4]
    assert last.dormant == ()


def test_a_version_that_is_used_again_brings_the_one_that_lets_it_fit(run):
    union, number, text = (
        _version(1, f=["int", "string"]),
        _version(2, f="int"),
        _version(3, f="string"),
    )

    *_, used, last = run([union], [text], [_V[4]], [_V[5]], [number], [text])

    assert _numbers(used.known) == [3, 4, 5]
    assert _numbers(used.lookups[0].versions) == [1, 2]
    assert _numbers(last.known) == [5, 1, 2]
    assert _numbers(last.lookups[0].versions) == [3]


def test_a_flood_of_unknown_ids_gives_up_no_version_outside_the_set(run, monkeypatch):
    monkeypatch.setattr(versions, "_MAX_REFUSED", 2)
    registries = _Registries(*_V[:5])
    unknown = [_version(number) for number in range(50, 60)]

    *_, last = run([_V[1]], [_V[2]], [_V[3]], [_V[4]], [_V[0], *unknown], registries=registries)

    (lookup,) = last.lookups
    assert isinstance(lookup.others, Failure)
    assert len(lookup.refused) == 2
    assert _numbers(lookup.versions) == [1, 0]
