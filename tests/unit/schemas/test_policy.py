"""What is registered for a story of events, and what is refused before it is."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any
from unittest.mock import patch

import pytest

from penstock.errors import SchemaConflictError, VersionBudgetError
from penstock.schemas import (
    Policy,
    Schema,
    TypeRules,
    VersionSet,
    canonical_form,
    check_compatibility,
    decode_event,
    encode,
    infer_schema,
    load_schema,
    merge_schemas,
    to_record,
)
from tests.stubs.readings import BASE_FIELDS


class _Story:
    """A registry as short as can be: what was chosen and is new becomes a version."""

    def __init__(self, policy: Policy, budget: int = 100) -> None:
        self._policy = policy
        self._budget = budget
        self.versions: list[Schema] = []

    def send(self, event: dict[str, Any]) -> int:
        """Give the number of the version that the event is encoded with."""
        known = merge_schemas(self.versions) if self.versions else None
        rules = TypeRules(keeps_authored=self._policy is not Policy.EXACT)
        inferred = infer_schema(event, "reading", known, BASE_FIELDS, rules)
        chosen = VersionSet(self.versions).choose(inferred, self._policy, self._budget)
        texts = [canonical_form(version) for version in self.versions]
        if canonical_form(chosen) not in texts:
            self.versions.append(chosen)
            texts.append(canonical_form(chosen))
        base = {"deviceId": "d", "timestamp": 1}
        payload = encode(to_record(event, chosen, base), chosen)
        assert decode_event(payload, chosen) == base | event
        return texts.index(canonical_form(chosen)) + 1


def test_exact_makes_the_versions_of_the_readme() -> None:
    story = _Story(Policy.EXACT)
    assert [story.send({}), story.send({"temperature": 30}), story.send({})] == [1, 2, 1]


def test_exact_takes_whole_numbers_as_doubles_once_it_knows_doubles() -> None:
    story = _Story(Policy.EXACT)
    assert [story.send({"t": t}) for t in (30, 30.5, 30)] == [1, 2, 2]


def test_grow_makes_no_version_for_an_event_that_the_latest_covers() -> None:
    story = _Story(Policy.GROW)
    events = [{}, {"a": 1}, {}, {"b": "x"}, {"a": 2}, {"a": 1, "b": "y"}, {"a": 1.5}, {"a": 3}]
    assert [story.send(event) for event in events] == [1, 2, 2, 3, 3, 3, 4, 4]
    for older, newer in itertools.pairwise(story.versions):
        assert check_compatibility(reader=newer, writer=older) == ()


@pytest.mark.parametrize(("policy", "versions"), [(Policy.GROW, 5), (Policy.EXACT, 16)])
def test_optional_fields_make_n_versions_or_two_to_the_n(policy: Policy, versions: int) -> None:
    story = _Story(policy)
    for size in range(5):
        for names in itertools.combinations("abcd", size):
            story.send(dict.fromkeys(names, 1))
    assert len(story.versions) == versions


def test_grow_keeps_what_an_author_wrote_of_known_fields() -> None:
    story, documented = _Story(Policy.GROW), {"default": None, "doc": "told to people"}
    point = {
        "type": "record",
        "name": "Point",
        "doc": "a place",
        "fields": [{"name": "x", "type": ["null", "double"], **documented}],
    }
    story.versions.append(load_schema(json.dumps({
        "type": "record", "name": "reading", "doc": "what a sensor saw", "fields": [
            {"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"},
            {"name": "a", "type": ["null", "long"], **documented},
            {"name": "at", "type": ["null", point], **documented},
            {"name": "b", "type": ["null", "string"], **documented},
            {"name": "tags", "type": ["null", {"type": "array", "items": "string"}],
             **documented},
        ],
    })))  # fmt: skip

    events = [{"a": 1}, {"b": "x"}, {"at": {"x": 0.5}}, {"tags": ["x"]}, {}]

    assert [story.send(event) for event in events] == [1] * 5
    assert story.send({"c": True}) == 2
    assert story.versions[1]["doc"] == "what a sensor saw"


def test_exact_keeps_the_version_of_an_event_whatever_an_author_writes() -> None:
    story = _Story(Policy.EXACT)
    fields = [{"name": "deviceId", "type": "string"}, {"name": "timestamp", "type": "long"}]
    authored = {
        "type": "record",
        "name": "com.acme.reading",
        "fields": [*fields, {"name": "a", "type": ["null", "long"], "default": None, "doc": "x"}],
    }
    story.versions.append(load_schema(json.dumps(authored)))
    number = story.send({"a": 1})

    story.versions.append(load_schema(json.dumps(authored).replace('"x"', '"y"')))

    assert [story.send({"a": 1}) for _ in range(3)] == [number] * 3


def test_grow_does_not_depend_on_the_order_of_events() -> None:
    one, other = _Story(Policy.GROW), _Story(Policy.GROW)
    one.send({"a": {"x": 1}})
    one.send({"a": {"w": 1}, "b": 1})
    other.send({"b": 1, "a": {"w": 1}})
    other.send({"a": {"x": 1}})
    assert canonical_form(one.versions[-1]) == canonical_form(other.versions[-1])


@pytest.mark.parametrize(
    ("policy", "advice"),
    [
        (
            Policy.EXACT,
            "under the policy exact each combination of fields is a version; choose the policy "
            "grow, under which each new field is one, and a version budget of 4",
        ),
        (
            Policy.GROW,
            "the last change is + c: long (optional); if data became names of fields, make it "
            "values of fields, else choose a version budget of 4",
        ),
    ],
)
def test_the_budget_stops_a_new_version_and_never_an_existing_one(
    policy: Policy, advice: str
) -> None:
    story = _Story(policy, budget=2)
    assert [story.send({"a": 1}), story.send({"a": 1, "b": 1})] == [1, 2]
    with pytest.raises(VersionBudgetError) as caught:
        story.send({"c": 1})
    assert str(caught.value) == (
        "the event needs a new version of its schema, found 2 versions and expected at most 2: "
        f"{advice}"
    )
    assert story.send({"a": 5, "b": 6}) == 2
    assert len(story.versions) == 2


def _name_fields(first: int, count: int) -> dict[str, int]:
    return {f"field-of-{number:05}": 1 for number in range(first, first + count)}


def test_one_event_does_not_take_the_characters_that_others_need_to_grow() -> None:
    """Glue takes 170,000 characters of a version, and no version is ever deleted."""
    story = _Story(Policy.GROW)
    assert story.send(_name_fields(0, 1_000)) == 1  # the first event may be a wide one

    with pytest.raises(VersionBudgetError) as caught:
        story.send(_name_fields(1_000, 600))
    assert re.fullmatch(
        r"the event needs a version with 62,400 more characters, expected at most 42,500: the last "
        r"change is \+ field-of-01000: long \(optional\), .*; if data became names of fields, make "
        r"it values of fields, else send the new fields in several events",
        str(caught.value),
    )
    assert [story.send(_name_fields(1_000, 300)), story.send(_name_fields(1_300, 300))] == [2, 3]


@pytest.mark.parametrize("policy", [Policy.EXACT, Policy.GROW])
def test_a_contradiction_is_refused_whatever_was_known_when_it_was_inferred(policy: Policy) -> None:
    number = infer_schema({"t": 1}, "reading", base=BASE_FIELDS)
    text = infer_schema({"t": "warm"}, "reading", base=BASE_FIELDS)
    with pytest.raises(SchemaConflictError) as caught:
        VersionSet([number]).choose(text, policy, 100)
    assert str(caught.value) == (
        "t: long (optional) in one version and string (optional) in another, "
        "expected types that one can hold without changing a value"
    )


def test_an_existing_version_is_returned_as_registered() -> None:
    inferred = infer_schema({"t": 1}, "reading", base=BASE_FIELDS)
    registered = dict(reversed(inferred.items())) if isinstance(inferred, dict) else inferred
    assert VersionSet([registered]).choose(inferred, Policy.EXACT, 1) is registered
    assert VersionSet([registered]).choose(inferred, Policy.GROW, 1) is registered


@pytest.mark.parametrize("policy", [Policy.EXACT, Policy.GROW])
def test_a_set_of_versions_chooses_as_a_merge_of_all_of_them_would(
    policy: Policy, seeded: random.Random
) -> None:
    for _ in range(30):
        story = _Story(policy)
        for _ in range(6):
            kinds = {"a": 1, "b": 1.5, "c": "x", "o": {"x": 1, "y": [seeded.choice((1, 0.5))]}}
            event = {name: kinds[name] for name in kinds if seeded.random() < 0.5}
            inferred = infer_schema(
                event,
                "reading",
                merge_schemas(story.versions) if story.versions else None,
                BASE_FIELDS,
            )
            chosen = VersionSet(story.versions).choose(inferred, policy, 100)
            whole = merge_schemas([*story.versions, inferred])
            wanted = whole if policy is Policy.GROW else inferred
            assert canonical_form(chosen) == canonical_form(wanted)
            story.send(event)


@pytest.mark.parametrize("policy", [Policy.EXACT, Policy.GROW])
def test_a_set_built_on_the_set_before_is_the_set_of_all(policy: Policy) -> None:
    events = [{"t": 1}, {"u": "a"}, {"t": 0.5}, {"t": 1, "o": {"x": 1}}]
    schemas = [infer_schema(event, "sensor") for event in events]
    for split in range(len(schemas) + 1):
        grown = VersionSet(schemas[split:], VersionSet(schemas[:split]))

        assert grown.merged == VersionSet(schemas).merged
        assert len(grown) == len(schemas)
        for schema in schemas:
            assert grown.choose(schema, policy, 100) == VersionSet(schemas).choose(
                schema, policy, 100
            )


def test_the_cache_of_covered_events_is_bounded() -> None:
    whole = infer_schema(dict.fromkeys("abcde", 1), "reading", base=BASE_FIELDS)
    versions = VersionSet([whole])
    with patch("penstock.schemas.policy._MOST_FORMS", 3):
        for _ in range(2):
            for name in "abcde":
                part = infer_schema({name: 1}, "reading", base=BASE_FIELDS)
                assert versions.choose(part, Policy.GROW, 1) is whole
                assert len(versions._covering) <= 3
