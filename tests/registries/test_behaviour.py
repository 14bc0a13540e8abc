"""Test the behaviour of every registry with Apicurio, by Confluent's API and by its own."""

from __future__ import annotations

import json

import pytest

from penstock.errors import IncompatibleSchemaError
from penstock.registry import load_registry
from tests.fixtures.apicurio import Apicurio
from tests.stubs.registries import Reading
from tests.unit.registry.test_behaviour import (
    test_a_name_that_no_registry_accepts_is_refused,
    test_a_schema_that_no_reader_can_use_is_not_sent,
    test_a_version_has_all_its_attributes,
    test_an_incompatible_version_is_refused_and_the_next_good_one_is_not,
    test_an_unknown_id_is_not_found,
    test_definitions_with_one_canonical_form_are_one_version,
    test_the_same_definition_is_the_same_version,
    test_versions_are_listed_oldest_first,
)

pytestmark = pytest.mark.java

__all__ = [
    "test_a_name_that_no_registry_accepts_is_refused",
    "test_a_schema_that_no_reader_can_use_is_not_sent",
    "test_a_version_has_all_its_attributes",
    "test_an_incompatible_version_is_refused_and_the_next_good_one_is_not",
    "test_an_unknown_id_is_not_found",
    "test_definitions_with_one_canonical_form_are_one_version",
    "test_the_same_definition_is_the_same_version",
    "test_versions_are_listed_oldest_first",
]


def test_a_mode_that_is_set_is_that_of_the_next_version(url: str, reading: Reading) -> None:
    load_registry(f"{url}?compatibility=FULL").register("readings", reading(a="long"))
    unset, looser = load_registry(url), load_registry(f"{url}?compatibility=BACKWARD")

    with pytest.raises(IncompatibleSchemaError, match="rule FULL refuses a new version"):
        unset.register("readings", reading(a="double"))

    assert looser.register("readings", reading(a="double")).version.number == 2


def test_versions_with_labels_that_people_chose_are_read_and_followed(
    apicurio: Apicurio, reading: Reading
) -> None:
    names = {"X-Registry-ArtifactId": "readings-value", "X-Registry-ArtifactType": "AVRO"}
    for label, schema in (("1.0.0", reading()), ("20261128", reading(temperature="long"))):
        apicurio.call(
            "POST",
            "/apis/registry/v2/groups/default/artifacts?ifExists=UPDATE",
            json.dumps(schema),
            names | {"X-Registry-Version": label},
        )
    registry = load_registry(apicurio.own_url)

    new = registry.register("readings", reading(temperature="long", humidity="long")).version

    versions = registry.versions("readings")
    assert [each.number for each in versions] == [1, 2, 3]
    assert versions[-1] == new
    assert tuple(load_registry(apicurio.own_url).get(each.key) for each in versions) == versions


def test_a_new_schema_may_have_the_mode_none(
    apicurio: Apicurio, url: str, reading: Reading
) -> None:
    registry = load_registry(f"{url}?compatibility=NONE")

    assert registry.register("readings", reading(a="long")).version.number == 1

    mode = json.loads(apicurio.call("GET", "/apis/ccompat/v7/config/readings-value"))
    assert mode["compatibilityLevel"] == "NONE"
    assert registry.register("readings", reading(a="double")).version.number == 2
