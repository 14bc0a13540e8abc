"""Whatever versions a registry holds, each has a decoder beside the others, or is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SchemaError
from penstock.schemas import Schema, compile_event_decoder, load_schema, merge_schemas
from penstock.spark.columns import to_spark
from penstock.spark.decoding.admission import admit_versions
from penstock.spark.decoding.plans import MergedType, write_plan
from penstock.tables import read_event
from tests.spark.records import make_version
from tests.unit.schemas.strategies import versions


def _load(schemas: Sequence[Any]) -> Iterator[Schema]:
    for schema in schemas:
        try:
            yield load_schema(json.dumps(schema))
        except SchemaError:
            continue


@given(versions(), st.booleans())
def test_versions_have_a_decoder_or_are_refused(schemas: Any, keep_columns: bool) -> None:
    found = [make_version(at, schema) for at, schema in enumerate(_load(schemas))]
    for each in found:
        compile_event_decoder(each.schema)

    admitted, refused = admit_versions(found, keep_columns=keep_columns)

    assert {each.key for each in found} == {each.key for each in admitted} | refused.keys()
    if admitted:
        merged = merge_schemas(each.schema for each in admitted)
        root = MergedType.of(merged)
        to_spark(read_event(merged)).json()
        assert all(write_plan(each.schema, root) for each in admitted)
