"""Test the behaviour of every registry with Apicurio, by Confluent's API and by its own."""

from __future__ import annotations

import pytest

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
