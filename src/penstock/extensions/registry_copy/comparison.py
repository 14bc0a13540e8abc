"""Compare how two registries read a version: its canonical form, and sample records."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from penstock.errors import PenstockError, RegistryError, SchemaError
from penstock.framing import SchemaKey, encode_frame
from penstock.registry import Registries, SchemaRegistry, SchemaVersion
from penstock.schemas import (
    Schema,
    canonical_form,
    compile_encoder,
    compile_fitter,
    compile_sampler,
    decode,
    load_schema,
)

_SAMPLES = 3
_HOLDER = "PenstockSample_"


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many sample records are decoded alike, and why there are none or they differ."""

    samples: int
    note: str = ""
    problem: str = ""


def compare_readings(
    first: tuple[SchemaRegistry, SchemaKey], *others: tuple[SchemaRegistry, SchemaKey]
) -> Comparison:
    """Decode sample records of a version by the first registry and by others, each by its own key.

    A version that the first registry refuses, or cannot read, has nothing to compare.

    Raises:
        RegistryError: a registry denies a call, does not answer, or not as expected.
    """
    version = _find_version(*first)
    if isinstance(version, str):
        return Comparison(0, note=f"{first[0].source} refuses it: {version}")
    try:
        payloads = make_payloads(version.schema)
        expected = _read_payloads(first, payloads)
    except PenstockError as error:
        return Comparison(0, note=f"no sample record could be made: {error}")
    for registry, key in others:
        found = _find_version(registry, key)
        if isinstance(found, str):
            return Comparison(0, problem=f"{registry.source} does not read {key}: {found}")
        if canonical_form(found.schema) != canonical_form(version.schema):
            return Comparison(0, problem=f"{registry.source} has another definition under {key}")
        if _read_payloads((registry, key), payloads) != expected:
            return Comparison(0, problem=f"{registry.source} reads other values with {key}")
    return Comparison(len(payloads))


def make_payloads(schema: Schema) -> list[bytes]:
    """Return the Avro bytes of sample records; the same ones each time.

    Raises:
        SchemaError, EventError: no sample conforms to the schema.
    """
    # A record of one field has the bytes of the field, and takes schemas that are no record.
    fields = [{"name": "value", "type": schema}]
    holder = load_schema(json.dumps({"type": "record", "name": _HOLDER, "fields": fields}))
    sample, fit = compile_sampler(schema), compile_fitter(holder)
    write: Callable[[Any], bytes] = compile_encoder(holder)
    random = Random(0)  # noqa: S311
    return [write(fit({"value": sample(random)}, {})) for _ in range(_SAMPLES)]


def _find_version(registry: SchemaRegistry, key: SchemaKey) -> SchemaVersion | str:
    """Return a version, or why the registry refuses it."""
    try:
        return registry.get(key)
    except (RegistryError, SchemaError) as error:
        if error.retriable:
            raise
        return str(error)


def _read_payloads(
    reader: tuple[SchemaRegistry, SchemaKey], payloads: Sequence[bytes]
) -> list[Any]:
    """Frame payloads with a key, and read them as consumers of a registry do."""
    registry, key = reader
    registries, values = Registries([registry]), []
    for payload in payloads:
        frame = registries.decode(encode_frame(key, payload))
        assert frame is not None  # noqa: S101 - only a tombstone has none
        values.append(decode(frame.payload, registries.find(frame.key).schema))
    return values
