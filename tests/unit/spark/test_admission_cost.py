"""The cost of admitting versions is linear in their number."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest

from penstock.errors import Reason
from penstock.framing import SchemaKey
from penstock.registry import SchemaVersion, VersionStatus
from penstock.schemas import Schema, merge_schemas
from penstock.spark.decoding import admission
from penstock.spark.decoding.plans import write_plan
from tests.stubs.unions import make_event, make_named, unite


def _version(number: int, type_: str = "long", name: str = "sensor") -> SchemaVersion:
    """Return a version with one field more than the one before, up to 30."""
    fields = [{"name": "a", "type": type_}] + [
        {"name": f"f{at}", "type": ["null", "long"], "default": None} for at in range(number % 30)
    ]
    schema: Schema = {"type": "record", "name": name, "fields": fields}
    key = SchemaKey.parse(str(UUID(int=number)))
    return SchemaVersion(key, name, number, VersionStatus.AVAILABLE, schema, None)


@pytest.fixture
def counts(monkeypatch):
    """The schemas that were merged, and those whose columns were looked for in a merge."""
    counted: Counter[str] = Counter()

    def merge(schemas):
        own = list(schemas)
        counted["merged"] += len(own)
        return merge_schemas(own)

    def plan(schema, root):
        counted["planned"] += 1
        return write_plan(schema, root)

    monkeypatch.setattr(admission, "merge_schemas", merge)
    monkeypatch.setattr(admission, "write_plan", plan)
    return counted


def test_versions_that_fit_together_are_merged_once(counts) -> None:
    for known, new in ((0, 50), (0, 100), (100, 50)):
        counts.clear()
        versions = [_version(number) for number in range(known + new)]

        admitted, refused = admission.admit_versions(versions[known:], versions[:known])

        assert (len(admitted), refused) == (new, {})
        assert counts == {"merged": known + new, "planned": known + new}


def test_otherwise_each_is_merged_with_the_merge_of_those_before_it(counts) -> None:
    for new in (50, 100):
        counts.clear()
        versions = [_version(number) for number in range(10 + new)]
        odd = _version(99_999, "string")

        admitted, refused = admission.admit_versions([*versions[10:], odd], versions[:10])

        assert (len(admitted), list(refused)) == (new, [odd.key])
        assert counts == {
            "merged": (10 + new + 1) + 10 + 2 * (new + 1) + (10 + new),
            "planned": 2 * new + (10 + new),
        }


def test_admitted_versions_merge_at_once_where_a_union_tells_types_apart() -> None:
    empty, x = make_named("a.R", fields=[]), {"name": "x", "type": ["null", "long"]}
    number, text = (
        make_named("b.R", fields=[{**x, "type": ["null", type_]}]) for type_ in ("long", "string")
    )
    unions = (["int", empty], ["int", text], ["int", empty, number])
    schemas = [make_event(unite(*union)) for union in unions]
    versions = [
        SchemaVersion(_version(at).key, "sensor", at, VersionStatus.AVAILABLE, schema, None)
        for at, schema in enumerate(schemas, 1)
    ]
    # By the merge of the others, none is refused.
    assert admission.Admission().admit([merge_schemas(schemas[:2])], versions[2])

    admitted, refused = admission.admit_versions(versions)

    assert (admitted, list(refused)) == (versions[:2], [versions[2].key])


def test_a_refused_version_and_one_of_another_table_leave_a_table_as_it_is(counts) -> None:
    known = [_version(1)]
    odd = _version(2, "string")
    other = _version(3, "string", "shop")

    admitted, refused = admission.admit_versions(
        [_version(4), other, odd], known, lambda version: version.name
    )

    assert admitted == [other, _version(4)]
    assert [failure.reason for failure in refused.values()] == [Reason.SCHEMA_CONFLICT]
