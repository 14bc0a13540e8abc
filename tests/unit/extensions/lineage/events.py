"""Events of OpenLineage against its published schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

_SCHEMAS = [
    json.loads(path.read_text()) for path in Path(__file__).with_name("openlineage").glob("*.json")
]
_KNOWN: Any = Registry().with_resources(
    (each["$id"], Resource.from_contents(each)) for each in _SCHEMAS
)


def check_event(event: Any) -> None:
    """Check an event and its facets by the schemas that they name; each must be one we have."""
    _validate(event, event["schemaURL"])
    for dataset in (*event["inputs"], *event["outputs"]):
        for facet in dataset["facets"].values():
            _validate(facet, facet["_schemaURL"])


def _validate(value: Any, url: str) -> None:
    assert url.partition("#")[0] in {each["$id"] for each in _SCHEMAS}
    checker = Draft202012Validator.FORMAT_CHECKER
    Draft202012Validator({"$ref": url}, registry=_KNOWN, format_checker=checker).validate(value)
